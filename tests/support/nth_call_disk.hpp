// NthCallDisk: any disk, of which one call fails, chosen by its number.
//
// Purpose: who loops over the numbers sees what becomes of each single call that fails, whatever
// kind of call it is. Thread safety: one thread at a time. Invariants: the call that fails does
// nothing; those before and after it do what they always do.
#pragma once

#include <holdfast/journal/disk.hpp>

#include <string_view>
#include <utility>

namespace holdfast::test {

class NthCallDisk final : public journal::Disk {
public:
    using Path = std::filesystem::path;
    /// `kind` 0: only reads are counted, and the chosen one gives nothing, without an error.
    NthCallDisk(journal::Disk& disk, long nth, std::errc kind = std::errc::io_error)
        : disk_(disk), left_(nth), kind_(kind) {}

    /// False: it was never called that often.
    [[nodiscard]] bool has_failed() const noexcept { return !failed_.empty(); }
    /// Which call it was, for the message of a test.
    [[nodiscard]] std::string const& failed_call() const noexcept { return failed_; }

    std::error_code open(Path const& path, journal::OpenMode mode,
                         std::unique_ptr<journal::File>& file) override {
        if (fails("open", path)) return std::make_error_code(kind_);
        std::unique_ptr<journal::File> real;
        std::error_code const error = disk_.open(path, mode, real);
        if (!error) file = std::make_unique<Handle>(*this, std::move(real), path);
        return error;
    }
    std::error_code rename(Path const& from, Path const& to) override {
        return fails("rename", from) ? std::make_error_code(kind_) : disk_.rename(from, to);
    }
    std::error_code remove(Path const& path) override {
        return fails("remove", path) ? std::make_error_code(kind_) : disk_.remove(path);
    }
    std::error_code link(Path const& from, Path const& to) override {
        return fails("link", from) ? std::make_error_code(kind_) : disk_.link(from, to);
    }
    std::error_code make_folder(Path const& path) override {
        return fails("make folder", path) ? std::make_error_code(kind_) : disk_.make_folder(path);
    }
    std::error_code sync_folder(Path const& path) override {
        return fails("sync folder", path) ? std::make_error_code(kind_) : disk_.sync_folder(path);
    }
    std::error_code list(Path const& folder, std::vector<std::string>& names) override {
        return fails("list", folder) ? std::make_error_code(kind_) : disk_.list(folder, names);
    }
    std::error_code free_bytes(Path const& folder, std::uint64_t& bytes) override {
        return fails("free bytes", folder) ? std::make_error_code(kind_)
                                           : disk_.free_bytes(folder, bytes);
    }

private:
    class Handle final : public journal::File {
    public:
        Handle(NthCallDisk& disk, std::unique_ptr<journal::File> file, Path path)
            : disk_(disk), file_(std::move(file)), path_(std::move(path)) {}
        std::error_code write_at(std::uint64_t offset, std::span<std::byte const> bytes) override {
            if (disk_.fails("write", path_)) return std::make_error_code(disk_.kind_);
            return file_->write_at(offset, bytes);
        }
        std::error_code read_at(std::uint64_t offset, std::span<std::byte> bytes,
                                std::size_t& got) override {
            got = 0;
            if (disk_.fails("read", path_)) return std::make_error_code(disk_.kind_);
            return file_->read_at(offset, bytes, got);
        }
        std::error_code sync_data() override {
            if (disk_.fails("sync", path_)) return std::make_error_code(disk_.kind_);
            return file_->sync_data();
        }
        std::uint64_t size() const override { return file_->size(); }

    private:
        NthCallDisk& disk_;
        std::unique_ptr<journal::File> file_;
        Path path_;
    };

    bool fails(std::string_view call, Path const& path) {
        if (kind_ == std::errc{} && call != "read") return false;
        if (left_-- != 0) return false;
        failed_ = std::string{call} + ": " + path.string();
        return true;
    }

    journal::Disk& disk_;
    long left_;
    std::errc kind_;
    std::string failed_;
};

}  // namespace holdfast::test
