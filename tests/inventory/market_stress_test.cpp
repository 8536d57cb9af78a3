// A small market in which everything happens at once, for ThreadSanitizer: claims by name and by
// search, releases, exchanges, extensions, sales, refunds, the limits of accounts, and the wheel on
// a thread of its own. What the journal writes of a place is a plain variable: two facts of one
// place that the protocol has not put in order are a data race.

#include "tests/inventory/limited_venue.hpp"

#include <holdfast/inventory/search.hpp>
#include <holdfast/timer/wheel.hpp>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

namespace holdfast::inventory::test {
namespace {

using Kind = ClaimOutcome::Kind;

/// No access of these orders two threads but those to the places.
class PlainFacts {
public:
    PlainFacts(std::uint32_t places, timer::Wheel<StdAtomics>& wheel)
        : holder(places), wheel_(wheel) {}
    bool reserve_claim(std::uint32_t) noexcept { return true; }
    void give_back_claim(std::uint32_t) noexcept {}
    Lsn claim(HoldRef ref, ClaimTerms const&, std::span<SeatIndex const> seats) noexcept {
        for (SeatIndex const seat : seats) holder[seat.value()] = ref.bits();
        return next();
    }
    bool reserve_end() noexcept { return true; }
    void give_back_end() noexcept {}
    Lsn end(HoldRef, State) noexcept { return next(); }
    void arm(SlotIndex slot) noexcept { wheel_.arm(slot); }
    /// An EDIT or a CANCEL.
    void change(HoldRef ref, std::span<SeatIndex const> added, std::span<SeatIndex const> dropped) {
        for (SeatIndex const seat : added) holder[seat.value()] = ref.bits();
        for (SeatIndex const seat : dropped) holder[seat.value()] = 0;
    }
    std::vector<HoldRef::Bits> holder;

private:
    Lsn next() noexcept { return Lsn{lsn_.fetch_add(1, std::memory_order_relaxed) + 1}; }
    timer::Wheel<StdAtomics>& wheel_;
    std::atomic<std::uint64_t> lsn_{0};
};

constexpr std::uint64_t accounts = 6;

struct Market {
    Market()
        : layout(plain_layout(3, 8, 6)),
          geometry(layout),
          places(geometry, layout.place_count() + 24),
          wheel(places.pool().count(), 100ms),
          facts(places.count(), wheel),
          users({8, 4, UserRules::no_budget}, 8),
          cool_downs(places.count(), std::chrono::seconds{1}),
          claims(places, facts, {&users, &cool_downs}),
          search(claims, layout, 100ms),
          holds(claims),
          edits(claims, holds) {
        Restore<StdAtomics>(places, {}).finish();
    }
    [[nodiscard]] TimePoint now() const { return at(clock.load(std::memory_order_relaxed)); }
    void tick(TimePoint time) {
        wheel.advance(
            time, [&](SlotIndex slot) { return holds.fire(slot, time, time + 10ms, expired); },
            [&](SlotIndex slot) { return holds.needs_timer(slot); });
        cool_downs.sweep(time);
    }

    Layout layout;
    Geometry geometry;
    Places<StdAtomics> places;
    timer::Wheel<StdAtomics> wheel;
    PlainFacts facts;
    UserLimits<StdAtomics> users;
    CoolDowns<StdAtomics> cool_downs;
    Claims<StdAtomics, PlainFacts> claims;
    Search<StdAtomics, PlainFacts> search;
    Holds<StdAtomics, PlainFacts> holds;
    Edits<StdAtomics, PlainFacts> edits;
    std::atomic<std::int64_t> clock{0};
    std::size_t expired{0};  // of the wheel's thread
};

class Trader {
public:
    Trader(Market& market, std::uint64_t seed) : market_(market), random_(seed) {}

    void run(std::chrono::steady_clock::time_point until) {
        // Some rounds at the least, however slow the machine is.
        for (int round = 0; round < 2'000 || std::chrono::steady_clock::now() < until; ++round) {
            if (mine_.empty() || random_() % 3 == 0)
                claim();
            else
                change(random_() % mine_.size());
        }
        for (HoldRef const ref : mine_) finish(ref);
    }
    std::array<std::uint64_t, 6> done{};  // claims, releases, exchanges, extensions, sales, refunds

private:
    using Edited = std::optional<Edit>;

