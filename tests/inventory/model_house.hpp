// ModelHouse: a tiny event on stepped atomics with a witness, for the model tests.
//
// Purpose: the witness looks at the raw state between any two accesses. It judges what nobody may
// see inside (a place with two owners, a generation that goes back) and keeps, for every call under
// way, what was true at some instant of it, so that a refusal can be judged: the place it names was
// taken and not past its deadline (PROTOCOL.md I5), fewer than N places were free (I6).
#pragma once

#include "tests/inventory/venue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/interleave.hpp"

#include <holdfast/inventory/candidates.hpp>
#include <holdfast/timer/wheel.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace holdfast::inventory::test {

using holdfast::test::Explorer;
using holdfast::test::SteppedAtomics;
using Actors = Explorer::Actors;
using Kind = ClaimOutcome::Kind;

/// Facts in the order of their LSNs, and the wheel if the house has one.
class LedgerFacts : public CountingFacts {
public:
    struct Entry {
        HoldRef ref;
        std::vector<SeatIndex> seats;  // of a CLAIM; none: an END
        std::vector<std::pair<HoldRef, std::vector<SeatIndex>>> lists{};  // of an EDIT: what is now
    };
    Lsn claim(HoldRef ref, ClaimTerms const& terms, std::span<SeatIndex const> seats) {
        entries.push_back({ref, {seats.begin(), seats.end()}});
        return CountingFacts::claim(ref, terms, seats);
    }
    Lsn end(HoldRef ref, State cause) {
        entries.push_back({ref, {}});
        return CountingFacts::end(ref, cause);
    }
    void edit(Change const& change) {
        entries.push_back({});
        for (ListChange const& list : change.lists)
            entries.back().lists.emplace_back(list.edit.ref, list.after);
        CountingFacts::edit(change);
    }
    void arm(SlotIndex slot) {
        CountingFacts::arm(slot);
        if (wheel) wheel->arm(slot);
    }

    std::vector<Entry> entries;
    std::optional<timer::Wheel<SteppedAtomics>> wheel;
};

class ModelHouse : public VenueOn<SteppedAtomics, LedgerFacts> {
public:
    /// `slots` in all; a tiny pool forces reuse.
    ModelHouse(Layout const& plan, std::uint32_t slots)
        : VenueOn(plan, slots - plan.place_count()), generations_(std::size_t{slots} + 1) {}

    /// The first finding; empty: none.
    std::string finding;
    void fail(std::string const& why) {
        if (finding.empty()) finding = why;
    }
    void expect(bool good, char const* why) {
        if (!good) fail(why);
    }

