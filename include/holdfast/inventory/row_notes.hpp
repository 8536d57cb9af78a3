// Row notes: what searches found out about rows, so that the next one need not look at them again.
//
// Purpose: for each row, and for each of the usual quantities N: the least cost that N neighbours
//   of it can have, and marks on rows that a search need not visit: `closed` (nothing is free),
//   `none` (no N neighbours are), `single` (any N neighbours leave a single seat). They speak of
//   plain seats, without a filter.
// Thread safety: every function by any thread.
// Invariants: claims only take seats away, so a cost stays a lower bound, and `closed` and `none`
//   stay true, until a place of the row becomes free; `single` is true until any place of the row
//   changes. Notes are guesses like the hints they are about: one may stand longer than that, as
//   long as a call lasts that is about to take it away, and at rest none does.
// Cost: a note of a cost is a plain store, a look at it two loads; a mark is two atomic
//   read-modify-writes and a second look at the row. Whoever frees a place counts that in its row
//   (one read-modify-write), whoever takes one looks at two words. 68 bytes and 17 bits a row.
//
// The count of frees in a row wraps after 2^30. A cost noted just so many frees ago, to the one,
//   would be believed again, until the next free: a search might take a block that is farther away.
//   It refuses nobody for a note, because before that it scans.
//
// A row's state word is {frees: 30, single: 1, less: 1}: how often a place of it became free, and
//   whether it has marks of either kind. Who marks a row sets the mark, then its bit here, and then
//   looks at the hints again. Who frees sets the hint, then counts here: of the two operations on
//   this one word the later one sees what was done before the other. Who takes a place does not
//   write here, so the second look after `single` is an operation on the words of hints: a taker
//   that came before it is seen, one that comes after it sees the bit.
#pragma once

#include <holdfast/inventory/geometry.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace holdfast::inventory {

template <class A>
class RowNotes {
public:
    template <class T>
    using Atomic = typename A::template Atomic<T>;
    /// Notes are kept of 1 ... so many neighbours.
    static constexpr std::uint32_t quantities = 8;

    /// What a row's marks speak of: `less` stays true while places are only taken.
    enum Kinds : std::uint32_t { less = 1, single = 2, all = 3 };

    explicit RowNotes(Geometry const& geometry)
        : rows_(static_cast<std::uint32_t>(geometry.rows().size())),
          words_((rows_ + 63) / 64),
          marks_(std::make_unique<Atomic<std::uint64_t>[]>(std::size_t{mark_kinds} * words_)),
          states_(std::make_unique<Atomic<std::uint32_t>[]>(rows_)),
          bounds_(std::make_unique<Atomic<std::uint64_t>[]>(std::size_t{quantities} * rows_)) {
        // relaxed: not shared yet.
        for (std::size_t i = 0; i < std::size_t{quantities} * rows_; ++i)
            bounds_[i].store(of_no_count, A::relaxed);
        if (rows_ % 64 != 0)  // no such rows
            marks_[words_ - 1].store(~std::uint64_t{0} << (rows_ % 64), A::relaxed);
    }

    /// Rows are named by their rank in Geometry::rows_by_distance(), 64 a word.
    [[nodiscard]] std::uint32_t words() const noexcept { return words_; }
    // relaxed, all three: only guesses.
    [[nodiscard]] std::uint64_t open(std::uint32_t word) const noexcept {
        return ~marks_.get()[word].load(A::relaxed);
    }
    [[nodiscard]] std::uint64_t none(std::uint32_t word, std::uint32_t quantity) const noexcept {
        return marks_.get()[none_of(quantity) * words_ + word].load(A::relaxed);
    }
    [[nodiscard]] std::uint64_t singles(std::uint32_t word, std::uint32_t quantity) const noexcept {
        return marks_.get()[single_of(quantity) * words_ + word].load(A::relaxed);
    }

