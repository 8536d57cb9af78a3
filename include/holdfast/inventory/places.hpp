// Places: the shared state of an event's places.
//
// Purpose: who owns each place (the truth), a hint bit for each place (a guess where free ones
//   are), notes on rows (row_notes.hpp), counters of frees (what a cached "sold out" depends on),
//   how many are free at the most (free_counts.hpp), and the pool of hold slots.
// Thread safety: every function by any thread.
// Invariants: at rest every free place that is for sale has its hint set; a hint may be set for a
//   place that is taken, never the other way round for longer than a call lasts. The same holds
//   of a row that is open and the hints of its places. Frees are counted in places, and may be
//   counted more than once; a verdict lasts no longer than the shortest hold, in which no event can
//   free the 2^44 places after which a counter comes to a value again for its readers.
// Cost: 8 bytes and one bit a place, 71 bytes a row, 64 bytes a slot. Made when the event is built.
#pragma once

#include <holdfast/domain/ids.hpp>
#include <holdfast/inventory/free_counts.hpp>
#include <holdfast/inventory/geometry.hpp>
#include <holdfast/inventory/row_notes.hpp>
#include <holdfast/inventory/slot.hpp>

#include <bit>
#include <cstdint>
#include <memory>
#include <span>

namespace holdfast::inventory {

/// Walks the places of one hold through its chain of slots. Late helpers walk lists that may be
/// rewritten under them, so each step is bounded and the caller checks the hold's word afterwards.
template <class A>
class SeatCursor {
public:
    void start(SlotPool<A>& pool, std::uint32_t slot) noexcept {
        pool_ = &pool;
        slot_ = slot;
        offset_ = 0;
    }
    /// The next place; `end` (no place) if the chain is broken, which only a stale walk can meet.
    [[nodiscard]] std::uint32_t next() noexcept {
        if (offset_ == seats_inline) {
            // acquire: payload load, see slot.hpp.
            slot_ = (*pool_)[slot_].more.load(A::acquire);
            offset_ = 0;
            if (!pool_->contains(slot_)) return end;
        }
        // acquire: payload load.
        return (*pool_)[slot_].seats[offset_++].load(A::acquire);
    }
    static constexpr std::uint32_t end = ~0U;

private:
    SlotPool<A>* pool_;
    std::uint32_t slot_;
    std::uint32_t offset_;
};

/// Counts frees; on a line of its own because every cached refusal reads it.
template <class A>
struct alignas(64) FreesCounter {
    typename A::template Atomic<std::uint64_t> value{0};
};
static_assert(sizeof(FreesCounter<StdAtomics>) == 64, "sections do not share a line");

template <class A>
class Places {
public:
    template <class T>
    using Atomic = typename A::template Atomic<T>;

    Places(Geometry const& geometry, std::uint32_t slots)
        : geometry_(geometry),
          pool_(slots),
          owners_(std::make_unique<Atomic<std::uint64_t>[]>(geometry.place_count())),
          hints_(std::make_unique<Atomic<std::uint64_t>[]>(words(geometry.place_count()))),
          notes_(geometry),
          section_frees_(std::make_unique<FreesCounter<A>[]>(geometry.section_count())),
          free_counts_(geometry) {
        // relaxed: not shared yet.
        for (std::uint32_t word = 0; word < words(geometry.place_count()); ++word)
            hints_[word].store(geometry.for_sale_word(word), A::relaxed);
    }

    [[nodiscard]] Geometry const& geometry() const noexcept { return geometry_; }
    [[nodiscard]] std::uint32_t count() const noexcept { return geometry_.place_count(); }
    [[nodiscard]] SlotPool<A>& pool() noexcept { return pool_; }
    [[nodiscard]] Slot<A>& slot_of(HoldRef ref) noexcept { return pool_[ref.slot().value()]; }
    [[nodiscard]] Atomic<std::uint64_t>& owner(std::uint32_t place) noexcept {
        return owners_[place];
    }

