// Free counts: how many places of each kind are free at the most.
//
// Purpose: proves "fewer than N are left" without a look at the places, however many come and go
//   meanwhile, and tells how many are left by now beside a refusal that was kept. One count a cell
//   (geometry.hpp), so that each wish has its own sum (free_sums.hpp).
// Thread safety: every function by any thread.
// Invariants: a count is never less than the free places of its cell, and at rest it is just that.
//   So an end counts its places before its hold can be dead (in fact before it is ending, and takes
//   them back if another thread was faster), and a claim only once it has won.
// Cost: one atomic read-modify-write a claim or end and cell; a line of its own a cell, because
//   claims in different parts of a house meet nowhere else.
//
// An end that frees places of several cells says at once how many those behind the first cell's
//   are, adrift, in no cell yet; who makes the hold dead, and so has its list to himself, moves
//   them to theirs. Until then every sum has all of them: too many, never too few.
//
// Who keeps a sum asks to be told of changes: the mark is {turns: 63, watched: 1}, and whoever has
//   changed a count while somebody watches turns it on. The watcher marks first and then reads the
//   counts by read-modify-writes: a change that one of them misses comes after it, and so sees the
//   mark. While nobody watches, a change costs a look at a word that nobody writes.
#pragma once

#include <holdfast/inventory/geometry.hpp>
#include <holdfast/inventory/list_shape.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace holdfast::inventory {

template <class A>
class FreeCounts {
public:
    template <class T>
    using Atomic = typename A::template Atomic<T>;

    explicit FreeCounts(Geometry const& geometry)
        : geometry_(geometry), cells_(std::make_unique<Count[]>(geometry.cells().size())) {
        std::size_t index = 0;
        for (CellGeometry const& cell : geometry.cells()) {
            Count& count = cells_[index++];
            count.for_sale = cell.for_sale;
            count.value.store(cell.for_sale ? cell.places : 0, A::relaxed);  // not shared yet
        }
    }

    /// What an end is about to give: the places of the cell that its list begins with, and others.
    struct Gift {
        std::uint32_t cell{}, places{}, others{};
    };
    /// One place more of an ascending list.
    void add_to(Gift& gift, std::uint32_t place) const noexcept {
        std::uint32_t const cell = geometry_.cell_of(place);
        if (gift.places == 0) gift.cell = cell;
        ++(cell == gift.cell && gift.others == 0 ? gift.places : gift.others);
    }

    // release, and acquire in most(): who sees that a claim has taken from one cell sees what its
    // thread freed in another before, here and in the counter of frees, which is read again behind
    // the counts. So no sum misses a place that was freed before another was taken.

    /// Before the hold can be dead.
    void promise(Gift const& gift) noexcept {
        if (gift.places != 0) add(gift.cell, gift.places);
        if (gift.others != 0) drift(gift.others);
    }
    /// Another thread has ended the hold, or it has changed.
    void take_back(Gift const& gift) noexcept {
        if (gift.places != 0) add(gift.cell, 0U - gift.places);
        if (gift.others != 0) drift(0U - gift.others);
    }
    /// The hold is dead and the caller made it so: each of the `others` goes to its cell, and then
    /// they are adrift no longer.
    void settle(std::uint32_t place) noexcept { add(geometry_.cell_of(place), 1); }
    void settled(Gift const& gift) noexcept {
        if (gift.others != 0) drift(0U - gift.others);
    }
    /// A claim has won these, ascending.
    void take(ListShape shape, std::span<SeatIndex const> seats) noexcept {
        if (shape.one_cell()) return add(shape.cell(), 0U - shape.count());
        for (std::size_t i = 0; i < seats.size();) {
            std::uint32_t const cell = geometry_.cell_of(seats[i].value());
            std::uint32_t places = 0;
            for (; i < seats.size() && geometry_.cell_of(seats[i].value()) == cell; ++i) ++places;
            add(cell, 0U - places);
        }
    }

    /// The places at most of all cells for which `wanted(cell)`, a CellGeometry.
    template <class Wanted>
    [[nodiscard]] std::uint32_t most(Wanted wanted) const noexcept {
        std::uint32_t const places = adrift_.load(A::acquire);  // acquire: pairs with settled()
        return places + sum(wanted, [](Count& count) { return count.value.load(A::acquire); });
    }

    /// While this is the same and watched, so are all sums read since watch() answered it.
    [[nodiscard]] std::uint64_t mark() const noexcept {
        // acquire: who sees what a change led to comes after its turn of the mark.
        return mark_.load(A::acquire);
    }
    static constexpr std::uint64_t watched = 1;
    /// From now on every change turns the mark on from what this answers.
    [[nodiscard]] std::uint64_t watch() noexcept {
        return mark_.fetch_or(watched, A::acq_rel) | watched;  // release: see the sum
    }
    /// most(), of which no change is missed that does not turn the mark on.
    template <class Wanted>
    [[nodiscard]] std::uint32_t most_watched(Wanted wanted) noexcept {
        // acq_rel: as loads are acquire; release: a change that comes after it sees the mark.
        std::uint32_t const places = adrift_.fetch_add(0, A::acq_rel);
        return places +
               sum(wanted, [](Count& count) { return count.value.fetch_add(0, A::acq_rel); });
    }

    /// For witnesses: one cell's count, and what is adrift.
    [[nodiscard]] Atomic<std::uint32_t> const& of_cell(std::size_t cell) const noexcept {
        return cells_.get()[cell].value;
    }
    [[nodiscard]] Atomic<std::uint32_t> const& adrift() const noexcept { return adrift_; }

private:
    struct alignas(64) Count {
        Atomic<std::uint32_t> value{0};
        bool for_sale{};
    };
    template <class Wanted, class Read>
    [[nodiscard]] std::uint32_t sum(Wanted const& wanted, Read read) const noexcept {
        std::uint32_t places = 0;
        for (std::size_t index = 0; CellGeometry const& cell : geometry_.cells()) {
            if (wanted(cell)) places += read(cells_.get()[index]);
            ++index;
        }
        return places;
    }
    void add(std::uint32_t cell, std::uint32_t places) noexcept {
        // Of places that are not for sale nobody asks, though staff may hold them.
        Count& count = cells_.get()[cell];
        if (!count.for_sale) return;
        count.value.fetch_add(places, A::acq_rel);  // acquire: a watcher that came before
        tell();
    }
    void drift(std::uint32_t places) noexcept {
        // release: who sees them no longer adrift sees them in their cells. acquire: as in add().
        adrift_.fetch_add(places, A::acq_rel);
        tell();
    }
    /// After a change: turns the mark on if anybody watches.
    void tell() noexcept {
        // relaxed: the change was an acquire. If the CAS fails somebody else has turned it on.
        std::uint64_t mark = mark_.load(A::relaxed);
        if ((mark & watched) != 0) [[unlikely]]
            mark_.compare_exchange_strong(mark, mark + 1, A::release, A::relaxed);
    }

    Geometry const& geometry_;
    std::unique_ptr<Count[]> cells_;
    Atomic<std::uint64_t> mark_{0};  // beside what every change reads
    alignas(64) Atomic<std::uint32_t> adrift_{0};
};

}  // namespace holdfast::inventory
