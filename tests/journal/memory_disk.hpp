// MemoryDisk: a Disk in memory that knows what was synced, can crash, and can be made to fail.
//
// Thread safety: all calls take one mutex. `crashed` gives what a power cut would leave: synced
// bytes for sure, each unsynced 512-byte sector or directory entry as chance has it.
#pragma once

#include <holdfast/journal/disk.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace holdfast::journal::test {

using Bytes = std::vector<std::byte>;

class MemoryDisk : public Disk {
public:
    /// Counts down with every call of its kind; at 0 that call and all later ones fail.
    struct Faults {
        long writes_until_error = -1;
        long syncs_until_error = -1;
        long renames_until_error = -1;
        long folder_syncs_until_error = -1;
        long reads_until_error = -1;
        bool error_once = false;  // the next such call works again
        bool no_space_for_spares = false;
        std::string unreadable;  // a file name
        std::uint64_t free_bytes = std::uint64_t{1} << 40;
    };

    std::error_code open(std::filesystem::path const& path, OpenMode mode,
                         std::unique_ptr<File>& file) override;
    std::error_code rename(std::filesystem::path const& from,
                           std::filesystem::path const& to) override;
    std::error_code remove(std::filesystem::path const& path) override;
    std::error_code make_folder(std::filesystem::path const&) override { return {}; }
    std::error_code sync_folder(std::filesystem::path const& path) override;
    std::error_code list(std::filesystem::path const& folder,
                         std::vector<std::string>& names) override;
    std::error_code free_bytes(std::filesystem::path const&, std::uint64_t& bytes) override {
        std::lock_guard const lock{mutex_};
        bytes = faults_.free_bytes;
        return {};
    }

    template <class Change>
    void change_faults(Change const& change) {
        std::lock_guard const lock{mutex_};
        change(faults_);
    }
    /// The state after a power cut now; what was not synced is there or not by chance.
    [[nodiscard]] std::unique_ptr<MemoryDisk> crashed(std::mt19937_64& random);
    /// The state after kill -9 now.
    [[nodiscard]] std::unique_ptr<MemoryDisk> copy();

    /// Called after every change, on the thread that made it, one call at a time, while nothing of
    /// the disk is locked.
    void on_change(std::function<void()> hook) {
        std::lock_guard const lock{hook_mutex_};
        hook_ = hook ? std::move(hook) : [] {};
    }

    // For tests that change the bytes of a disk nobody uses.
    [[nodiscard]] Bytes& bytes(std::filesystem::path const& path) {
        std::lock_guard const lock{mutex_};  // somebody may use its other files
        return names_.at(path.string())->now;
    }
    void put(std::filesystem::path const& path, Bytes bytes) {
        auto& content = names_[path.string()];
        content = std::make_shared<Content>();
        content->now = std::move(bytes);
        content->dirty();
    }
    [[nodiscard]] std::uint64_t bytes_read() const {
        std::lock_guard const lock{mutex_};
        return bytes_read_;
    }
    [[nodiscard]] bool has(std::filesystem::path const& path) const {
        std::lock_guard const lock{mutex_};
        return names_.contains(path.string());
    }
    [[nodiscard]] std::vector<std::string> paths() const {
        std::lock_guard const lock{mutex_};
        std::vector<std::string> all;
        for (auto const& [path, content] : names_) all.push_back(path);
        return all;
    }

private:
    struct Content {
        Bytes now;
        Bytes synced;
        std::size_t dirty_from{0};
        std::size_t dirty_to{0};
        void dirty() {
            dirty_from = 0;
            dirty_to = now.size();
        }
        void sync() {
            synced.resize(now.size());
            std::copy(now.begin() + static_cast<long>(dirty_from),
                      now.begin() + static_cast<long>(dirty_to),
                      synced.begin() + static_cast<long>(dirty_from));
            clean = true;
        }
        bool clean{false};
    };
    class Handle;
    using Names = std::map<std::string, std::shared_ptr<Content>>;