    /// A claim whose refusal is judged.
    ClaimOutcome claim_judged(std::vector<std::uint32_t> const& seats, TimePoint now,
                              TimePoint until) {
        Call call(*this, now);
        auto const outcome = take(seats, now, until);
        if (outcome.kind == Kind::lost && (call.taken >> outcome.seat.value() & 1U) == 0)
            fail("refused by a place that was not taken during the call");
        return outcome;
    }
    /// Any `count` places of section `general`, or of the rows if there is none, as the engine
    /// sells them: choose, claim, unhint what was lost, again. Nothing: refused, and judged.
    std::optional<HoldRef> buy_any(std::uint32_t count, TimePoint now, TimePoint until) {
        Call call(*this, now);
        for (int race = 0; race < 8; ++race) {
            std::vector<SeatIndex> chosen;
            Choice const choice = choose_any(count, now, chosen);
            if (choice.kind == Choice::Kind::sold_out) {
                if (call.free_min >= count) fail("sold out although there were enough places");
                return std::nullopt;
            }
            if (choice.kind != Choice::Kind::chosen) break;
            auto const outcome = claims.claim(chosen, {now, until, 7});
            if (outcome.kind == Kind::won) return outcome.ref;
            if (outcome.kind != Kind::lost) break;
            claims.unhint(outcome.seat.value());
        }
        fail("a search does not come to an end");
        return std::nullopt;
    }
    /// One of the candidates, which are all places; those from `denied` on are free, and not for
    /// this caller. Chosen, claimed, chosen again where that is lost. Nothing: refused, and judged.
    std::optional<HoldRef> buy_candidate(std::vector<SeatIndex> const& candidates, TimePoint now,
                                         TimePoint until, std::uint32_t denied = 64) {
        Call call(*this, now);
        Candidates walk(claims);
        for (int race = 0; race < 8; ++race) {
            std::vector<SeatIndex> chosen;
            auto const outcome = walk.choose(
                candidates, 1, now, [denied](SeatIndex seat) { return seat.value() >= denied; },
                chosen);
            if (outcome.kind == CandidatesOutcome::Kind::passed_over) {
                std::uint32_t const others = places.geometry().place_count() - denied;
                if (call.free_min > others) fail("refused although one that it may have was free");
                return std::nullopt;
            }
            if (outcome.kind == CandidatesOutcome::Kind::taken) {
                if (call.free_min >= 1) fail("refused although one of the candidates was free");
                if ((call.taken >> outcome.seat.value() & 1U) == 0)
                    fail("refused by a candidate that was not taken during the call");
                return std::nullopt;
            }
            if (outcome.kind != CandidatesOutcome::Kind::chosen) break;
            auto const claimed = claims.claim(chosen, {now, until, 7});
            if (claimed.kind == Kind::won) return claimed.ref;
        }
        fail("a walk along candidates does not come to an end");
        return std::nullopt;
    }
    Choice choose_any(std::uint32_t count, TimePoint now, std::vector<SeatIndex>& chosen) {
        bool const seated = places.geometry().section_count() == 1 && layout.labelled_count() > 0;
        if (!seated) return search.general(SectionIndex{0}, count, {}, now, chosen);
        Wish wish;
        wish.quantity = count;
        wish.together = true;
        return search.best(wish, now, chosen);
    }

    /// Between two accesses.
    void witness() {
        std::uint32_t free = 0;
        for (std::uint32_t place = 0; place < places.count(); ++place)
            free += witness_place(place) ? 0 : 1;
        std::uint32_t counted_free = places.free_counts().adrift().peek();
        for (std::size_t cell = 0; cell < geometry.cells().size(); ++cell)
            counted_free += counted(cell);
        if (counted_free < free) fail("more places are free than are counted");
        for (std::uint32_t slot = 1; slot <= places.pool().count(); ++slot) witness_slot(slot);
        for (Call* const call : calls_) call->witness(*this);
    }

