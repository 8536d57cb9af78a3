// Freeing: what an end says of the places of its hold, before and after they are free.
//
// Purpose: the counts of frees and of what is free at the most, and the hints. The order of the
//   steps is that of Claims::end and bury: promise, the state in which the hold dies, count_frees,
//   dead, show.
// Thread safety: promise() and count_frees() by any thread that ends the hold or helps; what a
//   stale list makes them count is taken back, or only costs searches a look more. show() by the
//   thread that made the hold dead.
// Cost: a walk along the list each; a read-modify-write a section, a cell and a word of hints.
#pragma once

#include <holdfast/domain/limits.hpp>
#include <holdfast/inventory/places.hpp>

#include <cstdint>

namespace holdfast::inventory {

template <class A>
class Freeing {
public:
    explicit Freeing(Places<A>& places) : places_(places) {}

    [[nodiscard]] static std::uint32_t bounded(std::uint32_t count) noexcept {
        return count < limits::seats_per_claim_max ? count : limits::seats_per_claim_max;
    }

    using Gift = typename FreeCounts<A>::Gift;
    /// Counts the places of a hold that is about to end as free, before it is (free_counts.hpp):
    /// once, by whoever takes it into the state in which it dies. end() does it by itself.
    Gift promise(HoldRef ref) {
        // acquire: payload loads. Of a stale list too little or too much is promised, and taken
        // back when the caller's CAS fails.
        std::uint32_t const count = bounded(places_.slot_of(ref).count.load(A::acquire));
        SeatCursor<A> cursor;
        cursor.start(places_.pool(), ref.slot().value());
        Gift gift;
        for (std::uint32_t i = 0; i < count; ++i) {
            std::uint32_t const place = cursor.next();
            if (place >= places_.count()) break;
            places_.free_counts().add_to(gift, place);
        }
        places_.free_counts().promise(gift);
        return gift;
    }
    /// Before the hold is dead (PROTOCOL.md F1).
    void count_frees(HoldRef ref, std::uint32_t count) {
        SeatCursor<A> cursor;
        cursor.start(places_.pool(), ref.slot().value());
        std::uint32_t section = 0;
        std::uint32_t places = 0;  // of this section, not counted yet
        for (std::uint32_t i = 0; i < count; ++i) {
            std::uint32_t const place = cursor.next();
            if (place >= places_.count()) break;  // stale: the CAS in bury() will fail
            std::uint32_t const its = places_.geometry().section_of(place);
            if (places != 0 && its != section) {
                places_.count_section_free(section, places);
                places = 0;
            }
            section = its;
            ++places;
        }
        if (places != 0) places_.count_section_free(section, places);
        places_.count_event_free(count);
    }
    /// Sets the hints of a dead hold's places, one operation for neighbours that share a word, and
    /// counts those in their cells that were promised without.
    void show(HoldRef ref, std::uint32_t count) {
        Geometry const& geometry = places_.geometry();
        FreeCounts<A>& free_counts = places_.free_counts();
        Gift gift;
        SeatCursor<A> cursor;
        cursor.start(places_.pool(), ref.slot().value());
        std::uint32_t before = 0;
        std::uint64_t bits = 0;  // of the word of `before`, not set yet
        for (std::uint32_t i = 0; i < count; ++i) {
            std::uint32_t const place = cursor.next();
            std::uint32_t const others = gift.others;
            free_counts.add_to(gift, place);
            if (gift.others != others) free_counts.settle(place);
            if (!geometry.for_sale(place)) continue;
            bool const joins = bits != 0 && place / 64 == before / 64 &&
                               (place >= geometry.labelled_count() ||
                                geometry.row_of(place) == geometry.row_of(before));
            if (bits != 0 && !joins) {
                places_.set_hints(before / 64, bits);
                bits = 0;
            }
            bits |= std::uint64_t{1} << (place % 64);
            before = place;
        }
        if (bits != 0) places_.set_hints(before / 64, bits);
        free_counts.settled(gift);
    }

private:
    Places<A>& places_;
};

}  // namespace holdfast::inventory
