#include "engine/mark_shelf.hpp"

#include "engine/mark_bytes.hpp"

#include <holdfast/base/seeded_hash.hpp>

#include <algorithm>

namespace holdfast::engine {
namespace {

/// Two nodes, their heap headers, and the entry itself.
constexpr std::size_t item_bytes = 200;
constexpr std::size_t looks_max = 64;

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

void MarkShelf::reserve() {
    constexpr std::size_t marks_max = 1U << 20;  // 8 MiB of buckets
    items_.reserve(std::min(bounds_.marks / (item_bytes + 50), marks_max));
}

Marks::Begun MarkShelf::begin(Mark const& mark, TimePoint now) {
    using Kind = Marks::Begun::Kind;
    auto const found = items_.find(mark.scope);
    if (found != items_.end()) {
        Item& item = *found->second;
        bool const over = item.in != flight && item.entry.keep_until <= now;
        if (!over && item.entry.mark.request != mark.request) {
            ++mismatched_;
            return {Kind::mismatch, {}, {}};
        }
        if (item.in == flight) {
            ++refused_in_flight_;
            return {Kind::in_flight, {}, {}};
        }
        if (!over) {
            ++replayed_;
            bool const success = is_success(item.in);
            return {success ? Kind::answered : Kind::refused, item.entry.answer, item.entry.lsn};
        }
        Items gone;
        drop(found->second, gone);
    }
    add(mark.scope)->entry.mark = mark;
    return {};
}

/// A new one in flight. If it fails, nothing was changed.
MarkShelf::Items::iterator MarkShelf::add(MarkHash const& scope) {
    Items fresh(1);
    auto const item = fresh.begin();
    item->entry.mark.scope = scope;
    items_.emplace(scope, item);
    lists_[flight].bytes += bytes_of(item->entry);
    items(flight).splice(items(flight).end(), fresh);
    return item;
}

/// One in flight, whatever there was.
MarkShelf::Items::iterator MarkShelf::place_for(MarkHash const& scope, Items& gone) {
    auto const known = items_.find(scope);
    if (known == items_.end()) return add(scope);
    if (known->second->in == flight) return known->second;
    drop(known->second, gone);
    return add(scope);
}

void MarkShelf::put(MarkEntry entry, Marks::Lives const& lives, Items& gone) {
    // At a start the journal and the catalogue may have the same key, of different days.
    auto const known = items_.find(entry.mark.scope);
    bool const older = known != items_.end() && is_success(known->second->in) &&
                       known->second->entry.at > entry.at;
    if (older) return;
    auto const item = place_for(entry.mark.scope, gone);
    newest_ = std::max(newest_, entry.at);
    std::uint8_t to = usual;
    if (is_of_order(entry.answer) || entry.keep_until > entry.at + limits::mark_life)
        to = lasting;
    else if (hold_of(entry.answer))
        to = of_holds;
    fill(item, std::move(entry), to);
    for (std::uint8_t in = of_holds; in < replies; ++in) drop_expired(in, gone);
    make_room(lives, gone);
}

void MarkShelf::put_refusal(MarkEntry entry, std::optional<std::uint64_t> whose, Items& gone) {
    std::size_t const share = whose ? 1 + seeded(*whose) % (refused_lists - 1) : 0;
    put_unjournaled(std::move(entry), static_cast<std::uint8_t>(refused + share), gone);
}

void MarkShelf::put_unjournaled(MarkEntry&& entry, std::uint8_t to, Items& gone) {
    fill(place_for(entry.mark.scope, gone), std::move(entry), to);
    List const& list = lists_[to];
    while (list.bytes > bounds_.refusals / refused_lists) drop(items(to).begin(), gone);
}

void MarkShelf::forget(Mark const& mark) noexcept {
    auto const found = items_.find(mark.scope);
    if (found == items_.end() || found->second->in != flight) return;
    Items gone;
    if (found->second->entry.mark.request == mark.request) drop(found->second, gone);
}

std::vector<MarkEntry*> MarkShelf::in_order() {
    std::vector<MarkEntry*> entries;
    for (std::uint8_t in = of_holds; in < replies; ++in)
        for (Item& item : items(in))
            if (item.entry.keep_until > newest_) entries.push_back(&item.entry);
    std::ranges::sort(entries, {}, [](MarkEntry const* entry) {
        return std::pair(entry->lsn, entry->mark.scope);
    });
    return entries;
}

void MarkShelf::add_to(MarkCounts& counts) const {
    for (std::uint8_t in = of_holds; in < lists; ++in) {
        List const& list = lists_[in];
        (is_success(in) ? counts.marks : counts.refusals) += list.items.size();
        (is_success(in) ? counts.mark_bytes : counts.refusal_bytes) += list.bytes;
    }
    counts.in_flight += lists_[flight].items.size();
    counts.evicted += evicted_;
    counts.replayed += replayed_;
    counts.mismatched += mismatched_;
    counts.refused_in_flight += refused_in_flight_;
}

void MarkShelf::move(Items::iterator item, std::uint8_t to) noexcept {
    std::size_t const bytes = bytes_of(item->entry);
    lists_[item->in].bytes -= bytes;
    lists_[to].bytes += bytes;
    items(to).splice(items(to).end(), items(item->in), item);
    item->in = to;
}

/// Of one in flight: it is done.
void MarkShelf::fill(Items::iterator item, MarkEntry&& entry, std::uint8_t to) noexcept {
    lists_[flight].bytes -= bytes_of(item->entry);
    item->entry = std::move(entry);
    lists_[flight].bytes += bytes_of(item->entry);
    move(item, to);
}

void MarkShelf::drop(Items::iterator item, Items& gone) noexcept {
    lists_[item->in].bytes -= bytes_of(item->entry);
    items_.erase(item->entry.mark.scope);
    gone.splice(gone.end(), items(item->in), item);
}

/// Two at a time: more come in one at a time.
void MarkShelf::drop_expired(std::uint8_t in, Items& gone) noexcept {
    for (int looks = 0; looks < 2 && !items(in).empty(); ++looks) {
        auto const first = items(in).begin();
        if (first->entry.keep_until <= newest_)
            drop(first, gone);
        else if (in == lasting)
            move(first, in);  // each is kept for another time: the next one may be over
        else
            return;
    }
}

void MarkShelf::make_room(Marks::Lives const& lives, Items& gone) {
    auto const looks_max_here = std::min(looks_max, items(of_holds).size());
    for (std::size_t looks = 0; success_bytes() > bounds_.marks && looks < looks_max_here;
         ++looks) {
        auto const first = items(of_holds).begin();
        if (has_ended(first->entry, lives)) {
            drop(first, gone);
            ++evicted_;
        } else {
            move(first, of_holds);  // to the back
        }
    }
    while (success_bytes() > bounds_.marks) {
        for (std::uint8_t const in : {usual, of_holds, lasting}) {
            if (items(in).empty()) continue;
            drop(items(in).begin(), gone);
            break;
        }
        ++evicted_;
    }
}

}  // namespace holdfast::engine