    void claim() {
        std::vector<SeatIndex> seats;
        TimePoint const now = market_.now();
        auto const dice = random_() % 4;
        if (dice == 0) {
            Wish wish;
            wish.quantity = 1 + static_cast<std::uint32_t>(random_() % 3);
            if (market_.search.best(wish, now, seats).kind != Choice::Kind::chosen) return;
        } else if (dice == 1) {
            auto const choice = market_.search.general(
                SectionIndex{1}, 1 + static_cast<std::uint32_t>(random_() % 3), {}, now, seats);
            if (choice.kind != Choice::Kind::chosen) return;
        } else {
            seats = some_places(1 + random_() % 7);
        }
        std::uint64_t const account = 1 + random_() % accounts;
        auto const ttl = Milliseconds{20 + static_cast<std::int64_t>(random_() % 100)};
        auto const outcome = market_.claims.claim(seats, {now, now + ttl, account});
        if (outcome.kind == Kind::lost) market_.claims.unhint(outcome.seat.value());
        if (outcome.kind != Kind::won) return;
        mine_.push_back(outcome.ref);
        ++done[0];
    }
    std::vector<SeatIndex> some_places(std::size_t count) {
        std::vector<SeatIndex> seats;
        for (; count > 0; --count)
            seats.emplace_back(static_cast<std::uint32_t>(random_() % market_.places.count()));
        std::ranges::sort(seats);
        auto const same = std::ranges::unique(seats);
        seats.erase(same.begin(), same.end());
        return seats;
    }

    void change(std::size_t index) {
        HoldRef const ref = mine_[index];
        switch (random_() % 5) {
            case 0:
                if (extend(ref)) return;
                break;
            case 1:
                if (exchange(ref)) return;
                break;
            case 2:
                if (sell(ref)) return;
                break;
            case 3:
                finish(ref);
                break;
            default:  // walks away from it: the wheel or a newcomer ends it
                if (auto const seen = look(ref); seen && seen->word.state() == State::sold) return;
                break;
        }
        mine_.erase(mine_.begin() + static_cast<std::ptrdiff_t>(index));
    }
    /// A hold of ours that has not ended, in state held or sold.
    std::optional<HoldLook> look(HoldRef ref) {
        auto const look = market_.holds.look(ref, seats_);
        if (!look) return std::nullopt;
        State const state = look->word.state();
        if (state == State::sold) return look;
        if (state != State::held || look->expires_at <= market_.now()) return std::nullopt;
        return look;
    }
    bool extend(HoldRef ref) {
        auto const seen = look(ref);
        if (!seen || seen->word.state() != State::held) return seen.has_value();
        auto const edit = market_.holds.enter(ref, seen->word, State::editing);
        if (!edit) return true;
        market_.holds.leave_extended(*edit, seen->expires_at + 30ms, seen->holder);
        ++done[3];
        return true;
    }
    bool exchange(HoldRef ref) {
        auto const seen = look(ref);
        if (!seen) return false;
        Change change;
        change.lists.resize(1);
        change.lists[0].before = seats_;
        change.lists[0].after = some_places(1 + random_() % 7);
        change.plan();
        auto const edit = market_.holds.enter(ref, seen->word, State::editing);
        if (!edit) return true;
        change.lists[0].edit = *edit;
        auto const outcome =
            market_.edits.prepare(change, {market_.now(), seen->expires_at, seen->holder});
        if (outcome.kind != ChangeOutcome::Kind::ready) {
            market_.holds.leave(*edit, seen->word.state());
            return true;
        }
        market_.facts.change(ref, change.added, change.dropped);
        market_.edits.apply(change, seen->word.state());
        ++done[2];
        return true;
    }
    bool sell(HoldRef ref) {
        auto const seen = look(ref);
        if (!seen || seen->word.state() == State::sold) return seen.has_value();
        auto const edit = market_.holds.enter(ref, seen->word, State::confirming);
        if (!edit) return true;
        market_.holds.leave_sold(*edit, {1, 2});
        ++done[4];
        return true;
    }
    /// Gives back what is held or sold.
    void finish(HoldRef ref) {
        for (auto seen = market_.holds.look(ref, seats_); seen;
             seen = market_.holds.look(ref, seats_)) {
            if (seen->word.state() == State::sold) {
                auto const edit = market_.holds.enter(ref, seen->word, State::editing);
                if (!edit) continue;
                market_.facts.change(ref, {}, seats_);
                market_.holds.leave_dead(*edit);
                ++done[5];
            } else if (is_ending(seen->word.state())) {
                static_cast<void>(market_.claims.finish_end(ref, seen->word, market_.now()));
            } else if (seen->word.state() == State::held) {
                auto const ended =
                    market_.claims.end(ref, seen->word, State::ending_released, market_.now());
                if (ended.kind == EndOutcome::Kind::ended) ++done[1];
            }
        }
    }

