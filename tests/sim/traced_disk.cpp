#include "tests/sim/traced_disk.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

class TracedDisk::Handle final : public journal::File {
public:
    Handle(TracedDisk& disk, std::shared_ptr<Node> node) : disk_(disk), node_(std::move(node)) {}

    std::error_code write_at(std::uint64_t offset, std::span<std::byte const> bytes) override {
        disk_.meanwhile_();
        disk_.note({DiskCall::Kind::write,
                    node_->number,
                    {},
                    {},
                    offset,
                    std::vector<std::byte>{bytes.begin(), bytes.end()}});
        Content& content = node_->content;
        if (content.use_count() > 1) content = std::make_shared<std::vector<std::byte>>(*content);
        if (content->size() < offset + bytes.size()) content->resize(offset + bytes.size());
        std::ranges::copy(bytes, content->begin() + static_cast<std::ptrdiff_t>(offset));
        return {};
    }
    std::error_code read_at(std::uint64_t offset, std::span<std::byte> bytes,
                            std::size_t& got) override {
        std::vector<std::byte> const& content = *node_->content;
        got = offset >= content.size()
                  ? 0
                  : std::min<std::size_t>(bytes.size(), content.size() - offset);
        std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(got == 0 ? 0 : offset), got,
                    bytes.begin());
        return {};
    }
    std::error_code sync_data() override {
        disk_.meanwhile_();
        disk_.note({DiskCall::Kind::sync, node_->number, {}, {}, 0, {}});
        return {};
    }
    std::uint64_t size() const override { return node_->content->size(); }

private:
    TracedDisk& disk_;
    std::shared_ptr<Node> node_;
};

TracedDisk::TracedDisk(Files const& files) {
    for (auto const& [path, content] : files)
        names_[path] = std::make_shared<Node>(Node{nodes_++, content});
}

void TracedDisk::note(DiskCall call) {
    if (!acknowledged_) return;
    call.acknowledged = acknowledged_();
    calls_.push_back(std::move(call));
}

std::error_code TracedDisk::open(std::filesystem::path const& path, journal::OpenMode mode,
                                 std::unique_ptr<journal::File>& file) {
    auto const found = names_.find(path.string());
    if (mode == journal::OpenMode::create) {
        if (found != names_.end()) return std::make_error_code(std::errc::file_exists);
        note({DiskCall::Kind::create, nodes_, path.string(), {}, 0, {}});
        auto node =
            std::make_shared<Node>(Node{nodes_++, std::make_shared<std::vector<std::byte>>()});
        names_[path.string()] = node;
        file = std::make_unique<Handle>(*this, std::move(node));
        return {};
    }
    if (found == names_.end()) return missing();
    file = std::make_unique<Handle>(*this, found->second);
    return {};
}

std::error_code TracedDisk::rename(std::filesystem::path const& from,
                                   std::filesystem::path const& to) {
    auto const found = names_.find(from.string());
    if (found == names_.end()) return missing();
    note({DiskCall::Kind::rename, found->second->number, from.string(), to.string(), 0, {}});
    names_[to.string()] = found->second;
    names_.erase(from.string());
    return {};
}

std::error_code TracedDisk::remove(std::filesystem::path const& path) {
    auto const found = names_.find(path.string());
    if (found == names_.end()) return missing();
    note({DiskCall::Kind::remove, found->second->number, path.string(), {}, 0, {}});
    names_.erase(found);
    return {};
}

std::error_code TracedDisk::sync_folder(std::filesystem::path const& path) {
    note({DiskCall::Kind::sync_folder, 0, path.string(), {}, 0, {}});
    return {};
}

std::error_code TracedDisk::list(std::filesystem::path const& folder,
                                 std::vector<std::string>& names) {
    names.clear();
    for (auto const& [name, node] : names_) {
        std::filesystem::path const path(name);
        if (path.parent_path() == folder) names.push_back(path.filename().string());
    }
    return {};
}

}  // namespace holdfast::sim
