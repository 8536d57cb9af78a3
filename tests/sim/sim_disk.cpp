#include "tests/sim/sim_disk.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

using journal::File;
using journal::OpenMode;

void SimDisk::Node::write_back() {
    device.resize(cache.size());
    for (std::size_t const at : dirty) {
        std::size_t const from = std::min(at * sector, cache.size());
        std::size_t const to = std::min(from + sector, cache.size());
        std::copy(cache.begin() + static_cast<std::ptrdiff_t>(from),
                  cache.begin() + static_cast<std::ptrdiff_t>(to),
                  device.begin() + static_cast<std::ptrdiff_t>(from));
    }
}

void SimDisk::Node::touch(std::size_t from, std::size_t to) {
    is_dirty.resize(cache.size() / sector + 1);
    for (std::size_t at = from / sector; at * sector < to; ++at) {
        if (!is_dirty[at]) dirty.push_back(at);
        is_dirty[at] = true;
    }
}

void SimDisk::Node::all_clean() {
    for (std::size_t const at : dirty) is_dirty[at] = false;
    dirty.clear();
}

class SimDisk::Handle final : public File {
public:
    Handle(SimDisk& disk, std::shared_ptr<Node> node, bool reads_device)
        : disk_(disk), node_(std::move(node)), reads_device_(reads_device) {}

    std::error_code write_at(std::uint64_t offset, std::span<std::byte const> bytes) override {
        disk_.before_change();
        if (disk_.runs_out(disk_.faults.write_error_in))
            return std::make_error_code(std::errc::io_error);
        Node& node = *node_;
        std::size_t const end = offset + bytes.size();
        std::size_t const grown = end > node.cache.size() ? end - node.cache.size() : 0;
        if (grown > disk_.faults.space) return std::make_error_code(std::errc::no_space_on_device);
        disk_.faults.space -= grown;
        if (grown > 0) node.cache.resize(end);
        std::ranges::copy(bytes, node.cache.begin() + static_cast<std::ptrdiff_t>(offset));
        node.touch(offset, end);
        disk_.after_change();
        return {};
    }
    std::error_code read_at(std::uint64_t offset, std::span<std::byte> bytes,
                            std::size_t& got) override {
        got = 0;
        if (disk_.runs_out(disk_.faults.read_error_in))
            return std::make_error_code(std::errc::io_error);
        Bytes const& from = reads_device_ ? node_->device : node_->cache;
        std::size_t const size = node_->cache.size();
        if (offset >= size) return {};
        got = std::min<std::size_t>(bytes.size(), size - offset);
        for (std::size_t i = 0; i < got; ++i)
            bytes[i] = offset + i < from.size() ? from[offset + i] : std::byte{0};
        if (reads_device_) read_dirty(offset, bytes.first(got));
        return {};
    }
    std::error_code sync_data() override {
        disk_.before_change();
        if (disk_.runs_out(disk_.faults.sync_error_in)) {
            if (disk_.faults.sync_error_once) disk_.faults.sync_error_in.reset();
            lose_some_pages();
            return std::make_error_code(std::errc::io_error);
        }
        node_->write_back();
        node_->all_clean();
        disk_.after_change();
        return {};
    }
    std::uint64_t size() const override { return node_->cache.size(); }

private:
    /// A read past the cache finds what is still to be written there, as in the kernel.
    void read_dirty(std::size_t offset, std::span<std::byte> bytes) const {
        std::size_t const end = offset + bytes.size();
        for (std::size_t const at : node_->dirty) {
            std::size_t const from = std::max(at * sector, offset);
            std::size_t const to = std::min({at * sector + sector, end, node_->cache.size()});
            for (std::size_t byte = from; byte < to; ++byte)
                bytes[byte - offset] = node_->cache[byte];
        }
    }
    /// After a failed sync the kernel calls the pages clean, wherever they are (RELIABILITY F1).
    void lose_some_pages() {
        Node& node = *node_;
        std::erase_if(node.dirty, [&](std::size_t at) {
            bool const lost = disk_.chance_() % 2 == 0;
            if (lost) node.is_dirty[at] = false;
            node.has_phantoms = node.has_phantoms || lost;
            return lost;
        });
        node.write_back();
        node.all_clean();
    }

    SimDisk& disk_;
    std::shared_ptr<Node> node_;
    bool reads_device_;
};

void SimDisk::before_change() {
    if (power_left_ && *power_left_ == 0 && chance_() % 2 == 0) throw PowerCut{};
}

void SimDisk::after_change() {
    if (!power_left_) return;
    if (*power_left_ == 0) throw PowerCut{};
    --*power_left_;
}

bool SimDisk::runs_out(std::optional<std::uint32_t>& calls) const {
    if (!calls) return false;
    if (*calls == 0) return true;
    --*calls;
    return false;
}

