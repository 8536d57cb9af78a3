// Guarded: a tiny event on relacy's atomics whose journal notices what is not ordered.
//
// Purpose: what the journal writes of a place and of a hold are plain variables here, so that two
// facts of one place that are not ordered by the protocol are a data race; and a place is claimed
// only after the END of its last hold. Thread safety: relacy's threads.
#pragma once

#include "tests/inventory/venue.hpp"
#include "tests/memory_model/relacy_atomics.hpp"
#include "tests/memory_model/suite.hpp"

#include <array>
#include <iostream>
#include <memory>
#include <ostream>

namespace holdfast::test {

using namespace holdfast::inventory;
using inventory::test::at;
using inventory::test::plain_layout;
using Kind = ClaimOutcome::Kind;

constexpr std::uint32_t places_max = 8;
constexpr std::uint32_t slots_max = 8;
constexpr std::uint32_t generations_max = 8;
constexpr std::uint32_t ids = slots_max * generations_max;

/// A small number for each hold there ever is.
[[nodiscard]] inline std::size_t id_of(HoldRef ref) {
    RL_ASSERT(ref.slot().value() < slots_max);
    RL_ASSERT(ref.generation() < generations_max);
    return ref.slot().value() * generations_max + ref.generation();
}

/// The facts of one place and one hold, as plain variables.
class GuardedFacts {
public:
    GuardedFacts() {
        for (auto& holder : holder_) holder(RL_INFO) = 0;
    }
    bool reserve_claim(std::uint32_t) { return true; }
    void give_back_claim(std::uint32_t) {}
    bool reserve_end() { return true; }
    void give_back_end() {}

    Lsn claim(HoldRef ref, ClaimTerms const&, std::span<SeatIndex const> seats) {
        for (SeatIndex const seat : seats) take(seat, ref);
        claimed_[id_of(ref)](RL_INFO) = 1;
        return Lsn{1};
    }
    /// Its CLAIM comes before it. A second END, by whoever finishes it, may come late.
    Lsn end(HoldRef ref, State) {
        RL_ASSERT(claimed_[id_of(ref)](RL_INFO) == 1);
        ended_[id_of(ref)].store(1, Order::relaxed);
        return Lsn{1};
    }
    /// The list of a hold changes: one EDIT.
    void edit(HoldRef ref, std::span<SeatIndex const> added, std::span<SeatIndex const> dropped) {
        for (SeatIndex const seat : added) take(seat, ref);
        for (SeatIndex const seat : dropped) holder_[seat.value()](RL_INFO) = 0;
    }
    void arm(SlotIndex slot) {
        if (armed) armed(slot);
    }
    std::function<void(SlotIndex)> armed;

private:
    void take(SeatIndex seat, HoldRef ref) {
        unsigned const last = holder_[seat.value()](RL_INFO);
        if (last != 0) RL_ASSERT(ended_[last].load(Order::relaxed) == 1);
        holder_[seat.value()](RL_INFO) = static_cast<unsigned>(id_of(ref));
    }

    rl::var<unsigned> holder_[places_max];
    rl::var<int> claimed_[ids];
    RelacyAtomics::Atomic<int> ended_[ids];
};

using GuardedVenue = inventory::test::VenueOn<RelacyAtomics, GuardedFacts>;

/// A venue and what buyers do in it. As a witness it sees to it that only a claim that lists a
/// place is installed there (I2), and only over a hold that is not live (I3).
struct Guarded : GuardedVenue, Witness {
    Guarded(Layout const& plan, std::uint32_t spare) : GuardedVenue(plan, spare) {
        Witness::present = this;
    }
    ~Guarded() override { Witness::present = nullptr; }

    void stored(void const* cell, std::uint64_t value) override {
        HoldWord const word{value};
        if (word.state() != State::pending) return;
        for (std::uint32_t slot = 1; slot <= places.pool().count(); ++slot) {
            auto const& record = places.pool()[slot];
            if (&record.word != cell) continue;
            std::uint64_t& list = lists_[id_of({word.generation(), SlotIndex{slot}})];
            list = 0;
            std::uint32_t part = slot;
            for (std::uint32_t i = 0; i < ListShape{record.shape.peek()}.count(); ++i) {
                if (i != 0 && i % seats_inline == 0) part = places.pool()[part].more.peek();
                list |= 1U << places.pool()[part].seats[i % seats_inline].peek();
            }
        }
    }
    void exchanged(void const* cell, std::uint64_t before, std::uint64_t after) override {
        for (std::uint32_t place = 0; place < places.count(); ++place) {
            if (&places.owner(place) != cell) continue;
            RL_ASSERT((lists_[id_of(HoldRef{after})] >> place & 1U) != 0);
            HoldRef const last{before};
            if (last == HoldRef{}) return;
            HoldWord const word{places.slot_of(last).word.peek()};
            RL_ASSERT(!names(last, word) || !is_taken(word.state()));
        }
    }

