// Many threads that ask for the best available at one time (cases/bugs.md 73).

#include "tests/engine/wide_sale.hpp"

#include <algorithm>
#include <barrier>
#include <catch2/catch.hpp>
#include <mutex>
#include <set>
#include <thread>

namespace holdfast::engine::test {
namespace {

/// What a crowd got and was told.
struct Outcome {
    std::vector<std::vector<SeatIndex>> holds;
    std::vector<Refusal> refusals;
    std::set<SeatIndex> places;  // of all holds
    bool collided{};
};

/// `calls` claims of `line_of(call)` by `crowd` threads that start at one instant.
template <class LineOf>
Outcome ask(Engine& engine, LiveEvent* event, int crowd, int calls, LineOf line_of) {
    Outcome all;
    std::mutex mutex;
    std::barrier start(crowd);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < crowd; ++thread) {
        threads.emplace_back([&, thread] {
            start.arrive_and_wait();
            for (int call = thread; call < calls; call += crowd) {
                std::vector<ClaimLine> const lines{line_of(call)};
                std::vector<SeatIndex> seats;
                auto const hold = engine.claim({event, lines, 0, {}, false}, at(0ms), seats);
                std::scoped_lock const lock(mutex);
                if (!hold) {
                    all.refusals.push_back(hold.error());
                    continue;
                }
                for (SeatIndex const seat : seats)
                    if (!all.places.insert(seat).second) all.collided = true;
                all.holds.push_back(seats);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    return all;
}

TEST_CASE("500 parallel calls for two of 1,000 seats all get seats of their own", "[engine][73]") {
    for (int round = 0; round < 20; ++round) {
        WideSale sale(10);
        auto const all =
            ask(sale.engine, sale.event, 16, 500, [](int) { return SaleFixture::best(2); });
        REQUIRE(all.refusals.empty());
        REQUIRE_FALSE(all.collided);
        REQUIRE(all.places.size() == 1'000);
        // A row of 100 has 49 seats on either side of its middle pair, so at the end of the sale
        // few of them are left single; most buyers sit together.
        auto const apart = std::ranges::count_if(all.holds, [](auto const& seats) {
            return seats.size() != 2 || seats[1].value() != seats[0].value() + 1;
        });
        REQUIRE(apart <= 50);
        REQUIRE(sale.journal.reserved() == 0);
    }
}

TEST_CASE("a crowd sells a house out to the last seat, and is told nothing wrong", "[engine][73]") {
    for (int round = 0; round < 10; ++round) {
        SaleFixture sale;  // 14 seats of one price, 4 of another, 2 accessible, 10 on the floor
        auto const all = ask(sale.engine, sale.event, 8, 64, [](int call) {
            return SaleFixture::best(1 + static_cast<std::uint32_t>(call % 4));
        });
        REQUIRE_FALSE(all.collided);
        for (Refusal const& refusal : all.refusals) {
            bool const fits = refusal.code == RefusalCode::sold_out ||
                              refusal.code == RefusalCode::best_available_not_found;
            REQUIRE(fits);
            REQUIRE(refusal.number < 4);
        }
        // Parties that fit no more may leave places over; whoever asks for one is refused only when
        // nothing is left but the accessible seats.
        auto const last =
            ask(sale.engine, sale.event, 1, 28, [](int) { return SaleFixture::best(1); });
        REQUIRE(all.places.size() + last.places.size() == 28);
        REQUIRE(sale.free() == 2);
        REQUIRE(sale.replayed().holds.size() == all.holds.size() + last.holds.size());
    }
}

TEST_CASE("a claim that loses races beyond count still ends with seats", "[engine][73]") {
    // Sixteen threads for the last sixteen pairs of one row.
    for (int round = 0; round < 50; ++round) {
        WideSale sale(1);
        std::vector<SeatIndex> seats;
        std::vector<ClaimLine> lines(1);
        for (SeatIndex const seat : range(32, 68)) lines[0].seats.push_back(seat);
        REQUIRE(ok(sale.engine.claim({sale.event, lines, 0, {}, false}, at(0ms), seats)));
        auto const all =
            ask(sale.engine, sale.event, 16, 16, [](int) { return SaleFixture::best(2); });
        REQUIRE(all.refusals.empty());
        REQUIRE(all.places.size() == 32);
    }
}

}  // namespace
}  // namespace holdfast::engine::test
