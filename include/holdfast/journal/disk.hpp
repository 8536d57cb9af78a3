// Disk: the few file operations the journal needs, so that tests can make them fail.
//
// Thread safety: PosixDisk may be used by any thread; a File by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace holdfast::journal {

/// Whatever is large is written in pieces of this, each with a sync of its own: the sync of a
/// commit group would wait for all that a longer piece has left to be flushed (bench/RESULTS.md).
inline constexpr std::uint64_t synced_piece_bytes = 256U << 10;

class File {
public:
    virtual ~File() = default;
    /// Writes all bytes at `offset`; goes on after a short write, stops at the first error.
    [[nodiscard]] virtual std::error_code write_at(std::uint64_t offset,
                                                   std::span<std::byte const> bytes) = 0;
    /// Reads up to bytes.size(); `got` is less only at the end of the file.
    [[nodiscard]] virtual std::error_code read_at(std::uint64_t offset, std::span<std::byte> bytes,
                                                  std::size_t& got) = 0;
    [[nodiscard]] virtual std::error_code sync_data() = 0;  // fdatasync; an error is final
    [[nodiscard]] virtual std::uint64_t size() const = 0;
};

enum class OpenMode : std::uint8_t {
    create,       // read and write, must not exist
    write,        // read and write, must exist
    read,         // read only, from wherever the kernel has it
    read_device,  // read past the page cache (O_DIRECT, else dropped cache): RELIABILITY F1
};

class Disk {
public:
    virtual ~Disk() = default;
    [[nodiscard]] virtual std::error_code open(std::filesystem::path const& path, OpenMode mode,
                                               std::unique_ptr<File>& file) = 0;
    [[nodiscard]] virtual std::error_code rename(std::filesystem::path const& from,
                                                 std::filesystem::path const& to) = 0;
    [[nodiscard]] virtual std::error_code remove(std::filesystem::path const& path) = 0;
    /// A second name for a file, on the same file system. Not every disk can: the caller copies.
    [[nodiscard]] virtual std::error_code link(std::filesystem::path const& from,
                                               std::filesystem::path const& to);
    [[nodiscard]] virtual std::error_code make_folder(std::filesystem::path const& path) = 0;
    [[nodiscard]] virtual std::error_code sync_folder(std::filesystem::path const& path) = 0;
    [[nodiscard]] virtual std::error_code list(std::filesystem::path const& folder,
                                               std::vector<std::string>& names) = 0;
    [[nodiscard]] virtual std::error_code free_bytes(std::filesystem::path const& folder,
                                                     std::uint64_t& bytes) = 0;
};

class PosixDisk : public Disk {
public:
    std::error_code open(std::filesystem::path const& path, OpenMode mode,
                         std::unique_ptr<File>& file) override;
    std::error_code rename(std::filesystem::path const& from,
                           std::filesystem::path const& to) override;
    std::error_code remove(std::filesystem::path const& path) override;
    std::error_code link(std::filesystem::path const& from,
                         std::filesystem::path const& to) override;
    std::error_code make_folder(std::filesystem::path const& path) override;
    std::error_code sync_folder(std::filesystem::path const& path) override;
    std::error_code list(std::filesystem::path const& folder,
                         std::vector<std::string>& names) override;
    std::error_code free_bytes(std::filesystem::path const& folder, std::uint64_t& bytes) override;
};

}  // namespace holdfast::journal