    /// When nobody is at work: hints of all free places are set, no slot is lost or twice in the
    /// pool, the journal tells the same as the memory, and a search finds what is free.
    void at_rest(TimePoint now) {
        for (std::uint32_t place = 0; place < places.count(); ++place) {
            if (!live(place) && !places.hinted(place)) fail("a free place has no hint");
        }
        for (RowGeometry const& row : geometry.rows()) {
            bool const open = (places.open_rows(row.rank / 64) >> (row.rank % 64) & 1U) != 0;
            for (std::uint32_t seat = row.first; seat < row.first + row.count; ++seat)
                if (places.hinted(seat) && !open) fail("a row with a hint is not open");
        }
        books_at_rest();
        std::uint32_t const free = free_at(now);
        std::vector<SeatIndex> chosen;
        if (free > 0 && choose_any(1, now, chosen).kind != Choice::Kind::chosen)
            fail("a search at rest misses a free place");
    }
    /// The same without hints and searches.
    void books_at_rest() {
        for (std::size_t cell = 0; cell < geometry.cells().size(); ++cell)
            if (counted(cell) != free_in(cell)) fail("at rest a count is not what is free");
        if (places.free_counts().adrift().peek() != 0) fail("at rest places are adrift");
        check_pool();
        check_journal();
    }
    [[nodiscard]] std::uint32_t free_at(TimePoint now) {
        std::uint32_t free = 0;
        for (std::uint32_t place = 0; place < places.count(); ++place)
            free += taken(place, now) ? 0 : 1;
        return free;
    }
    /// The live hold of a place, if any.
    [[nodiscard]] std::optional<HoldRef> live(std::uint32_t place) {
        HoldRef const ref{places.owner(place).peek()};
        HoldWord const word{ref == HoldRef{} ? 0 : places.slot_of(ref).word.peek()};
        if (inventory::is_free(ref, word) || !is_taken(word.state())) return std::nullopt;
        return ref;
    }
    /// Taken and not past its deadline: what a refusal at `now` may name.
    [[nodiscard]] bool taken(std::uint32_t place, TimePoint now) {
        auto const ref = live(place);
        if (!ref) return false;
        HoldWord const word{places.slot_of(*ref).word.peek()};
        bool const may_expire = word.state() == State::held || is_ending(word.state());
        return !may_expire || places.slot_of(*ref).expires_at.peek() > to_ms(now);
    }

private:
    /// A call under way.
    struct Call {
        Call(ModelHouse& house, TimePoint time)
            : home(house), now(time), free_min(house.places.count()) {
            home.calls_.push_back(this);
            witness(home);
        }
        Call(Call const&) = delete;
        Call& operator=(Call const&) = delete;
        ~Call() { std::erase(home.calls_, this); }
        void witness(ModelHouse& house) {
            std::uint32_t free = 0;
            for (std::uint32_t place = 0; place < house.places.count(); ++place) {
                bool const is_taken_now = house.taken(place, now);
                if (is_taken_now) taken |= std::uint64_t{1} << place;
                free += is_taken_now ? 0 : 1;
            }
            free_min = std::min(free_min, free);
        }
        ModelHouse& home;
        TimePoint now;
        std::uint32_t free_min;
        std::uint64_t taken{0};  // at some instant of the call
    };

    [[nodiscard]] std::uint32_t counted(std::size_t cell) const {
        return places.free_counts().of_cell(cell).peek();
    }
    [[nodiscard]] std::uint32_t free_in(std::size_t cell) {
        std::uint32_t free = 0;
        for (std::uint32_t place = 0; place < places.count(); ++place)
            free += geometry.cell_of(place) == cell && !live(place) ? 1 : 0;
        return free;
    }

    /// Whether it is taken. I2: who owns a place has it in its list. An edit moves places one by
    /// one.
    bool witness_place(std::uint32_t place) {
        auto const ref = live(place);
        if (!ref) return false;
        auto& slot = places.slot_of(*ref);
        if (HoldWord{slot.word.peek()}.state() == State::editing) return true;
        std::uint32_t record = ref->slot().value();
        for (std::uint32_t i = 0; i < ListShape{slot.shape.peek()}.count(); ++i) {
            if (i != 0 && i % seats_inline == 0) record = places.pool()[record].more.peek();
            if (places.pool()[record].seats[i % seats_inline].peek() == place) return true;
        }
        fail("a place is owned by a live hold that does not list it");
        return true;
    }
    /// I11: neither the generation nor, while the hold lives, the version goes back.
    void witness_slot(std::uint32_t slot) {
        HoldWord const word{places.pool()[slot].word.peek()};
        HoldWord& last = generations_[slot];
        if (word.generation() < last.generation()) fail("a generation went back");
        bool const both_live = is_taken(word.state()) && is_taken(last.state());
        if (word.generation() == last.generation() && both_live && word.x() < last.x())
            fail("a version went back");
        last = word;
    }
    void check_pool() {
        std::vector<bool> seen(std::size_t{places.pool().count()} + 1);
        std::vector<std::uint32_t> popped;
        while (std::uint32_t const slot = places.pool().pop()) {
            if (seen[slot]) return fail("a slot is twice in the pool");
            seen[slot] = true;
            popped.push_back(slot);
        }
        for (auto slot = popped.rbegin(); slot != popped.rend(); ++slot) places.pool().push(*slot);
        std::uint32_t in_use = 0;
        std::set<HoldRef::Bits> counted;
        for (std::uint32_t place = 0; place < places.count(); ++place) {
            auto const ref = live(place);
            if (!ref || !counted.insert(ref->bits()).second) continue;
            ListShape const shape{places.slot_of(*ref).shape.peek()};
            in_use += (shape.count() + seats_inline - 1) / seats_inline;
            if (seen[ref->slot().value()]) fail("the slot of a live hold is in the pool");
        }
        if (popped.size() + in_use != places.pool().count()) fail("a slot is lost");
    }
    /// I4 and I14: CLAIM, EDIT and END alternate for each place, and replay gives what the memory
    /// has.
    void check_journal() {
        std::map<std::uint32_t, HoldRef> owners;
        std::set<HoldRef::Bits> claimed;
        for (auto const& entry : facts.entries) {
            if (!entry.lists.empty()) {
                replay_edit(entry, owners);
                continue;
            }
            if (entry.seats.empty()) {
                if (!claimed.contains(entry.ref.bits())) fail("an END without a CLAIM before it");
                std::erase_if(owners, [&](auto const& owned) { return owned.second == entry.ref; });
                continue;
            }
            if (!claimed.insert(entry.ref.bits()).second) fail("two CLAIMs of one hold");
            for (SeatIndex const seat : entry.seats) {
                if (owners.contains(seat.value())) fail("a CLAIM of a place that is not free");
                owners[seat.value()] = entry.ref;
            }
        }
        for (std::uint32_t place = 0; place < places.count(); ++place) {
            auto const ref = live(place);
            auto const replayed = owners.find(place);
            bool const same = ref ? replayed != owners.end() && replayed->second == *ref
                                  : replayed == owners.end();
            if (!same) fail("replay of the journal differs from the memory");
        }
    }

