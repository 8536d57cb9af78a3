// TracedDisk: a disk in memory that writes down each call that changes it.
//
// Purpose: RELIABILITY.md 4.3, trace enumeration. What was called, in which order, is all that the
//   crash states of a run are made of (crash_states.hpp); such a state is a TracedDisk again.
// Thread safety: one thread. Cost: files are shared between disks until one of them writes.
#pragma once

#include <holdfast/journal/disk.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::sim {

using Content = std::shared_ptr<std::vector<std::byte>>;
/// What lies on a disk, by path.
using Files = std::map<std::string, Content>;

struct DiskCall {
    enum class Kind : std::uint8_t { create, write, sync, rename, remove, sync_folder };
    Kind kind{};
    std::size_t node{};  // the file: numbers go on from those of the files there were
    std::string path;    // of names; the folder of sync_folder
    std::string to;      // of rename
    std::uint64_t offset{};
    std::vector<std::byte> bytes;
    std::uint64_t acknowledged{};  // what anybody knew to be on disk when it began
};

class TracedDisk final : public journal::Disk {
public:
    explicit TracedDisk(Files const& files);

    std::error_code open(std::filesystem::path const& path, journal::OpenMode mode,
                         std::unique_ptr<journal::File>& file) override;
    std::error_code rename(std::filesystem::path const& from,
                           std::filesystem::path const& to) override;
    std::error_code remove(std::filesystem::path const& path) override;
    std::error_code make_folder(std::filesystem::path const&) override { return {}; }
    std::error_code sync_folder(std::filesystem::path const& path) override;
    std::error_code list(std::filesystem::path const& folder,
                         std::vector<std::string>& names) override;
    std::error_code free_bytes(std::filesystem::path const&, std::uint64_t& bytes) override {
        bytes = std::uint64_t{1} << 40;
        return {};
    }

    /// From now on calls are written down.
    void trace(std::function<std::uint64_t()> acknowledged) {
        acknowledged_ = std::move(acknowledged);
    }
    [[nodiscard]] std::vector<DiskCall> const& calls() const noexcept { return calls_; }
    /// Called before each write and sync of a file: what another thread does just then.
    void meanwhile(std::function<void()> step) { meanwhile_ = std::move(step); }

private:
    struct Node {
        std::size_t number{};
        Content content;
    };
    class Handle;

    void note(DiskCall call);
    [[nodiscard]] static std::error_code missing() {
        return std::make_error_code(std::errc::no_such_file_or_directory);
    }

    std::map<std::string, std::shared_ptr<Node>> names_;
    std::size_t nodes_{};
    std::function<std::uint64_t()> acknowledged_;
    std::function<void()> meanwhile_{[] {}};
    std::vector<DiskCall> calls_;
};

}  // namespace holdfast::sim
