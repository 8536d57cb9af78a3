#include "engine/mark_shelf.hpp"

#include "engine/mark_bytes.hpp"

#include <holdfast/base/seeded_hash.hpp>

#include <algorithm>

namespace holdfast::engine {
namespace {

/// Two nodes, their heap headers, and the entry itself.
constexpr std::size_t item_bytes = 200;
constexpr std::size_t looks_max = 64;

bool is_refusal(MarkEntry const& entry) noexcept {
    return !entry.answer.empty() && entry.answer.front() == std::byte{0};
}

bool has_ended(MarkEntry const& entry, Marks::Lives const& lives) {
    auto const hold = hold_of(entry.answer);
    return hold && !lives(*hold);
}

}  // namespace

std::size_t seeded(std::uint64_t part) noexcept {
    static SeededHash const hash;
    return hash(part);
}

std::size_t MarkShelf::bytes_of(MarkEntry const& entry) noexcept {
    return item_bytes + entry.answer.size();
}

Marks::Begun MarkShelf::begin(Mark const& mark, TimePoint now) {
    using Kind = Marks::Begun::Kind;
    auto const found = items_.find(mark.scope);
    if (found != items_.end()) {
        Item& item = *found->second;
        bool const over = item.in != In::flight && item.entry.keep_until <= now;
        if (!over && item.entry.mark.request != mark.request) {
            ++mismatched_;
            return {Kind::mismatch, {}, {}};
        }
        if (item.in == In::flight) {
            ++refused_in_flight_;
            return {Kind::in_flight, {}, {}};
        }
        if (!over) {
            ++replayed_;
            bool const refused = is_refusal(item.entry);
            AnswerBytes answer(item.entry.answer.begin() + (refused ? 1 : 0),
                               item.entry.answer.end());
            return {refused ? Kind::refused : Kind::answered, std::move(answer), item.entry.lsn};
        }
        drop(found->second);
    }
    Items fresh;
    fresh.emplace_back();
    fresh.front().entry.mark = mark;
    items_.emplace(mark.scope, fresh.begin());
    list(In::flight).splice(list(In::flight).end(), fresh);
    return {};
}

void MarkShelf::put(MarkEntry entry, bool journaled, Marks::Lives const& lives) {
    auto const known = items_.find(entry.mark.scope);
    Items::iterator item;
    if (known != items_.end() && known->second->in == In::flight) {
        item = known->second;  // the usual way: nothing is allocated now that the effect is there
    } else {
        if (known != items_.end()) drop(known->second);
        item = list(In::flight).emplace(list(In::flight).end());
        items_.emplace(entry.mark.scope, item);
    }
    newest_ = std::max(newest_, entry.at);
    In to = In::unjournaled;
    if (journaled && entry.keep_until > entry.at + limits::mark_life)
        to = In::lasting;
    else if (journaled)
        to = hold_of(entry.answer) ? In::of_holds : In::usual;
    item->entry = std::move(entry);
    move(item, to);
    for (In const in : {In::of_holds, In::usual, In::lasting, In::unjournaled}) drop_expired(in);
    make_room(lives);
}

void MarkShelf::forget(Mark const& mark) noexcept {
    auto const found = items_.find(mark.scope);
    if (found == items_.end() || found->second->in != In::flight) return;
    if (found->second->entry.mark.request == mark.request) drop(found->second);
}

std::vector<MarkEntry> MarkShelf::journaled() const {
    std::vector<MarkEntry> entries;
    for (In const in : {In::of_holds, In::usual, In::lasting})
        for (Item const& item : list(in))
            if (item.entry.keep_until > newest_) entries.push_back(item.entry);
    std::ranges::sort(
        entries, {}, [](MarkEntry const& entry) { return std::pair(entry.lsn, entry.mark.scope); });
    return entries;
}

void MarkShelf::add_to(MarkCounts& counts) const {
    counts.marks += list(In::of_holds).size() + list(In::usual).size() + list(In::lasting).size();
    counts.mark_bytes += bytes_;
    counts.unjournaled += list(In::unjournaled).size();
    counts.unjournaled_bytes += unjournaled_bytes_;
    counts.in_flight += list(In::flight).size();
    counts.evicted += evicted_;
    counts.replayed += replayed_;
    counts.mismatched += mismatched_;
    counts.refused_in_flight += refused_in_flight_;
}

void MarkShelf::move(Items::iterator item, In to) noexcept {
    std::size_t const bytes = bytes_of(item->entry);
    if (is_journaled(item->in)) bytes_ -= bytes;
    if (is_journaled(to)) bytes_ += bytes;
    if (to == In::unjournaled) unjournaled_bytes_ += bytes;
    list(to).splice(list(to).end(), list(item->in), item);
    item->in = to;
}

void MarkShelf::drop(Items::iterator item) noexcept {
    std::size_t const bytes = bytes_of(item->entry);
    if (is_journaled(item->in)) bytes_ -= bytes;
    if (item->in == In::unjournaled) unjournaled_bytes_ -= bytes;
    items_.erase(item->entry.mark.scope);
    list(item->in).erase(item);
}

/// Two at a time: more come in one at a time.
void MarkShelf::drop_expired(In in) noexcept {
    for (int looks = 0; looks < 2 && !list(in).empty(); ++looks) {
        auto const first = list(in).begin();
        if (first->entry.keep_until <= newest_)
            drop(first);
        else if (in == In::lasting)
            move(first, in);  // each is kept for another time: the next one may be over
        else
            return;
    }
}

void MarkShelf::make_room(Marks::Lives const& lives) {
    while (unjournaled_bytes_ > bounds_.unjournaled) drop(list(In::unjournaled).begin());
    Items& of_holds = list(In::of_holds);
    auto const looks_max_here = std::min(looks_max, of_holds.size());
    for (std::size_t looks = 0; bytes_ > bounds_.marks && looks < looks_max_here; ++looks) {
        auto const first = of_holds.begin();
        if (has_ended(first->entry, lives)) {
            drop(first);
            ++evicted_;
        } else {
            move(first, In::of_holds);  // to the back
        }
    }
    while (bytes_ > bounds_.marks) {
        for (In const in : {In::usual, In::of_holds, In::lasting}) {
            if (list(in).empty()) continue;
            drop(list(in).begin());
            break;
        }
        ++evicted_;
    }
}

}  // namespace holdfast::engine