    std::error_code fault(long& until, std::errc kind) const {
        if (until < 0) return {};
        if (until > 0) {
            --until;
            return {};
        }
        if (faults_.error_once) until = -1;
        return std::make_error_code(kind);
    }
    static std::shared_ptr<Content> duplicate(Content const& content, bool keep_unsynced,
                                              std::mt19937_64& random);

    struct Announcement {  // declared before the lock, so that the hook runs after it
        MemoryDisk& disk;
        ~Announcement() {
            std::lock_guard const lock{disk.hook_mutex_};
            disk.hook_();
        }
    };

    std::mutex hook_mutex_;
    std::function<void()> hook_{[] {}};
    mutable std::mutex mutex_;
    Faults faults_;
    std::uint64_t bytes_read_{};  // since it was made
    Names names_;
    Names synced_names_;
};

class MemoryDisk::Handle final : public File {
public:
    Handle(MemoryDisk& disk, std::shared_ptr<Content> content, std::string name)
        : disk_(disk), content_(std::move(content)), name_(std::move(name)) {}

    std::error_code write_at(std::uint64_t offset, std::span<std::byte const> bytes) override {
        Announcement const announcement{disk_};
        std::lock_guard const lock{disk_.mutex_};
        if (auto error = failing(disk_.faults_.writes_until_error)) return error;
        bool const grows = offset + bytes.size() > content_->now.size();
        bool const is_spare = name_.find(".tmp") != std::string::npos;
        if (is_spare && grows && disk_.faults_.no_space_for_spares) {
            return std::make_error_code(std::errc::no_space_on_device);
        }
        Content& content = *content_;
        std::size_t const end = offset + bytes.size();
        if (content.now.size() < end) content.now.resize(end);
        std::copy(bytes.begin(), bytes.end(), content.now.begin() + static_cast<long>(offset));
        if (content.clean) content.dirty_from = content.dirty_to = offset;
        content.clean = false;
        content.dirty_from = std::min<std::size_t>(content.dirty_from, offset);
        content.dirty_to = std::max(content.dirty_to, end);
        return {};
    }
    std::error_code read_at(std::uint64_t offset, std::span<std::byte> bytes,
                            std::size_t& got) override {
        std::lock_guard const lock{disk_.mutex_};
        got = 0;
        if (auto error = failing(disk_.faults_.reads_until_error)) return error;
        if (!disk_.faults_.unreadable.empty() &&
            name_.find(disk_.faults_.unreadable) != std::string::npos) {
            return std::make_error_code(std::errc::io_error);
        }
        Bytes const& now = content_->now;
        if (offset >= now.size()) return {};
        got = std::min<std::size_t>(bytes.size(), now.size() - offset);
        std::memcpy(bytes.data(), now.data() + offset, got);
        disk_.bytes_read_ += got;
        return {};
    }
    std::error_code sync_data() override {
        Announcement const announcement{disk_};
        std::lock_guard const lock{disk_.mutex_};
        if (auto error = failing(disk_.faults_.syncs_until_error)) return error;
        content_->sync();
        return {};
    }
    std::uint64_t size() const override {
        std::lock_guard const lock{disk_.mutex_};
        return content_->now.size();
    }

private:
    std::error_code failing(long& until) const { return disk_.fault(until, std::errc::io_error); }

    MemoryDisk& disk_;
    std::shared_ptr<Content> content_;
    std::string name_;
};

inline std::error_code MemoryDisk::open(std::filesystem::path const& path, OpenMode mode,
                                        std::unique_ptr<File>& file) {
    Announcement const announcement{*this};
    std::lock_guard const lock{mutex_};
    auto const found = names_.find(path.string());
    if (mode == OpenMode::create) {
        if (found != names_.end()) return std::make_error_code(std::errc::file_exists);
        auto content = std::make_shared<Content>();
        names_[path.string()] = content;
        file = std::make_unique<Handle>(*this, content, path.string());
        return {};
    }
    if (found == names_.end()) return std::make_error_code(std::errc::no_such_file_or_directory);
    file = std::make_unique<Handle>(*this, found->second, path.string());
    return {};
}