    /// A guess: whether the places of this word (64 of them) are free.
    [[nodiscard]] std::uint64_t hint_word(std::uint32_t word) const noexcept {
        // relaxed: only a guess, the claim looks at the owners.
        return hints_.get()[word].load(A::relaxed);
    }
    /// The same as an operation that is ordered with those of all who take places of the word: who
    /// comes later sees what was done before this (RowNotes::mark_single).
    [[nodiscard]] std::uint64_t hint_word_in_order(std::uint32_t word) noexcept {
        // release: for who comes later. Who came before is in the word itself: acquire is free.
        return hints_[word].fetch_or(0, A::acq_rel);
    }
    [[nodiscard]] bool hinted(std::uint32_t place) const noexcept {
        return (hint_word(place / 64) >> (place % 64) & 1U) != 0;
    }
    void set_hint(std::uint32_t place) noexcept { set_hints(place / 64, bit(place)); }
    /// The hints of places of one row or one general section that share a word.
    void set_hints(std::uint32_t word, std::uint64_t bits) noexcept {
        // release: whoever clears such a bit later sees the end that made the place free.
        hints_[word].fetch_or(bits, A::release);
        std::uint32_t const place = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        if (place < geometry_.labelled_count()) notes_.freed(rank_of(place));
    }
    void clear_hint(std::uint32_t place) noexcept {
        // acquire: if this clear comes after a set, the caller's look sees the end before that set;
        // and if it comes after the look of one who marked the row, we see that mark.
        hints_[place / 64].fetch_and(~bit(place), A::acquire);
        if (notes_.any_singles() && place < geometry_.labelled_count())
            notes_.taken(rank_of(place));
    }
    /// clear_hint for an ascending list, one operation for all places of a word.
    void clear_hints(std::span<SeatIndex const> seats) noexcept {
        for (std::size_t i = 0; i < seats.size();) {
            std::uint32_t const word = seats[i].value() / 64;
            std::uint64_t mask = 0;
            for (; i < seats.size() && seats[i].value() / 64 == word; ++i)
                mask |= bit(seats[i].value());
            hints_[word].fetch_and(~mask, A::acquire);  // as clear_hint
        }
        if (!notes_.any_singles()) return;
        for (SeatIndex const seat : seats)
            if (seat.value() < geometry_.labelled_count()) notes_.taken(rank_of(seat.value()));
    }

    using Notes = RowNotes<A>;
    [[nodiscard]] Notes& notes() noexcept { return notes_; }
    /// Rows that may have hints, 64 a word, by their rank in Geometry::rows_by_distance().
    [[nodiscard]] std::uint64_t open_rows(std::uint32_t word) const noexcept {
        return notes_.open(word);
    }
    [[nodiscard]] std::uint32_t open_row_words() const noexcept { return notes_.words(); }
    /// For a search that saw no hint in a row: takes it out of the rows to visit, unless a look
    /// afterwards finds one.
    void close_row(RowGeometry const& row) noexcept {
        notes_.mark_closed(row.rank);
        std::uint32_t const last = row.first + row.count - 1;
        std::uint64_t seen = 0;
        for (std::uint32_t word = row.first / 64; word <= last / 64; ++word) {
            std::uint64_t bits = hint_word(word);
            if (word == row.first / 64) bits &= ~std::uint64_t{0} << (row.first % 64);
            if (word == last / 64) bits &= ~std::uint64_t{0} >> (63 - last % 64);
            seen |= bits;
        }
        if (seen != 0) notes_.forget(row.rank, RowNotes<A>::less);
    }

    [[nodiscard]] std::uint64_t event_frees() const noexcept {
        return event_frees_.value.load(A::acquire);  // acquire: pairs with the count
    }
    [[nodiscard]] std::uint64_t section_frees(std::uint32_t section) const noexcept {
        return section_frees_[section].value.load(A::acquire);  // acquire: pairs with the count
    }
    /// Says that places of this section are about to become free; before they do (PROTOCOL.md F1).
    void count_section_free(std::uint32_t section, std::uint32_t places) noexcept {
        // release: a search that sees this count also sees the `ending` before it.
        section_frees_[section].value.fetch_add(places, A::release);
    }
    void count_event_free(std::uint32_t places) noexcept {
        event_frees_.value.fetch_add(places, A::release);  // as count_section_free
    }

    [[nodiscard]] FreeCounts<A>& free_counts() noexcept { return free_counts_; }
    [[nodiscard]] FreeCounts<A> const& free_counts() const noexcept { return free_counts_; }

private:
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t seat) const noexcept {
        return geometry_.rows()[geometry_.row_of(seat)].rank;
    }
    [[nodiscard]] static std::uint64_t bit(std::uint32_t index) noexcept {
        return std::uint64_t{1} << (index % 64);
    }
    [[nodiscard]] static std::uint32_t words(std::uint32_t places) noexcept {
        return (places + 63) / 64;
    }

    Geometry const& geometry_;
    SlotPool<A> pool_;
    std::unique_ptr<Atomic<std::uint64_t>[]> owners_;
    std::unique_ptr<Atomic<std::uint64_t>[]> hints_;
    RowNotes<A> notes_;
    std::unique_ptr<FreesCounter<A>[]> section_frees_;
    FreesCounter<A> event_frees_;
    FreeCounts<A> free_counts_;
};

}  // namespace holdfast::inventory
