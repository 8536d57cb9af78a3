// Partial claims: of the seats that are named those that can be had.

#include "tests/engine/sale_fixture.hpp"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

namespace holdfast::engine::test {
namespace {

using Names = std::vector<std::string>;

struct PartialSale : SaleFixture {
    using SaleFixture::SaleFixture;
    Result<HoldView> partial(std::vector<ClaimLine> const& lines, std::uint64_t holder = 0,
                             Milliseconds when = 0ms) {
        ClaimCommand command;
        command.event = event;
        command.lines = lines;
        command.holder = holder;
        command.partial = true;
        return engine.claim(command, at(when), seats);
    }
};

TEST_CASE("a partial claim takes those of its seats that can be had", "[engine][partial]") {
    PartialSale sale;
    REQUIRE(ok(sale.claim({sale.named({"A-1-1", "A-1-4"})})));
    auto const hold = sale.partial({sale.named({"A-1-4", "A-1-3", "A-1-2", "A-1-1", "A-1-5"})});
    REQUIRE(ok(hold));
    CHECK(sale.names() == Names{"A-1-2", "A-1-3", "A-1-5"});
    CHECK_FALSE(hold->together);
    CHECK(hold->total == 3 * 4'500);
    CHECK(sale.replayed().holds.size() == 2);
    // What has expired can be had.
    REQUIRE(ok(sale.partial({sale.named({"A-1-1", "A-1-6"})}, 0, 300s)));
    CHECK(sale.names() == Names{"A-1-1", "A-1-6"});
}

TEST_CASE("a partial claim that gets nothing says why and changes nothing", "[engine][partial]") {
    PartialSale sale;
    REQUIRE(ok(sale.claim({sale.named({"A-1-1", "A-1-2"})})));
    std::size_t const records = sale.journal.records().size();
    auto const none = sale.partial({sale.named({"A-1-2", "A-1-1"})});
    REQUIRE_FALSE(ok(none));
    CHECK(none.error().code == RefusalCode::seats_unavailable);
    CHECK(none.error().seat == sale.seat("A-1-2"));
    CHECK(none.error().seat_reason == SeatReason::held);
    CHECK(sale.journal.records().size() == records);
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("the other lines of a partial claim are taken all or not at all", "[engine][partial]") {
    PartialSale sale;
    REQUIRE(ok(sale.claim({sale.named({"A-1-1", "A-1-2"})})));
    REQUIRE(ok(sale.partial({sale.named({"A-1-2"}), sale.named({"A-1-3"}), sale.general(2)})));
    CHECK(sale.names().size() == 3);
    CHECK(sale.names().front() == "A-1-3");
    REQUIRE(ok(sale.partial({sale.named({"A-1-2"}), sale.general(2)})));
    CHECK(sale.seats.size() == 2);
    std::uint32_t const free = sale.free();
    auto const too_many = sale.partial({sale.named({"A-2-1"}), sale.general(7)});
    REQUIRE_FALSE(ok(too_many));
    CHECK(too_many.error().code == RefusalCode::sold_out);
    CHECK(sale.free() == free);
}

TEST_CASE("limits count what a partial claim gets, not what it asks for", "[engine][partial]") {
    EventPolicy policy;
    policy.max_per_user = 2;
    policy.orphan_rule = OrphanRule::off;
    PartialSale sale(policy);
    REQUIRE(ok(sale.claim({sale.named({"A-1-1", "A-1-3"})})));
    REQUIRE(ok(sale.partial({sale.named({"A-1-1", "A-1-2", "A-1-3"})}, 5)));
    CHECK(sale.names() == Names{"A-1-2"});
    auto const over = sale.partial({sale.named({"A-1-3", "A-1-4", "A-1-5"})}, 5);
    REQUIRE_FALSE(ok(over));
    CHECK(over.error().code == RefusalCode::user_limit);
    CHECK(over.error().have == 1);
    REQUIRE(ok(sale.partial({sale.named({"A-1-3", "A-1-4"})}, 5)));
    CHECK(sale.names() == Names{"A-1-4"});
    auto const full = sale.partial({sale.named({"A-1-5"})}, 5);
    REQUIRE_FALSE(ok(full));
    CHECK(full.error().code == RefusalCode::user_limit);
}

TEST_CASE("a partial claim leaves no single seat behind either", "[engine][partial]") {
    EventPolicy policy;
    policy.orphan_rule = OrphanRule::strict;
    policy.orphan_endgame_pct = 0;
    PartialSale sale(policy);
    REQUIRE(ok(sale.claim({sale.named({"A-1-1", "A-1-2", "A-1-3"})})));
    // Of the two the second is free, and the fourth would be left alone.
    auto const refused = sale.partial({sale.named({"A-1-3", "A-1-5"})});
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::orphan_seat);
    CHECK(refused.error().seat == sale.seat("A-1-4"));
}

TEST_CASE("partial claims of the same seats share them out", "[engine][partial][stress]") {
    EventPolicy policy;
    policy.orphan_rule = OrphanRule::off;
    PartialSale sale(policy);
    std::vector<ClaimLine> const row{
        sale.named({"A-1-1", "A-1-2", "A-1-3", "A-1-4", "A-1-5", "A-1-6", "A-1-7", "A-1-8"})};
    std::array<std::atomic<int>, 64> taken{};
    std::atomic<int> twice{0}, wrong{0}, won{0};
    auto const buyer = [&](std::size_t keep) {
        std::vector<SeatIndex> seats;
        ClaimCommand command;
        command.event = sale.event;
        command.lines = row;
        command.partial = true;
        for (int round = 0; round < 2'000; ++round) {
            auto const hold = sale.engine.claim(command, at(0ms), seats);
            if (!hold) {
                RefusalCode const code = hold.error().code;
                bool const expected =
                    code == RefusalCode::seats_unavailable || code == RefusalCode::busy;
                if (!expected) ++wrong;
                continue;
            }
            ++won;
            for (SeatIndex const seat : seats)
                if (taken[seat.value()].fetch_add(1) != 0) ++twice;
            for (SeatIndex const seat : seats) taken[seat.value()].fetch_sub(1);
            if (round % 3 == static_cast<int>(keep)) std::this_thread::yield();
            if (!sale.engine.release(hold->name, at(0ms))) ++wrong;
        }
    };
    std::thread first(buyer, 0);
    std::thread second(buyer, 1);
    first.join();
    second.join();
    CHECK(twice == 0);
    CHECK(wrong == 0);
    CHECK(won > 0);
    CHECK(sale.free() == sale.layout().place_count());
}

}  // namespace
}  // namespace holdfast::engine::test