    HoldRef hold(std::vector<std::uint32_t> const& seats, std::int64_t until = 1'000) {
        auto const outcome = take(seats, at(0), at(until));
        RL_ASSERT(outcome.kind == Kind::won);
        return outcome.ref;
    }
    /// As the engine does: whoever loses a place looks after its hint.
    ClaimOutcome claim(std::vector<std::uint32_t> const& seats, std::int64_t now = 1) {
        auto const outcome = take(seats, at(now), at(1'000));
        if (outcome.kind == Kind::lost) claims.unhint(outcome.seat.value());
        return outcome;
    }
    void end(HoldRef ref) {
        for (;;) {
            HoldWord const seen = word(ref);
            if (!names(ref, seen) || seen.state() != State::held) return;
            if (claims.end(ref, seen, State::ending_released).kind == EndOutcome::Kind::ended)
                return;
        }
    }
    bool claim_and_end(std::vector<std::uint32_t> const& seats, std::int64_t now = 1) {
        auto const outcome = claim(seats, now);
        if (outcome.kind == Kind::won) end(outcome.ref);
        return outcome.kind == Kind::won;
    }
    /// Any `count` places; nothing: refused.
    std::optional<HoldRef> buy(std::uint32_t count) {
        for (int race = 0; race < 8; ++race) {
            std::vector<SeatIndex> chosen;
            auto const choice = search.general(SectionIndex{0}, count, {}, at(1), chosen);
            if (choice.kind != Choice::Kind::chosen) return std::nullopt;
            auto const outcome = claims.claim(chosen, {at(1), at(1'000), 7});
            if (outcome.kind == Kind::won) return outcome.ref;
            if (outcome.kind == Kind::lost) claims.unhint(outcome.seat.value());
        }
        return std::nullopt;
    }
    /// When all have stopped: nothing is lost, hidden or told as sold out.
    void at_rest(std::uint32_t free) {
        RL_ASSERT(free_count(at(1)) == free);
        RL_ASSERT(places.free_counts().most([](CellGeometry const&) { return true; }) == free);
        for (std::uint32_t place = 0; place < places.count(); ++place)
            if (is_free(place, at(1))) RL_ASSERT(places.hinted(place));
        if (free == 0) return;
        std::vector<SeatIndex> chosen;
        auto const choice = search.general(SectionIndex{0}, free, {}, at(1), chosen);
        RL_ASSERT(choice.kind == Choice::Kind::chosen);
    }

private:
    std::uint64_t lists_[ids]{};  // of claims, as they were published
};

/// The plan of all suites but those that need more places. Made before any simulation.
inline Layout const& floor_of_two() {
    static Layout const layout = plain_layout(0, 0, 2);
    return layout;
}
inline Layout const& floor_of_seven() {
    static Layout const layout = plain_layout(0, 0, 7);
    return layout;
}

template <class Test>
SuiteOutcome simulate(unsigned executions, bool history) {
    static_cast<void>(floor_of_two());
    static_cast<void>(floor_of_seven());
    std::ostream nowhere(nullptr);
    rl::test_params params;
    params.iteration_count = executions;
    params.output_stream = history ? &std::cout : &nowhere;
    params.progress_stream = &nowhere;
    params.execution_depth_limit = 100'000;
    // Without it relacy runs a faulty execution again, to write its history.
    params.output_history = !history;
    if (rl::simulate<Test>(params)) return {{}, params.stop_iteration};
    return {rl::test_result_str(params.test_result), params.stop_iteration};
}

/// Base of the suites: threads 0, 1, ... of a test that has `house`.
template <class Test, int threads>
struct HouseTest : rl::test_suite<Test, threads> {
    HouseTest() {
        UntracedMemory::use();
        Burst::choose();
    }
    std::unique_ptr<Guarded> house;
    void open(Layout const& plan, std::uint32_t spare) {
        house = std::make_unique<Guarded>(plan, spare);
    }
    void close() { house.reset(); }
};

}  // namespace holdfast::test
