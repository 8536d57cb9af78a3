#include "tests/sim/crash_states.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace holdfast::sim {
namespace {

constexpr std::size_t sector = 512;
constexpr std::size_t together_max = 3;

/// All sets of `size` numbers below `count`, ascending.
void each_set(std::size_t count, std::size_t size,
              std::function<void(std::span<std::size_t const>)> const& visit) {
    if (size > count) return;
    std::vector<std::size_t> set(size);
    for (std::size_t i = 0; i < size; ++i) set[i] = i;
    for (;;) {
        visit(set);
        std::size_t at = size;
        while (at > 0 && set[at - 1] == count - size + at - 1) --at;
        if (at == 0) return;
        ++set[at - 1];
        for (std::size_t i = at; i < size; ++i) set[i] = set[i - 1] + 1;
    }
}

}  // namespace

CrashStates::CrashStates(Files const& files) {
    for (auto const& [path, content] : files) {
        names_[path] = nodes_.size();
        nodes_.push_back({*content, content, {}});
    }
}

void CrashStates::apply(DiskCall const& call) {
    settles_ = false;
    switch (call.kind) {
        case DiskCall::Kind::create:
            nodes_.push_back({{}, std::make_shared<std::vector<std::byte>>(), {}});
            change_names({"", call.path, call.node});
            break;
        case DiskCall::Kind::write:
            write(call);
            break;
        case DiskCall::Kind::sync:
            sync(call.node);
            break;
        case DiskCall::Kind::rename:
            change_names({call.path, call.to, call.node});
            break;
        case DiskCall::Kind::remove:
            change_names({call.path, "", call.node});
            break;
        case DiskCall::Kind::sync_folder:
            std::erase_if(unsynced_names_, [&](NameChange const& change) {
                std::filesystem::path const name(change.made.empty() ? change.gone : change.made);
                if (name.parent_path() != call.path) return false;
                if (!change.gone.empty()) names_.erase(change.gone);
                if (!change.made.empty()) names_[change.made] = change.node;
                settles_ = true;
                return true;
            });
            break;
    }
    find_items(call);
}

void CrashStates::change_names(NameChange change) {
    unsynced_names_.push_back(std::move(change));
}

void CrashStates::write(DiskCall const& call) {
    Node& node = nodes_.at(call.node);
    std::size_t const end = call.offset + call.bytes.size();
    if (node.cache.size() < end) node.cache.resize(end);
    for (std::size_t at = call.offset / sector; at * sector < end; ++at) {
        std::size_t const from = std::max<std::size_t>(at * sector, call.offset);
        std::size_t const to = std::min(at * sector + sector, end);
        auto const bytes = std::span{call.bytes}.subspan(from - call.offset, to - from);
        auto const place = node.cache.begin() + static_cast<std::ptrdiff_t>(from);
        // What does not change a sector may be lost without a trace.
        if (std::ranges::equal(bytes, std::span{&*place, bytes.size()})) continue;
        std::ranges::copy(bytes, place);
        if (!node.dirty.insert(at).second) rewritten_ = true;
    }
}

void CrashStates::sync(std::size_t number) {
    Node& node = nodes_.at(number);
    settles_ = !node.dirty.empty() || node.grew();
    node.dirty.clear();
    if (settles_) node.device = std::make_shared<std::vector<std::byte>>(node.cache);
}

void CrashStates::find_items(DiskCall const& call) {
    items_.clear();
    newest_.clear();
    any_newest_ = false;
    auto const add = [this](Item const& item, bool is_new) {
        items_.push_back(item);
        newest_.push_back(is_new);
        any_newest_ = any_newest_ || is_new;
    };
    for (std::size_t at = 0; at < unsynced_names_.size(); ++at) {
        bool const named = call.kind == DiskCall::Kind::create ||
                           call.kind == DiskCall::Kind::rename ||
                           call.kind == DiskCall::Kind::remove;
        add({Item::Kind::name, 0, at}, named && at + 1 == unsynced_names_.size());
    }
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        bool const written = call.kind == DiskCall::Kind::write && call.node == node;
        if (nodes_[node].grew()) add({Item::Kind::size, node, 0}, written);
        for (std::size_t const at : nodes_[node].dirty) {
            bool const here = written && (at + 1) * sector > call.offset &&
                              at * sector < call.offset + call.bytes.size();
            add({Item::Kind::sector, node, at}, here);
        }
    }
}

