// What others see, and are told, while a verb is in the middle of its change.

#include "tests/engine/drawn_house.hpp"
#include "tests/engine/sale_fixture.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <latch>
#include <thread>

namespace holdfast::engine::test {
namespace {

/// A thread that runs from within another's change until long after it.
class Beside {
public:
    ~Beside() {
        if (thread_.joinable()) thread_.join();
    }
    /// Returns when the other has begun.
    template <class Work>
    void start(Work work) {
        thread_ = std::thread([this, work] {
            begun_ = true;
            work();
        });
        while (!begun_) std::this_thread::yield();
    }
    void join() { thread_.join(); }

private:
    std::atomic<bool> begun_{false};
    std::thread thread_;
};

/// Those who wait are not meant to give up here.
constexpr EngineOptions patient{.turn_wait = 20s};

/// The change rests for so long between its fact and the places. Whoever has not met it by then
/// shows less, and fails nothing.
void stall(std::chrono::milliseconds length) {
    auto const end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

std::uint32_t state_of(std::vector<std::uint8_t> const& bytes, SeatIndex seat) {
    return bytes[seat.value() / 4] >> (2 * (seat.value() % 4)) & 3U;
}

TEST_CASE("a state that goes with a number has the END of that number", "[engine][state]") {
    SaleFixture sale({}, patient);
    auto const hold = sale.claim({sale.named({"A-1-3", "A-1-4"})});
    REQUIRE(ok(hold));
    Lsn seq{};
    SeatStates states;
    bool settled = false;
    sale.journal.after_append([&] {
        seq = sale.journal.appended_lsn();
        settled = sale.event->seat_states(at(1s), states);
    });
    auto const ended = sale.engine.release(hold->name, at(1s));
    REQUIRE(ok(ended));
    CHECK(seq == *ended);
    CHECK(settled);
    CHECK(state_of(states.seats, sale.seat("A-1-3")) == 0);
    CHECK(state_of(states.seats, sale.seat("A-1-4")) == 0);
}

TEST_CASE("a state that goes with a number has the exchange and the sale of that number",
          "[engine][state]") {
    SaleFixture sale({}, patient);
    auto const hold = sale.claim({sale.named({"A-1-1", "A-1-2"})});
    REQUIRE(ok(hold));
    SeatStates states;
    bool settled = false;
    Beside reader;
    auto const read_beside = [&](Beside& beside) {
        sale.journal.after_append([&] {
            beside.start([&] { settled = sale.event->seat_states(at(1s), states); });
            stall(20ms);
        });
    };
    read_beside(reader);
    std::vector<ClaimLine> const lines{sale.named({"A-1-2", "A-1-3"})};
    REQUIRE(
        ok(sale.engine.exchange({hold->name, lines, false, true, nullptr}, at(1s), sale.seats)));
    reader.join();
    CHECK(settled);
    CHECK(state_of(states.seats, sale.seat("A-1-1")) == 0);
    CHECK(state_of(states.seats, sale.seat("A-1-2")) == 1);
    CHECK(state_of(states.seats, sale.seat("A-1-3")) == 1);
    Beside second;
    read_beside(second);
    REQUIRE(ok(sale.confirm({hold->name}, 1s)));
    second.join();
    CHECK(state_of(states.seats, sale.seat("A-1-2")) == 2);
}

TEST_CASE("who waits too long is told to come again, and no state is made up", "[engine][state]") {
    SaleFixture sale({}, {.turn_wait = 0ms});
    auto const hold = sale.claim({sale.named({"A-1-1"})});
    REQUIRE(ok(hold));
    bool settled = true;
    RefusalCode code{};
    sale.journal.after_append([&] {
        SeatStates states;
        settled = sale.event->seat_states(at(1s), states);
        std::vector<SeatIndex> seats;
        code = sale.engine.read(hold->name, at(1s), seats).error().code;
    });
    REQUIRE(ok(sale.engine.extend(hold->name, 600s, at(1s), sale.seats)));
    CHECK_FALSE(settled);
    CHECK(code == RefusalCode::busy);
    SeatStates states;
    CHECK(sale.event->seat_states(at(1s), states));
}

TEST_CASE("a read and a verb wait for a change of the hold", "[engine]") {
    SaleFixture sale({}, patient);
    auto const hold = sale.claim({sale.named({"A-1-1"})});
    REQUIRE(ok(hold));
    bool read = false;
    bool released = false;
    Beside other;
    sale.journal.after_append([&] {
        other.start([&] {
            std::vector<SeatIndex> seats;
            read = ok(sale.engine.read(hold->name, at(1s), seats));
            released = ok(sale.engine.release(hold->name, at(1s)));
        });
        stall(20ms);
    });
    REQUIRE(ok(sale.engine.extend(hold->name, 600s, at(1s), sale.seats)));
    other.join();
    CHECK(read);
    CHECK(released);
}

TEST_CASE("two orders of the same holds do not wait for each other", "[engine][stress]") {
    for (int round = 0; round < 200; ++round) {
        SaleFixture sale({}, patient);
        std::vector<HoldName> holds;
        for (auto const* const name : {"A-1-1", "A-2-1", "B-10-1"}) {
            auto const hold = sale.claim({sale.named({name})});
            REQUIRE(ok(hold));
            holds.push_back(hold->name);
        }
        std::vector<HoldName> const backwards(holds.rbegin(), holds.rend());
        std::atomic<int> won{0}, confirmed_before{0};
        std::latch start(4);
        std::vector<std::thread> threads;
        for (std::uint64_t i = 0; i < 4; ++i) {
            threads.emplace_back([&, i] {
                start.arrive_and_wait();
                auto const order = sale.confirm(i % 2 == 0 ? holds : backwards, 0ms, {1, 5 + i});
                if (order)
                    ++won;
                else if (order.error().code == RefusalCode::already_confirmed)
                    ++confirmed_before;
            });
        }
        for (auto& each : threads) each.join();
        REQUIRE(won == 1);
        REQUIRE(confirmed_before == 3);
    }
}

TEST_CASE("a seat is no orphan because its neighbours come and go together",
          "[engine][orphans][stress]") {
    // Two and three are taken together or free together: to take one leaves no single seat.
    DrawnHouse house({"aaa"}, OrphanRule::strict, 0);
    ClaimLine const pair = house.line_of({"1-2", "1-3"});
    std::vector<ClaimLine> const one{house.line_of({"1-1"})};
    std::atomic<bool> stop{false};
    std::thread comes_and_goes([&] {
        std::vector<ClaimLine> const lines{pair};
        std::vector<SeatIndex> seats;
        ClaimCommand command;
        command.event = house.event;
        command.lines = lines;
        command.staff = true;
        while (!stop) {
            auto const hold = house.engine.claim(command, at(0ms), seats);
            if (hold) static_cast<void>(house.engine.release(hold->name, at(0ms)));
        }
    });
    int orphans = 0;
    std::vector<SeatIndex> seats;
    for (int i = 0; i < 100'000; ++i) {
        auto const hold = house.engine.claim({house.event, one, 0, {}, false}, at(0ms), seats);
        if (hold) static_cast<void>(house.engine.release(hold->name, at(0ms)));
        orphans += !hold && hold.error().code == RefusalCode::orphan_seat ? 1 : 0;
    }
    stop = true;
    comes_and_goes.join();
    CHECK(orphans == 0);
}

}  // namespace
}  // namespace holdfast::engine::test
