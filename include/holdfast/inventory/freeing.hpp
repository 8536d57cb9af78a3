// Freeing: what an end says of the places of its hold, before and after they are free.
//
// Purpose: the counts of frees and of what is free at the most, and the hints. The order of the
//   steps is that of Ends::end and bury: promise, the state in which the hold dies, count_frees,
//   dead, show.
// Thread safety: promise() and count_frees() by any thread that ends the hold or helps; what a
//   stale list makes them count is taken back, or only costs searches a look more. show() by the
//   thread that made the hold dead.
// Cost: a read-modify-write a section, a cell and a word of hints. One walk along the list, for the
//   hints; two more if it has places of several cells (list_shape.hpp).
#pragma once

#include <holdfast/inventory/list_shape.hpp>
#include <holdfast/inventory/places.hpp>

#include <cstdint>

namespace holdfast::inventory {

template <class A>
class Freeing {
public:
    explicit Freeing(Places<A>& places) : places_(places) {}

    using Gift = typename FreeCounts<A>::Gift;
    /// Counts the places of a hold that is about to end as free, before it is (free_counts.hpp):
    /// once, by whoever takes it into the state in which it dies. end() does it by itself.
    Gift promise(HoldRef ref) {
        // acquire: payload load. Of a stale list too little or too much is promised, and taken
        // back when the caller's CAS fails.
        ListShape const shape{places_.slot_of(ref).shape.load(A::acquire)};
        Gift gift;
        if (shape.one_cell())
            gift = {shape.cell(), shape.count(), 0};
        else
            walk(ref, shape, [&](auto place) { places_.free_counts().add_to(gift, place); });
        places_.free_counts().promise(gift);
        return gift;
    }
    /// Before the hold is dead (PROTOCOL.md F1).
    void count_frees(HoldRef ref, ListShape shape) {
        Geometry const& geometry = places_.geometry();
        if (shape.one_cell()) {
            places_.count_section_free(geometry.section_of_cell(shape.cell()), shape.count());
        } else {
            std::uint32_t section = 0;
            std::uint32_t places = 0;  // of this section, not counted yet
            walk(ref, shape, [&](std::uint32_t place) {
                std::uint32_t const its = geometry.section_of(place);
                if (places != 0 && its != section) {
                    places_.count_section_free(section, places);
                    places = 0;
                }
                section = its;
                ++places;
            });
            if (places != 0) places_.count_section_free(section, places);
        }
        places_.count_event_free(shape.count());
    }
    /// Sets the hints of a dead hold's places, and counts those in their cells that were promised
    /// without.
    void show(HoldRef ref, ListShape shape) {
        Geometry const& geometry = places_.geometry();
        Hints hints(places_);
        if (shape.one_cell()) {
            if (!geometry.cells().data()[shape.cell()].for_sale) return;
            walk(ref, shape, [&](std::uint32_t place) { hints.add(place); });
            return hints.set();
        }
        FreeCounts<A>& free_counts = places_.free_counts();
        Gift gift;
        walk(ref, shape, [&](std::uint32_t place) {
            std::uint32_t const others = gift.others;
            free_counts.add_to(gift, place);
            if (gift.others != others) free_counts.settle(place);
            if (geometry.for_sale(place)) hints.add(place);
        });
        hints.set();
        free_counts.settled(gift);
    }

private:
    /// Hints to be set: one operation for neighbours that share a word.
    class Hints {
    public:
        explicit Hints(Places<A>& places) : places_(places), geometry_(places.geometry()) {}
        void add(std::uint32_t place) {
            bool const joins = bits_ != 0 && place / 64 == last_ / 64 &&
                               (place >= geometry_.labelled_count() ||
                                geometry_.row_of(place) == geometry_.row_of(last_));
            if (!joins) set();
            bits_ |= std::uint64_t{1} << (place % 64);
            last_ = place;
        }
        void set() {
            if (bits_ != 0) places_.set_hints(last_ / 64, bits_);
            bits_ = 0;
        }

    private:
        Places<A>& places_;
        Geometry const& geometry_;
        std::uint32_t last_{};
        std::uint64_t bits_{};  // of its word
    };

    /// The places of a list. Of a stale one maybe fewer, or others.
    template <class Visit>
    void walk(HoldRef ref, ListShape shape, Visit visit) {
        SeatCursor<A> cursor;
        cursor.start(places_.pool(), ref.slot().value());
        for (std::uint32_t i = 0; i < shape.count(); ++i) {
            std::uint32_t const place = cursor.next();
            if (place >= places_.count()) return;
            visit(place);
        }
    }

    Places<A>& places_;
};

}  // namespace holdfast::inventory