void CrashStates::each_fates(std::function<void(Fates const&)> const& visit) const {
    if (!any_newest_ && !settles_) return;
    std::size_t const count = items_.size();
    // Without any of the newest items it is a state of the call before. Of so few items some sets
    // are come upon from both sides.
    bool const may_repeat = count > together_max && count <= 2 * together_max;
    std::set<Fates> given;
    auto const give = [&](Fates const& fates) {
        if (may_repeat && !given.insert(fates).second) return;
        bool is_new = settles_;
        for (std::size_t at = 0; at < count && !is_new; ++at)
            is_new = newest_[at] && fates[at] != Fate::lost;
        if (is_new) visit(fates);
    };
    // `few` for each of a set, or half of it where that can be, in all combinations.
    auto const sets = [&](Fate most, Fate few, std::size_t size) {
        each_set(count, size, [&](std::span<std::size_t const> set) {
            for (unsigned halves = 0; halves < 1U << size; ++halves) {
                Fates fates(count, most);
                bool possible = true;
                for (std::size_t at = 0; at < size; ++at) {
                    bool const half = (halves >> at & 1U) != 0;
                    possible = possible && (!half || items_[set[at]].kind == Item::Kind::sector);
                    fates[set[at]] = half ? Fate::half : few;
                }
                if (possible) give(fates);
            }
        });
    };
    for (std::size_t size = 0; size <= together_max; ++size) {
        sets(Fate::kept, Fate::lost, size);
        // Of few items all sets are given above.
        if (count > together_max) sets(Fate::lost, Fate::kept, size);
    }
}

std::uint64_t CrashStates::count() const {
    std::uint64_t states = 0;
    each_fates([&](Fates const&) { ++states; });
    return states;
}

void CrashStates::each(std::function<bool(std::uint64_t)> const& wanted,
                       std::function<void(Files const&)> const& visit) const {
    std::uint64_t number = 0;
    each_fates([&](Fates const& fates) {
        if (wanted(number++)) visit(build(fates));
    });
}

Files CrashStates::build(Fates const& fates) const {
    std::map<std::string, std::size_t> names = names_;
    for (std::size_t at = 0; at < items_.size(); ++at) {
        if (items_[at].kind != Item::Kind::name || fates[at] == Fate::lost) continue;
        NameChange const& change = unsynced_names_[items_[at].number];
        if (!change.gone.empty()) names.erase(change.gone);
        if (!change.made.empty()) names[change.made] = change.node;
    }
    Files files;
    for (auto const& [path, node] : names) files[path] = content_of(node, fates);
    return files;
}

Content CrashStates::content_of(std::size_t number, Fates const& fates) const {
    Node const& node = nodes_[number];
    if (node.dirty.empty() && !node.grew()) return node.device;
    auto content = std::make_shared<std::vector<std::byte>>(*node.device);
    for (std::size_t at = 0; at < items_.size(); ++at) {
        Item const& item = items_[at];
        if (item.kind == Item::Kind::name || item.node != number || fates[at] == Fate::lost)
            continue;
        // A file's new size comes before its sectors here; without it they have no place.
        if (item.kind == Item::Kind::size) content->resize(node.cache.size());
        std::size_t const from = std::min(item.number * sector, content->size());
        std::size_t const length = fates[at] == Fate::half ? sector / 2 + 3 : sector;
        std::size_t const to = std::min({from + length, content->size(), node.cache.size()});
        if (item.kind == Item::Kind::size) continue;
        std::copy(node.cache.begin() + static_cast<std::ptrdiff_t>(from),
                  node.cache.begin() + static_cast<std::ptrdiff_t>(to),
                  content->begin() + static_cast<std::ptrdiff_t>(from));
    }
    return content;
}

}  // namespace holdfast::sim
