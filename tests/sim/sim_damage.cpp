// SimDisk: what a disk does to what it has, and how a test takes that back.

#include "tests/sim/sim_disk.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace holdfast::sim {

class SimDisk::Image {
public:
    Names names, synced_names;
    std::vector<NameChange> unsynced_names;
    std::vector<std::pair<std::shared_ptr<Node>, Node>> contents;
};

std::unique_ptr<SimDisk::Image, SimDisk::DropImage> SimDisk::save() const {
    std::unique_ptr<Image, DropImage> image(new Image{names_, synced_names_, unsynced_names_, {}});
    std::set<std::shared_ptr<Node>> nodes;  // most have a name in both
    for (Names const* const names : {&names_, &synced_names_})
        for (auto const& [path, node] : *names) nodes.insert(node);
    for (NameChange const& change : unsynced_names_)
        if (change.node) nodes.insert(change.node);
    for (std::shared_ptr<Node> const& node : nodes) image->contents.emplace_back(node, *node);
    return image;
}

void SimDisk::restore(Image const& image) {
    names_ = image.names;
    synced_names_ = image.synced_names;
    unsynced_names_ = image.unsynced_names;
    for (auto const& [node, content] : image.contents) *node = content;
}

void SimDisk::DropImage::operator()(Image* image) const {
    delete image;
}

void SimDisk::flip(std::filesystem::path const& path, std::uint64_t byte, unsigned bit) {
    Node& node = *names_.at(path.string());
    std::byte const mask = std::byte{1} << bit;
    node.device.at(byte) ^= mask;
    node.cache.at(byte) ^= mask;
}

void SimDisk::misdirect(std::filesystem::path const& from, std::uint64_t from_byte,
                        std::filesystem::path const& to, std::uint64_t to_byte) {
    Bytes const& source = names_.at(from.string())->cache;
    Node& node = *names_.at(to.string());
    std::size_t const from_page = from_byte / page * page;
    std::size_t const to_page = to_byte / page * page;
    Bytes bytes(source.begin() + static_cast<std::ptrdiff_t>(from_page),
                source.begin() + static_cast<std::ptrdiff_t>(
                                     std::min<std::size_t>(from_page + page, source.size())));
    for (Bytes* const into : {&node.cache, &node.device}) {
        if (to_page >= into->size()) continue;
        bytes.resize(std::min(bytes.size(), into->size() - to_page));
        std::ranges::copy(bytes, into->begin() + static_cast<std::ptrdiff_t>(to_page));
    }
}

void SimDisk::empty(std::filesystem::path const& path) {
    *names_.at(path.string()) = {};
}

void SimDisk::lose(std::filesystem::path const& path) {
    names_.erase(path.string());
    synced_names_.erase(path.string());
}

void SimDisk::swap_names(std::filesystem::path const& one, std::filesystem::path const& other) {
    std::swap(names_.at(one.string()), names_.at(other.string()));
}

}  // namespace holdfast::sim
