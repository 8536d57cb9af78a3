// SimDisk: a disk in memory that fails and loses power as real ones do, by one stream of chance.
//
// Purpose: RELIABILITY.md 4.1. Knows the page cache from the device, 512-byte sectors, and folders
//   whose entries are lost unless the folder was synced.
// Thread safety: one thread. Invariants: the same calls with the same chance give the same bytes.
#pragma once

#include <holdfast/journal/disk.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

using Chance = std::mt19937_64;

/// Thrown out of a call of the disk: the machine stops here and now.
struct PowerCut {};

/// Errors to come. Each is met once the count of calls of its kind has run down, and stays.
struct DiskFaults {
    std::optional<std::uint32_t> write_error_in, sync_error_in, rename_error_in, read_error_in;
    bool sync_error_once{};      // the next sync "works" again: that must not count
    bool rename_error_once{};    // the next rename works again
    std::uint64_t space{~0ULL};  // bytes by which files may still grow
};

class SimDisk final : public journal::Disk {
public:
    explicit SimDisk(Chance& chance) : chance_(chance) {}

    std::error_code open(std::filesystem::path const& path, journal::OpenMode mode,
                         std::unique_ptr<journal::File>& file) override;
    std::error_code rename(std::filesystem::path const& from,
                           std::filesystem::path const& to) override;
    std::error_code remove(std::filesystem::path const& path) override;
    std::error_code make_folder(std::filesystem::path const&) override { return {}; }
    std::error_code sync_folder(std::filesystem::path const& path) override;
    std::error_code list(std::filesystem::path const& folder,
                         std::vector<std::string>& names) override;
    std::error_code free_bytes(std::filesystem::path const& folder, std::uint64_t& bytes) override;

    DiskFaults faults;
    /// Whether a rename has failed since the last call.
    [[nodiscard]] bool rename_has_failed() noexcept { return std::exchange(rename_failed_, false); }
    /// Whether a call may fail.
    [[nodiscard]] bool is_faulty() const noexcept {
        return faults.read_error_in || faults.write_error_in || faults.sync_error_in ||
               faults.rename_error_in || faults.space < 1'000'000;
    }

    /// The n-th change from now is the last one; it may or may not have happened.
    void cut_power_after(std::uint32_t changes) { power_left_ = changes; }
    /// What is left after a power cut: of all that was not synced, as chance has it.
    void lose_power();
    /// The process was killed; the kernel still has everything.
    void lose_process() { power_left_.reset(); }

    /// All that is on the disk, for restore(); a file that is open stays the one it was.
    class Image;
    struct DropImage {
        void operator()(Image* image) const;
    };
    [[nodiscard]] std::unique_ptr<Image, DropImage> save() const;
    void restore(Image const& image);
    // Under the feet of everybody, and at once on the device:
    void flip(std::filesystem::path const& path, std::uint64_t byte, unsigned bit);
    /// What is at one page is at another one as well, as after a write that went there.
    void misdirect(std::filesystem::path const& from, std::uint64_t from_byte,
                   std::filesystem::path const& to, std::uint64_t to_byte);
    void empty(std::filesystem::path const& path);
    void lose(std::filesystem::path const& path);
    void swap_names(std::filesystem::path const& one, std::filesystem::path const& other);
    [[nodiscard]] std::vector<std::string> paths() const;
    [[nodiscard]] std::byte at(std::filesystem::path const& path, std::uint64_t byte) const {
        return names_.at(path.string())->device.at(byte);
    }
    [[nodiscard]] std::uint64_t size_of(std::filesystem::path const& path) const;

private:
    static constexpr std::size_t sector = 512;
    static constexpr std::size_t page = 4'096;
    using Bytes = std::vector<std::byte>;
    struct Node {
        Bytes cache;
        Bytes device;
        std::vector<std::size_t> dirty;  // sectors of the cache that may not be on the device
        std::vector<bool> is_dirty;
        bool has_phantoms{};  // clean pages of the cache that never got to the device
        void touch(std::size_t from, std::size_t to);
        void write_back();
        void all_clean();
    };
    class Handle;
    using Names = std::map<std::string, std::shared_ptr<Node>>;
    struct NameChange {
        std::string gone;  // empty: nothing goes
        std::string made;  // empty: nothing is made
        std::shared_ptr<Node> node;
    };

    /// Before and after a change: either may be where the power is cut.
    void before_change();
    void after_change();
    [[nodiscard]] bool runs_out(std::optional<std::uint32_t>& calls) const;
    void change_names(NameChange change);
    static void apply(Names& names, NameChange const& change);
    void lose_sectors(Node& node, std::uint64_t mood);

    Chance& chance_;
    Names names_;
    Names synced_names_;
    std::vector<NameChange> unsynced_names_;
    std::optional<std::uint32_t> power_left_;
    bool rename_failed_{};
};

}  // namespace holdfast::sim
