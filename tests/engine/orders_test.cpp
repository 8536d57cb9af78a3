#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>

namespace holdfast::engine::test {
namespace {

constexpr OrderId first_order{0x1122334455667788, 0x99AABBCCDDEEFF00};

TEST_CASE("an order makes its holds permanent and is named by them", "[engine]") {
    SaleFixture sale;
    auto const one = sale.claim({SaleFixture::best(2)});
    auto const two = sale.claim({sale.general(3)});
    auto const placed = sale.confirm({one->name, two->name}, 299'999ms, first_order);
    REQUIRE(ok(placed));
    CHECK(placed->total == 5 * 4'500);
    auto const read = sale.engine.read(one->name, at(9'000s), sale.seats);
    REQUIRE(ok(read));
    CHECK(read->state == HoldState::confirmed);
    CHECK(read->order == first_order);
    auto const again = sale.confirm({one->name}, 300s, {5, 6});
    REQUIRE_FALSE(ok(again));
    CHECK(again.error().code == RefusalCode::already_confirmed);
    CHECK(again.error().order == first_order);
    CHECK(sale.engine.release(one->name, at(0ms)).error().code == RefusalCode::already_confirmed);
    CHECK(sale.engine.expire(at(9'000s)) == 0);
    CHECK(sale.free(9'000s) == 25);
}

TEST_CASE("an order of a hold at its deadline is refused, one before it is not", "[engine]") {
    SaleFixture sale;
    auto const late = sale.claim({SaleFixture::best(1)});
    auto const just = sale.claim({SaleFixture::best(1)});
    CHECK(sale.confirm({late->name}, 300s).error().code == RefusalCode::hold_expired);
    CHECK(ok(sale.confirm({just->name}, 299'999ms)));
}

TEST_CASE("once a hold was told expired, no earlier clock can use it any more", "[engine]") {
    SaleFixture sale;
    auto const hold = sale.claim({SaleFixture::best(1)});
    auto const verb = GENERATE(0, 1, 2);
    if (verb == 0) REQUIRE(*sale.engine.release(hold->name, at(300s)) == no_lsn);
    if (verb == 1) REQUIRE_FALSE(ok(sale.engine.read(hold->name, at(300s), sale.seats)));
    if (verb == 2) REQUIRE_FALSE(ok(sale.engine.extend(hold->name, 9s, at(300s), sale.seats)));
    // A request that was received a moment earlier and runs a moment later.
    CHECK(sale.confirm({hold->name}, 299'999ms).error().code == RefusalCode::hold_expired);
    CHECK(sale.journal.count(journal::RecordType::end) == 1);
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("if one hold of a cart cannot be sold none is", "[engine]") {
    SaleFixture sale;
    auto const good = sale.claim({SaleFixture::best(1)}, 10s);
    auto const old = sale.claim({SaleFixture::best(1)}, 0ms);
    REQUIRE_FALSE(ok(sale.confirm({good->name, old->name}, 305s)));
    CHECK(sale.journal.count(journal::RecordType::order) == 0);
    CHECK(sale.journal.reserved() == 0);
    auto const read = sale.engine.read(good->name, at(305s), sale.seats);
    REQUIRE(ok(read));
    CHECK(read->state == HoldState::held);
    CHECK(ok(sale.confirm({good->name}, 305s)));
}

TEST_CASE("the bound of places holds for the whole order", "[engine]") {
    EventPolicy policy;
    policy.max_per_order = 3;
    SaleFixture sale(policy);
    auto const one = sale.claim({SaleFixture::best(2)});
    auto const two = sale.claim({SaleFixture::best(2)});
    auto const refused = sale.confirm({one->name, two->name});
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::user_limit);
    CHECK(refused.error().number == 3);
    CHECK(ok(sale.confirm({one->name})));
}

TEST_CASE("a closed sale honours open holds if its policy says so", "[engine]") {
    EventPolicy policy;
    policy.honour_open_holds = GENERATE(true, false);
    SaleFixture sale(policy);
    auto const hold = sale.claim({SaleFixture::best(1)});
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::closed, at(1s))));
    auto const placed = sale.confirm({hold->name}, 2s);
    CHECK(placed.has_value() == policy.honour_open_holds);
    if (!placed) CHECK(placed.error().code == RefusalCode::sale_closed);
    CHECK(sale.engine.release(hold->name, at(2s)).has_value() != policy.honour_open_holds);
}

TEST_CASE("a cancelled order gives its places back once", "[engine]") {
    SaleFixture sale;
    auto const hold = sale.claim({SaleFixture::best(2)});
    REQUIRE(ok(sale.confirm({hold->name}, 0ms, first_order)));
    std::vector<HoldName> const holds{hold->name};
    CHECK(sale.engine.cancel({1, 1}, holds, at(1s)).error().code == RefusalCode::already_released);
    REQUIRE(ok(sale.engine.cancel(first_order, holds, at(1s))));
    CHECK(sale.free() == 30);
    CHECK(sale.engine.cancel(first_order, holds, at(1s)).error().code ==
          RefusalCode::already_released);
    CHECK(ok(sale.claim({sale.named({"A-1-4", "A-1-5"})})));
}

}  // namespace
}  // namespace holdfast::engine::test
