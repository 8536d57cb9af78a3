// Venue: a small event's inventory with a journal that only counts, for tests.
#pragma once

#include <holdfast/inventory/atomics.hpp>
#include <holdfast/inventory/edits.hpp>
#include <holdfast/inventory/restore.hpp>
#include <holdfast/inventory/search.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::inventory::test {

using namespace std::chrono_literals;

inline TimePoint at(std::int64_t ms) {
    return TimePoint{Milliseconds{ms}};
}
inline std::vector<std::uint32_t> numbers(std::vector<SeatIndex> const& seats) {
    std::vector<std::uint32_t> values;
    for (SeatIndex const seat : seats) values.push_back(seat.value());
    return values;
}

/// Counts facts; has room unless told otherwise.
class CountingFacts {
public:
    bool reserve_claim(std::uint32_t) noexcept { return room.load(); }
    void give_back_claim(std::uint32_t) noexcept { ++given_back; }
    Lsn claim(HoldRef, ClaimTerms const&, std::span<SeatIndex const>) noexcept {
        ++claims;
        return Lsn{++lsn};
    }
    bool reserve_end() noexcept { return room.load(); }
    void give_back_end() noexcept { ++given_back; }
    Lsn end(HoldRef, State cause) noexcept {
        ++ends;
        last_cause = cause;
        return Lsn{++lsn};
    }
    void edit(Change const&) noexcept { ++lsn; }
    void arm(SlotIndex) noexcept { ++arms; }

    std::atomic<bool> room{true};
    std::atomic<std::uint64_t> lsn{0}, claims{0}, ends{0}, arms{0}, given_back{0};
    std::atomic<State> last_cause{State::dead};
};

/// `rows` rows of `seats` seats in section "A", one unit apart, focal point above the middle of the
/// first row; then, if wanted, a general-admission section "GA".
inline Layout plain_layout(std::uint32_t rows, std::uint32_t seats, std::uint32_t general = 0) {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    builder.set_focal({static_cast<double>(seats - 1) / 2, -1});
    Section section;
    section.id = "A";
    if (rows > 0) builder.add_section(section);
    for (std::uint32_t row = 1; row <= rows; ++row) {
        builder.add_row(std::to_string(row));
        for (std::uint32_t seat = 1; seat <= seats; ++seat) {
            std::string const label = std::to_string(seat);
            std::string const name = "A-" + std::to_string(row) + "-" + label;
            builder.add_seat({name, label, {{static_cast<double>(seat - 1), row * 1.0}, {}, 0}});
        }
    }
    if (general > 0) {
        Section floor;
        floor.id = "GA";
        floor.general = true;
        floor.capacity = general;
        builder.add_general(floor);
    }
    auto layout = std::move(builder).build();
    return std::move(*layout);
}

template <class A, class F = CountingFacts>
struct VenueOn {
    using Policy = A;

    explicit VenueOn(Layout plan, std::uint32_t spare = 256)
        : layout(std::move(plan)),
          geometry(layout),
          places(geometry, layout.place_count() + spare),
          claims(places, facts),
          search(claims, layout, 30s),
          holds(claims),
          edits(claims, holds) {
        Restore<A>(places, {}).finish();
    }

    ClaimOutcome take(std::vector<std::uint32_t> const& seats, TimePoint now = at(0),
                      TimePoint until = at(1'000)) {
        std::vector<SeatIndex> indices;
        for (std::uint32_t const seat : seats) indices.push_back(SeatIndex{seat});
        return claims.claim(indices, {now, until, 7});
    }
    HoldWord word(HoldRef ref) { return HoldWord{places.slot_of(ref).word.load(A::acquire)}; }
    EndOutcome release(HoldRef ref) { return claims.end(ref, word(ref), State::ending_released); }
    bool is_free(std::uint32_t seat, TimePoint now = at(0)) {
        return !holds.display(seat, now).has_value();
    }
    std::uint32_t free_count(TimePoint now = at(0)) {
        std::uint32_t free = 0;
        for (std::uint32_t place = 0; place < places.count(); ++place)
            free += is_free(place, now) ? 1 : 0;
        return free;
    }
    /// Slots that are not on the free list now (walks it by popping and pushing back).
    std::uint32_t slots_in_use() {
        std::vector<std::uint32_t> popped;
        while (std::uint32_t const slot = places.pool().pop()) popped.push_back(slot);
        // In reverse, so that the list is as it was.
        for (auto slot = popped.rbegin(); slot != popped.rend(); ++slot) places.pool().push(*slot);
        return places.pool().count() - static_cast<std::uint32_t>(popped.size());
    }

    Layout layout;
    Geometry geometry;
    Places<A> places;
    F facts;
    Claims<A, F> claims;
    Search<A, F> search;
    Holds<A, F> holds;
    Edits<A, F> edits;
};

using Venue = VenueOn<StdAtomics>;

}  // namespace holdfast::inventory::test
