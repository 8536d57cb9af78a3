#include "tests/engine/failing_memory.hpp"

#include <holdfast/api/changed_orders.hpp>

#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

OrderId order_numbered(std::size_t number) {
    return {.high = 1, .low = number};
}

}  // namespace

TEST_CASE("an order is newer than the store until its last change is there", "[orders]") {
    api::ChangedOrders changed;
    auto const order = order_numbered(1);
    CHECK_FALSE(changed.may_be_newer(order, no_lsn));
    CHECK_FALSE(changed.any_may_be_newer(no_lsn));
    changed.note({order, Lsn{5}, Lsn{1}});
    changed.note({order, Lsn{9}, Lsn{1}});
    CHECK(changed.may_be_newer(order, Lsn{8}));
    CHECK(changed.any_may_be_newer(Lsn{8}));
    CHECK_FALSE(changed.may_be_newer(order, Lsn{9}));
    CHECK_FALSE(changed.any_may_be_newer(Lsn{9}));
    CHECK_FALSE(changed.may_be_newer(order_numbered(2), no_lsn));
}

TEST_CASE("what nobody remembers may be any order", "[orders]") {
    api::ChangedOrders changed(Lsn{7});
    CHECK(changed.may_be_newer(order_numbered(1), Lsn{6}));
    CHECK_FALSE(changed.may_be_newer(order_numbered(1), Lsn{7}));
    constexpr std::size_t most = limits::changed_orders_max;
    for (std::size_t i = 0; i < most; ++i) changed.note({order_numbered(i), Lsn{10 + i}, Lsn{7}});
    CHECK_FALSE(changed.may_be_newer(order_numbered(most + 1), Lsn{7}));
    changed.note({order_numbered(most), Lsn{10 + most}, Lsn{7}});
    CHECK(changed.may_be_newer(order_numbered(most + 1), Lsn{7}));
    // What the store has is forgotten, which makes room.
    changed.note({order_numbered(most + 2), Lsn{20 + most}, Lsn{10 + most}});
    CHECK_FALSE(changed.may_be_newer(order_numbered(most + 1), Lsn{10 + most}));
    CHECK(changed.may_be_newer(order_numbered(most + 2), Lsn{10 + most}));
    // A store that failed may have lost what it had.
    CHECK(changed.may_be_newer(order_numbered(0), Lsn{9}));
}

TEST_CASE("without memory for a change any order may have changed", "[orders]") {
    api::ChangedOrders changed;
    engine::test::fail_allocation(1, false);
    changed.note({order_numbered(1), Lsn{5}, Lsn{1}});
    REQUIRE(engine::test::allocation_failed());
    for (std::size_t const number : {std::size_t{1}, std::size_t{2}}) {
        CAPTURE(number);
        CHECK(changed.may_be_newer(order_numbered(number), Lsn{4}));
        CHECK_FALSE(changed.may_be_newer(order_numbered(number), Lsn{5}));
    }
    CHECK(changed.any_may_be_newer(Lsn{4}));
    // With memory again the next change is of its own order alone.
    changed.note({order_numbered(2), Lsn{7}, Lsn{1}});
    CHECK(changed.may_be_newer(order_numbered(2), Lsn{6}));
    CHECK_FALSE(changed.may_be_newer(order_numbered(1), Lsn{6}));
}

}  // namespace holdfast::test
