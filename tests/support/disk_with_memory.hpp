// A disk of a test, on threads that are out of memory: what stands in for the kernel has some.
//
// Thread safety: that of the disk behind it.
#pragma once

#include "tests/engine/failing_memory.hpp"

#include <holdfast/journal/disk.hpp>

#include <utility>

namespace holdfast::test {

class DiskWithMemory final : public journal::Disk {
public:
    using Path = std::filesystem::path;
    explicit DiskWithMemory(journal::Disk& disk) : disk_(disk) {}

    std::error_code open(Path const& name, journal::OpenMode mode,
                         std::unique_ptr<journal::File>& file) override {
        std::unique_ptr<journal::File> opened;
        {
            WithMemory const memory;
            if (auto const error = disk_.open(name, mode, opened)) return error;
        }
        // As PosixDisk's: the file may be made, and then there is no memory for it.
        file = std::make_unique<Handle>(std::move(opened));
        return {};
    }
    std::error_code rename(Path const& from, Path const& to) override {
        WithMemory const memory;
        return disk_.rename(from, to);
    }
    std::error_code remove(Path const& name) override {
        WithMemory const memory;
        return disk_.remove(name);
    }
    std::error_code link(Path const& from, Path const& to) override {
        WithMemory const memory;
        return disk_.link(from, to);
    }
    std::error_code make_folder(Path const& name) override {
        WithMemory const memory;
        return disk_.make_folder(name);
    }
    std::error_code sync_folder(Path const& name) override {
        WithMemory const memory;
        return disk_.sync_folder(name);
    }
    std::error_code list(Path const& folder, std::vector<std::string>& names) override {
        std::vector<std::string> found;
        {
            WithMemory const memory;
            if (auto const error = disk_.list(folder, found)) return error;
        }
        names = found;
        return {};
    }
    std::error_code free_bytes(Path const& folder, std::uint64_t& bytes) override {
        WithMemory const memory;
        return disk_.free_bytes(folder, bytes);
    }

private:
    using WithMemory = engine::test::WithMemory;

    class Handle final : public journal::File {
    public:
        explicit Handle(std::unique_ptr<journal::File> file) : file_(std::move(file)) {}
        std::error_code write_at(std::uint64_t offset, std::span<std::byte const> bytes) override {
            WithMemory const memory;
            return file_->write_at(offset, bytes);
        }
        std::error_code read_at(std::uint64_t offset, std::span<std::byte> bytes,
                                std::size_t& got) override {
            WithMemory const memory;
            return file_->read_at(offset, bytes, got);
        }
        std::error_code sync_data() override {
            WithMemory const memory;
            return file_->sync_data();
        }
        std::uint64_t size() const override { return file_->size(); }

    private:
        std::unique_ptr<journal::File> file_;
    };

    journal::Disk& disk_;
};

}  // namespace holdfast::test