inline std::error_code MemoryDisk::rename(std::filesystem::path const& from,
                                          std::filesystem::path const& to) {
    Announcement const announcement{*this};
    std::lock_guard const lock{mutex_};
    if (auto error = fault(faults_.renames_until_error, std::errc::io_error)) return error;
    auto const found = names_.find(from.string());
    if (found == names_.end()) return std::make_error_code(std::errc::no_such_file_or_directory);
    names_[to.string()] = found->second;
    names_.erase(found);
    return {};
}

inline std::error_code MemoryDisk::remove(std::filesystem::path const& path) {
    Announcement const announcement{*this};
    std::lock_guard const lock{mutex_};
    if (names_.erase(path.string()) == 0) {
        return std::make_error_code(std::errc::no_such_file_or_directory);
    }
    return {};
}

inline std::error_code MemoryDisk::sync_folder(std::filesystem::path const& path) {
    Announcement const announcement{*this};
    std::lock_guard const lock{mutex_};
    if (auto error = fault(faults_.folder_syncs_until_error, std::errc::io_error)) return error;
    auto const is_in_folder = [&path](auto const& entry) {
        return std::filesystem::path{entry.first}.parent_path() == path;
    };
    std::erase_if(synced_names_, is_in_folder);
    for (auto const& entry : names_) {
        if (is_in_folder(entry)) synced_names_.insert(entry);
    }
    return {};
}

inline std::error_code MemoryDisk::list(std::filesystem::path const& folder,
                                        std::vector<std::string>& names) {
    std::lock_guard const lock{mutex_};
    names.clear();
    for (auto const& [name, content] : names_) {
        std::filesystem::path const path{name};
        if (path.parent_path() == folder) names.push_back(path.filename().string());
    }
    return {};
}

inline std::shared_ptr<MemoryDisk::Content> MemoryDisk::duplicate(Content const& content,
                                                                  bool keep_unsynced,
                                                                  std::mt19937_64& random) {
    auto made = std::make_shared<Content>();
    made->now = content.now;
    if (keep_unsynced) {
        made->dirty();
        return made;
    }
    bool const new_size = content.synced.size() == content.now.size() || random() % 2 == 0;
    made->now.resize(new_size ? content.now.size() : content.synced.size());
    constexpr std::size_t sector = 512;
    std::size_t const from = content.clean ? made->now.size() : content.dirty_from;
    for (std::size_t at = from / sector * sector; at < made->now.size(); at += sector) {
        if (random() % 2 == 0) continue;
        std::size_t const end = std::min(at + sector, made->now.size());
        for (std::size_t byte = at; byte < end; ++byte) {
            made->now[byte] = byte < content.synced.size() ? content.synced[byte] : std::byte{0};
        }
    }
    made->dirty();
    return made;
}

inline std::unique_ptr<MemoryDisk> MemoryDisk::crashed(std::mt19937_64& random) {
    std::lock_guard const lock{mutex_};
    auto left = std::make_unique<MemoryDisk>();
    bool const new_names = random() % 2 == 0;
    for (auto const& [name, content] : new_names ? names_ : synced_names_) {
        left->names_[name] = duplicate(*content, false, random);
    }
    left->synced_names_ = left->names_;
    for (auto const& [name, content] : left->names_) content->sync();
    return left;
}

inline std::unique_ptr<MemoryDisk> MemoryDisk::copy() {
    std::lock_guard const lock{mutex_};
    auto left = std::make_unique<MemoryDisk>();
    std::mt19937_64 random{0};
    for (auto const& [name, content] : names_)
        left->names_[name] = duplicate(*content, true, random);
    left->synced_names_ = left->names_;
    for (auto const& [name, content] : left->names_) content->sync();
    return left;
}

}  // namespace holdfast::journal::test
