// Limits of accounts whose own holds are due while other threads are at work.
#include "engine/account_gate.hpp"

#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>

namespace holdfast::engine::test {
namespace {

constexpr std::uint64_t holder_of_due = 51;

struct GatedSale : SaleFixture {
    using SaleFixture::SaleFixture;

    static EventPolicy policy(std::uint32_t places, std::uint32_t open_holds) {
        EventPolicy policy;
        policy.max_per_user = places;
        policy.max_open_holds_per_user = open_holds;
        policy.orphan_rule = OrphanRule::off;
        return policy;
    }
    Result<HoldView> seats_for(std::vector<std::string> const& names, Milliseconds when) {
        std::vector<ClaimLine> const lines{named(names)};
        ClaimCommand command;
        command.event = event;
        command.lines = lines;
        command.holder = holder_of_due;
        return engine.claim(command, at(when), seats);
    }
    [[nodiscard]] Sale& sale() const { return static_cast<Sale&>(*event); }
    /// Calls `meanwhile` once while this thread drives the wheel like another one that has come to
    /// a due hold and has not ended it yet.
    template <class Call>
    void while_driven(Milliseconds when, Call meanwhile) {
        bool called = false;
        SaleInventory& inventory = sale().inventory();
        auto const fire = [&](SlotIndex) -> std::optional<TimePoint> {
            if (!std::exchange(called, true)) meanwhile();
            return at(when);
        };
        inventory.wheel.advance(at(when), fire, [](SlotIndex) { return true; });
        REQUIRE(called);
    }
};

TEST_CASE("an own due hold is no limit while another thread drives the wheel", "[engine][limits]") {
    GatedSale sale(GatedSale::policy(4, 1));
    REQUIRE(ok(sale.seats_for({"A-1-1"}, 0ms)));
    sale.while_driven(300s, [&] {
        auto const meanwhile = sale.seats_for({"A-1-3"}, 300s);
        REQUIRE_FALSE(ok(meanwhile));
        CHECK(meanwhile.error().code == RefusalCode::busy);
    });
    CHECK(ok(sale.seats_for({"A-1-3"}, 300s)));
    auto const second = sale.seats_for({"A-1-5"}, 300s);
    REQUIRE_FALSE(ok(second));
    CHECK(second.error().code == RefusalCode::user_limit);
}

TEST_CASE("a verb waits for the wheel's driver with one patience", "[engine][limits]") {
    GatedSale sale(GatedSale::policy(4, 1));
    REQUIRE(ok(sale.seats_for({"A-1-1"}, 0ms)));
    Patience patience(1ms);
    AccountGate const gate(sale.sale(), holder_of_due, at(300s), patience);
    sale.while_driven(300s, [&] {
        auto const refusal = gate.foresee(1);
        REQUIRE(refusal.has_value());
        CHECK(refusal->code == RefusalCode::busy);
        // Whatever the verb meets next, it does not wait again.
        CHECK_FALSE(patience.lasts());
        auto const next = gate.refuse_limited(inventory::UserVerdict::open_holds, 1);
        REQUIRE(next.has_value());
        CHECK(next->code == RefusalCode::busy);
    });
    CHECK_FALSE(gate.foresee(1).has_value());
}

TEST_CASE("nor is it for an exchange that adds places", "[engine][limits]") {
    GatedSale sale(GatedSale::policy(2, 2));
    REQUIRE(ok(sale.seats_for({"A-1-1"}, 0ms)));
    auto const hold = sale.seats_for({"A-1-3"}, 1s);
    REQUIRE(ok(hold));
    std::vector<ClaimLine> const lines{sale.named({"A-1-3", "A-1-4"})};
    ExchangeCommand command;
    command.hold = hold->name;
    command.lines = lines;
    auto const exchange = [&] { return sale.engine.exchange(command, at(300s), sale.seats); };
    sale.while_driven(300s, [&] {
        auto const meanwhile = exchange();
        REQUIRE_FALSE(ok(meanwhile));
        CHECK(meanwhile.error().code == RefusalCode::busy);
    });
    CHECK(ok(exchange()));
}

TEST_CASE("what is due is ended before a limit that a claim has met is final", "[engine][limits]") {
    GatedSale sale(GatedSale::policy(2, 2));
    REQUIRE(ok(sale.seats_for({"A-1-1"}, 0ms)));
    REQUIRE(ok(sale.seats_for({"A-1-3"}, 1s)));
    using inventory::UserVerdict;
    Patience patience(1ms);
    for (UserVerdict const met : {UserVerdict::units, UserVerdict::open_holds}) {
        AccountGate const early(sale.sale(), holder_of_due, at(299'999ms), patience);
        auto const final = early.refuse_limited(met, 1);
        REQUIRE(final.has_value());
        CHECK(final->code == RefusalCode::user_limit);
    }
    AccountGate const gate(sale.sale(), holder_of_due, at(300s), patience);
    CHECK_FALSE(gate.refuse_limited(UserVerdict::units, 1).has_value());
    CHECK_FALSE(gate.refuse_limited(UserVerdict::busy, 1).has_value());
    // Not for ever.
    while (patience.lasts()) continue;
    auto const tired = gate.refuse_limited(UserVerdict::units, 1);
    REQUIRE(tired.has_value());
    CHECK(tired->code == RefusalCode::busy);
}

TEST_CASE("a refused search ends nothing to know that nothing is due", "[engine]") {
    SaleFixture sale;
    REQUIRE(ok(sale.claim({SaleFixture::best(4)})));
    auto& inventory = static_cast<Sale&>(*sale.event).inventory();
    CHECK(inventory.none_due(at(299'999ms)));
    CHECK_FALSE(inventory.none_due(at(300s)));
    CHECK_FALSE(inventory.none_due(at(300s)));
    CHECK(sale.journal.count(journal::RecordType::end) == 0);
    CHECK(inventory.settle_due(at(300s)));
    CHECK(inventory.none_due(at(300s)));
    CHECK(sale.journal.count(journal::RecordType::end) == 1);
}

}  // namespace
}  // namespace holdfast::engine::test