    void replay_edit(LedgerFacts::Entry const& entry, std::map<std::uint32_t, HoldRef>& owners) {
        for (auto const& [ref, seats] : entry.lists) {
            std::size_t const had = std::erase_if(
                owners, [ref = ref](auto const& owned) { return owned.second == ref; });
            if (had == 0) fail("an EDIT of a hold that is not live");
        }
        for (auto const& [ref, seats] : entry.lists) {
            for (SeatIndex const seat : seats)
                if (!owners.emplace(seat.value(), ref).second)
                    fail("an EDIT to a place that is not free");
        }
    }

    std::vector<HoldWord> generations_;
    std::vector<Call*> calls_;
};

/// One configuration: what it starts from, who acts, what must be true afterwards.
struct Scenario {
    char const* name{};
    int preemptions{2};
    Layout plan = plain_layout(1, 2);
    std::uint32_t slots{8};
    std::function<Actors(ModelHouse&)> prepare{};
    std::function<void(ModelHouse&)> check{};
};

/// Explores a scenario, with more than two preemptions only at the size of the commit gate and
/// against planted bugs.
inline void explore(Scenario const& scenario) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    std::cout << "skipped under this sanitizer: " << scenario.name << '\n';
#else
#ifdef HOLDFAST_PLANTED
    bool const full = true;
#else
    bool const full = std::getenv("HOLDFAST_CI") != nullptr;
#endif
    Explorer explorer(
        holdfast::test::deepened(full ? scenario.preemptions : std::min(scenario.preemptions, 2)));
    std::unique_ptr<ModelHouse> house;
    auto const prepare = [&] {
        house = std::make_unique<ModelHouse>(scenario.plan, scenario.slots);
        return scenario.prepare(*house);
    };
    auto const check = [&] {
        scenario.check(*house);
        if (!house->finding.empty()) explorer.fail(house->finding);
        return house->finding.empty();
    };
    auto const watch = [&] {
        house->witness();
        if (!house->finding.empty()) explorer.fail(house->finding);
    };
    static_cast<void>(explorer.explore(prepare, check, watch));
    std::cout << scenario.name << ": " << explorer.schedules << " schedules";
    if (!explorer.failure.empty()) std::cout << "; " << explorer.failure;
    std::cout << std::endl;
    CHECK(explorer.failure.empty());
#endif
}

}  // namespace holdfast::inventory::test