    Market& market_;
    std::mt19937_64 random_;
    std::vector<HoldRef> mine_;
    std::vector<SeatIndex> seats_;
};

/// Nothing is held, lost, hidden, counted or remembered as sold out.
void check_conservation(Market& market) {
    TimePoint const now = market.now();
    std::uint32_t slots = 0;
    for (; market.places.pool().pop() != 0; ++slots) {
    }
    CHECK(slots == market.places.pool().count());
    for (std::uint32_t place = 0; place < market.places.count(); ++place) {
        CHECK_FALSE(market.holds.display(place, now).has_value());
        CHECK(market.places.hinted(place));
    }
    auto const any = [](CellGeometry const&) { return true; };
    CHECK(market.places.free_counts().most(any) == market.places.count());
    std::vector<SeatIndex> seats;
    auto const all = market.search.general(SectionIndex{1}, 6, {}, now, seats);
    CHECK(all.kind == Choice::Kind::chosen);
    for (std::uint64_t account = 1; account <= accounts; ++account) {
        auto const counts = market.users.counts(account);
        CHECK(counts.units == 0);
        CHECK(counts.units_in_flight == 0);
        CHECK(counts.open_holds == 0);
        CHECK(counts.open_holds_in_flight == 0);
    }
}

/// HOLDFAST_STRESS_SECONDS=60 is the long run.
TEST_CASE("a market in which everything happens at once loses nothing", "[inventory][stress]") {
    auto const* const seconds = std::getenv("HOLDFAST_STRESS_SECONDS");
    auto const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    auto const until = std::chrono::steady_clock::now() +
                       std::chrono::seconds{seconds != nullptr ? std::atoi(seconds) : 3};
    Market market;
    std::atomic<bool> closed{false};
    std::thread wheel([&] {
        while (!closed.load(std::memory_order_relaxed)) {
            market.tick(at(market.clock.fetch_add(10, std::memory_order_relaxed) + 10));
            std::this_thread::yield();
        }
    });
    std::vector<std::unique_ptr<Trader>> buyers;
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 3; ++i) {
        buyers.push_back(std::make_unique<Trader>(market, seed + i));
        threads.emplace_back([buyer = buyers.back().get(), until] { buyer->run(until); });
    }
    for (auto& thread : threads) thread.join();
    closed.store(true, std::memory_order_relaxed);
    wheel.join();
    for (int ticks = 0; ticks < 100; ++ticks) market.tick(at(market.clock += 10));
    check_conservation(market);
    std::array<std::uint64_t, 6> done{};
    for (auto const& buyer : buyers)
        for (std::size_t i = 0; i < done.size(); ++i) done[i] += buyer->done[i];
    std::cout << "claims, releases, exchanges, extensions, sales, refunds:";
    for (std::uint64_t const count : done) std::cout << ' ' << count;
    std::cout << "; expired by the wheel: " << market.expired << '\n';
    for (std::uint64_t const count : done) CHECK(count > 0);
}

}  // namespace
}  // namespace holdfast::inventory::test