void SimDisk::apply(Names& names, NameChange const& change) {
    if (!change.gone.empty()) names.erase(change.gone);
    if (!change.made.empty()) names[change.made] = change.node;
}

void SimDisk::change_names(NameChange change) {
    apply(names_, change);
    unsynced_names_.push_back(std::move(change));
    after_change();
}

std::error_code SimDisk::open(std::filesystem::path const& path, OpenMode mode,
                              std::unique_ptr<File>& file) {
    auto const found = names_.find(path.string());
    if (mode == OpenMode::create) {
        if (found != names_.end()) return std::make_error_code(std::errc::file_exists);
        before_change();
        auto node = std::make_shared<Node>();
        file = std::make_unique<Handle>(*this, node, false);
        change_names({"", path.string(), node});
        return {};
    }
    if (found == names_.end()) return std::make_error_code(std::errc::no_such_file_or_directory);
    file = std::make_unique<Handle>(*this, found->second, mode == OpenMode::read_device);
    return {};
}

std::error_code SimDisk::rename(std::filesystem::path const& from,
                                std::filesystem::path const& to) {
    before_change();
    if (runs_out(faults.rename_error_in)) {
        rename_failed_ = true;
        if (faults.rename_error_once) faults.rename_error_in.reset();
        return std::make_error_code(std::errc::io_error);
    }
    auto const found = names_.find(from.string());
    if (found == names_.end()) return std::make_error_code(std::errc::no_such_file_or_directory);
    change_names({from.string(), to.string(), found->second});
    return {};
}

std::error_code SimDisk::remove(std::filesystem::path const& path) {
    if (!names_.contains(path.string()))
        return std::make_error_code(std::errc::no_such_file_or_directory);
    before_change();
    change_names({path.string(), "", nullptr});
    return {};
}

std::error_code SimDisk::sync_folder(std::filesystem::path const& path) {
    before_change();
    if (runs_out(faults.sync_error_in)) return std::make_error_code(std::errc::io_error);
    std::erase_if(unsynced_names_, [&](NameChange const& change) {
        std::string const& name = change.made.empty() ? change.gone : change.made;
        if (std::filesystem::path(name).parent_path() != path) return false;
        apply(synced_names_, change);
        return true;
    });
    after_change();
    return {};
}

std::error_code SimDisk::list(std::filesystem::path const& folder,
                              std::vector<std::string>& names) {
    names.clear();
    for (auto const& [name, node] : names_) {
        std::filesystem::path const path(name);
        if (path.parent_path() == folder) names.push_back(path.filename().string());
    }
    return {};
}

std::error_code SimDisk::free_bytes(std::filesystem::path const&, std::uint64_t& bytes) {
    bytes = faults.space;
    return {};
}

void SimDisk::lose_sectors(Node& node, std::uint64_t mood) {
    bool const new_size = chance_() % 2 == 0;
    if (node.cache.size() > node.device.size() && new_size) node.device.resize(node.cache.size());
    for (std::size_t const at : node.dirty) {
        std::size_t const from = at * sector;
        std::size_t const to = std::min(from + sector, node.device.size());
        if (from >= to) continue;
        std::uint64_t const fate = mood == 0 ? 0 : mood == 1 ? 9 : chance_() % 10;
        // Kept, half kept, or lost.
        std::size_t const kept = fate < 4 ? to : fate < 7 ? from + chance_() % (to - from) : from;
        for (std::size_t byte = from; byte < kept; ++byte) node.device[byte] = node.cache[byte];
    }
    if (node.has_phantoms || node.cache.size() != node.device.size()) {
        node.cache = node.device;
        node.has_phantoms = false;
    } else {
        for (std::size_t const at : node.dirty) {
            auto const from = static_cast<std::ptrdiff_t>(at * sector);
            auto const size = static_cast<std::ptrdiff_t>(node.device.size());
            std::copy(node.device.begin() + from,
                      node.device.begin() + std::min<std::ptrdiff_t>(from + sector, size),
                      node.cache.begin() + from);
        }
    }
    node.all_clean();
}

void SimDisk::lose_power() {
    power_left_.reset();
    faults = {};
    std::uint64_t const mood = chance_() % 8;  // 0: all is kept; 1: all is lost; else a mixture
    for (NameChange const& change : unsynced_names_)
        if (mood == 0 || (mood != 1 && chance_() % 2 == 0)) apply(synced_names_, change);
    unsynced_names_.clear();
    names_ = synced_names_;
    for (auto const& [name, node] : names_) lose_sectors(*node, mood);
}

std::vector<std::string> SimDisk::paths() const {
    std::vector<std::string> all;
    for (auto const& [name, node] : names_) all.push_back(name);
    return all;
}

std::uint64_t SimDisk::size_of(std::filesystem::path const& path) const {
    return names_.at(path.string())->cache.size();
}

}  // namespace holdfast::sim