    /// How often a place of the row became free; to be read before the hints of which
    /// note_bound() is told.
    [[nodiscard]] std::uint32_t frees(std::uint32_t rank) const noexcept {
        // acquire: who sees a count sees the hints that were set before it.
        return states_.get()[rank].load(A::acquire) >> kind_bits;
    }
    /// No `quantity` neighbours of the row cost less than `quantity` times this; 0: not known.
    [[nodiscard]] std::uint32_t bound(std::uint32_t rank, std::uint32_t quantity,
                                      std::uint32_t frees) const noexcept {
        // relaxed: one word says both, and what was seen at that count stays true of it.
        std::uint64_t const noted =
            bounds_.get()[(quantity - 1) * std::size_t{rows_} + rank].load(A::relaxed);
        return noted >> 32 == frees ? static_cast<std::uint32_t>(noted) : 0;
    }
    void note_bound(std::uint32_t rank, std::uint32_t quantity, std::uint32_t frees,
                    std::uint64_t cost) noexcept {
        std::uint64_t const average = std::min<std::uint64_t>(cost / quantity, ~0U);
        // relaxed: as in bound(); of several notes any may stay.
        bounds_.get()[(quantity - 1) * std::size_t{rows_} + rank].store(
            std::uint64_t{frees} << 32 | average, A::relaxed);
    }

    /// After each of these the caller looks at the row again, and forgets if it was wrong.
    void mark_closed(std::uint32_t rank) noexcept { mark(rank, 0, less); }
    void mark_none(std::uint32_t rank, std::uint32_t quantity) noexcept {
        mark(rank, none_of(quantity), less);
    }
    /// That look must be an atomic read-modify-write of the hints, with acquire and release.
    void mark_single(std::uint32_t rank, std::uint32_t quantity) noexcept {
        // relaxed: published by the caller's look, like the state.
        any_singles_.store(1, A::relaxed);
        mark(rank, single_of(quantity), single);
    }
    void forget(std::uint32_t rank, Kinds kinds) noexcept {
        // First the bit, then the marks: a mark that is set in between stands with its bit or is
        // taken away, never without its bit. acquire: the marks that belong to the bit; release:
        // as in freed().
        states_[rank].fetch_and(~std::uint32_t{kinds}, A::acq_rel);
        for (std::uint32_t kind = 0; kind < mark_kinds; ++kind) {
            if ((kinds & (kind < single_of(1) ? less : single)) == 0) continue;
            auto& word = marks_[kind * words_ + rank / 64];
            if ((word.load(A::relaxed) & bit(rank)) != 0)  // relaxed: ordered by the RMW above
                word.fetch_and(~bit(rank), A::release);    // release: with the hints set before
        }
    }

    /// A place of the row was freed and its hint is set.
    void freed(std::uint32_t rank) noexcept {
        // release: whoever sees the count, or marks the row after it, sees the hint. acquire: the
        // marks that belong to the bits, though forget() looks for itself.
        std::uint32_t const before = states_[rank].fetch_add(1U << kind_bits, A::acq_rel);
        if ((before & all) != 0) [[unlikely]]
            forget(rank, all);
    }
    /// Whether takers must say so. relaxed: the caller's RMW of the hints, an acquire, came before.
    [[nodiscard]] bool any_singles() const noexcept { return any_singles_.load(A::relaxed) != 0; }
    /// A place of the row was taken and its hint is cleared.
    void taken(std::uint32_t rank) noexcept {
        // relaxed: as any_singles().
        if ((states_.get()[rank].load(A::relaxed) & single) != 0) forget(rank, single);
    }

private:
    static constexpr std::uint32_t kind_bits = 2;
    static constexpr std::uint32_t mark_kinds = 1 + 2 * quantities;
    static constexpr std::uint64_t of_no_count = ~std::uint64_t{0} << 32;
    [[nodiscard]] static constexpr std::uint32_t none_of(std::uint32_t quantity) noexcept {
        return quantity;
    }
    [[nodiscard]] static constexpr std::uint32_t single_of(std::uint32_t quantity) noexcept {
        return quantities + quantity;
    }
    [[nodiscard]] static std::uint64_t bit(std::uint32_t rank) noexcept {
        return std::uint64_t{1} << (rank % 64);
    }
    void mark(std::uint32_t rank, std::uint32_t kind, Kinds of) noexcept {
        marks_[kind * words_ + rank / 64].fetch_or(bit(rank), A::relaxed);  // relaxed: see below
        // release: who sees the bit sees the mark; acquire: the hints of all who freed before.
        states_[rank].fetch_or(of, A::acq_rel);
    }

    std::uint32_t rows_;
    std::uint32_t words_;
    std::unique_ptr<Atomic<std::uint64_t>[]> marks_;   // by kind of mark, then by rank
    std::unique_ptr<Atomic<std::uint32_t>[]> states_;  // by rank
    std::unique_ptr<Atomic<std::uint64_t>[]> bounds_;  // {frees: 32, bound: 32} by quantity, rank
    Atomic<std::uint32_t> any_singles_{0};
};

}  // namespace holdfast::inventory
