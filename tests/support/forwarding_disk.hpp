// A disk, a real one if no other is named, of which a test overrides what is to be otherwise.
//
// Thread safety: that of the disk, and of what the test overrides.
#pragma once

#include <holdfast/journal/disk.hpp>

namespace holdfast::test {

class ForwardingDisk : public journal::Disk {
public:
    using Path = std::filesystem::path;
    ForwardingDisk() = default;
    explicit ForwardingDisk(journal::Disk& disk) : disk_(disk) {}
    std::error_code open(Path const& name, journal::OpenMode mode,
                         std::unique_ptr<journal::File>& file) override {
        return disk_.open(name, mode, file);
    }
    std::error_code rename(Path const& from, Path const& to) override {
        return disk_.rename(from, to);
    }
    std::error_code remove(Path const& name) override { return disk_.remove(name); }
    std::error_code link(Path const& from, Path const& to) override { return disk_.link(from, to); }
    std::error_code make_folder(Path const& name) override { return disk_.make_folder(name); }
    std::error_code sync_folder(Path const& name) override { return disk_.sync_folder(name); }
    std::error_code list(Path const& folder, std::vector<std::string>& names) override {
        return disk_.list(folder, names);
    }
    std::error_code free_bytes(Path const& folder, std::uint64_t& bytes) override {
        return disk_.free_bytes(folder, bytes);
    }

private:
    journal::PosixDisk real_;
    journal::Disk& disk_{real_};
};

/// One whose files have one name only.
class DiskWithoutLinks : public ForwardingDisk {
public:
    std::error_code link(Path const&, Path const&) override {
        return std::make_error_code(std::errc::operation_not_permitted);
    }
};

}  // namespace holdfast::test
