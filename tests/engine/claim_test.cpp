#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>

namespace holdfast::engine::test {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("a claim names its places, price, deadline and LSN", "[engine]") {
    SaleFixture sale;
    auto const hold = sale.claim({sale.named({"A-1-4", "A-1-3"})});
    REQUIRE(ok(hold));
    CHECK(sale.names() == Names{"A-1-3", "A-1-4"});
    CHECK(hold->total == 9'000);
    CHECK(hold->together);
    CHECK(hold->expires_at == at(300s));
    CHECK(hold->extensions_left == 1);
    CHECK(hold->lsn == Lsn{1});
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("several lines are one claim: all or nothing", "[engine]") {
    SaleFixture sale;
    REQUIRE(ok(sale.claim({sale.named({"B-10-1"}), sale.general(3), sale.best(2)})));
    CHECK(sale.seats.size() == 6);
    CHECK(sale.free() == 24);
    auto const lost = sale.claim({sale.general(2), sale.named({"B-10-1"})});
    REQUIRE_FALSE(ok(lost));
    CHECK(lost.error().code == RefusalCode::seats_unavailable);
    CHECK(lost.error().seat == sale.seat("B-10-1"));
    CHECK(lost.error().seat_reason == SeatReason::held);
    CHECK(sale.free() == 24);
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("lines of one claim never choose the same place", "[engine]") {
    SaleFixture sale;
    auto const hold = sale.claim(
        {sale.best(2), sale.best(2), sale.named({"A-1-4"}), sale.general(4), sale.general(5)});
    REQUIRE(ok(hold));
    CHECK(sale.seats.size() == 14);
    CHECK(std::adjacent_find(sale.seats.begin(), sale.seats.end()) == sale.seats.end());
}

TEST_CASE("candidates are taken in the given order, as many as wanted", "[engine]") {
    SaleFixture sale;
    REQUIRE(ok(sale.claim({sale.named({"A-1-1"})})));
    ClaimLine line = sale.named({"A-1-1", "A-2-3", "B-10-4", "A-1-2"});
    line.kind = ClaimLine::Kind::candidates;
    line.count = 2;
    REQUIRE(ok(sale.claim({line})));
    CHECK(sale.names() == Names{"A-2-3", "B-10-4"});
    line.count = 2;
    auto const lost = sale.claim({line});
    REQUIRE_FALSE(ok(lost));
    CHECK(lost.error().code == RefusalCode::seats_unavailable);
    CHECK(lost.error().seat == sale.seat("A-1-1"));
}

TEST_CASE("best available keeps to its filter and to the accessible count", "[engine]") {
    SaleFixture sale;
    ClaimLine line = SaleFixture::best(2);
    line.best.categories = {*sale.layout().find_category("VIP")};
    REQUIRE(ok(sale.claim({line})));
    CHECK(sale.names() == Names{"B-10-3", "B-10-4"});
    line = SaleFixture::best(2);
    line.best.accessible = 1;
    REQUIRE(ok(sale.claim({line})));
    CHECK(sale.names() == Names{"A-2-6", "A-2-7"});
    line = SaleFixture::best(8);
    line.best.sections = {sale.section("A")};
    REQUIRE(ok(sale.claim({line})));
    CHECK(sale.names().front() == "A-1-1");
    auto const none = sale.claim({line});
    REQUIRE_FALSE(ok(none));
    CHECK(none.error().code == RefusalCode::sold_out);
    CHECK(none.error().number == 5);
}

TEST_CASE("enough places but none together names the largest block", "[engine]") {
    SaleFixture sale;
    auto const none = sale.claim({SaleFixture::neighbours(9)});
    REQUIRE_FALSE(ok(none));
    CHECK(none.error().code == RefusalCode::best_available_not_found);
    CHECK(none.error().number == 8);
}

TEST_CASE("a sold-out section does not refuse another", "[engine]") {
    SaleFixture sale;
    REQUIRE(ok(sale.claim({sale.general(10)})));
    for (int round = 0; round < 2; ++round) {  // by a scan, then by the kept verdict
        auto const lost = sale.claim({sale.general(1)});
        REQUIRE_FALSE(ok(lost));
        CHECK(lost.error().code == RefusalCode::sold_out);
        CHECK(lost.error().number == 0);
    }
    CHECK(ok(sale.claim({SaleFixture::best(1)})));
}

TEST_CASE("a preview holds nothing and journals nothing", "[engine]") {
    SaleFixture sale;
    std::vector<ClaimLine> const lines{SaleFixture::best(2)};
    auto const view = sale.engine.claim({sale.event, lines, 0, {}, true}, at(0ms), sale.seats);
    REQUIRE(ok(view));
    CHECK(sale.names() == Names{"A-1-4", "A-1-5"});
    CHECK(view->lsn == no_lsn);
    CHECK(sale.free() == 30);
    CHECK(sale.journal.records().empty());
}

TEST_CASE("a sale takes claims only while it is open", "[engine]") {
    SaleFixture sale;
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::paused, at(0ms))));
    auto refused = sale.claim({SaleFixture::best(1)});
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::sale_not_open);
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::published, at(0ms))));
    CHECK(ok(sale.claim({SaleFixture::best(1)})));
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::closed, at(0ms))));
    refused = sale.claim({SaleFixture::best(1)});
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::sale_closed);
    auto const again = sale.engine.step(*sale.event, LifeStep::published, at(0ms));
    REQUIRE_FALSE(ok(again));
    CHECK(again.error().code == RefusalCode::illegal_transition);
    CHECK(again.error().from == static_cast<std::uint8_t>(EventState::closed));
    CHECK(again.error().to == static_cast<std::uint8_t>(EventState::open));
}

TEST_CASE("a full journal refuses and changes nothing; a failed one is read-only", "[engine]") {
    SaleFixture sale;
    auto const hold = sale.claim({SaleFixture::best(1)});
    REQUIRE(ok(hold));
    sale.journal.set_room(0);
    CHECK(sale.claim({SaleFixture::best(1)}).error().code == RefusalCode::overloaded);
    CHECK(sale.engine.release(hold->name, at(0ms)).error().code == RefusalCode::overloaded);
    CHECK(sale.confirm({hold->name}).error().code == RefusalCode::overloaded);
    CHECK(sale.free() == 29);
    sale.journal.set_room(1 << 20);
    sale.journal.set_mode(journal::Mode::failed);
    CHECK(sale.claim({SaleFixture::best(1)}).error().code == RefusalCode::read_only);
    CHECK(sale.engine.release(hold->name, at(0ms)).error().code == RefusalCode::read_only);
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("the cheap question refuses only what a claim refuses", "[engine]") {
    SaleFixture sale;
    std::vector<ClaimLine> const lines{sale.general(2)};
    ClaimCommand command;
    command.event = sale.event;
    command.lines = lines;
    CHECK(Engine::sold_out(command, at(0ms)) == Engine::not_refused);
    auto const hold = sale.claim({sale.general(9)});
    REQUIRE(ok(hold));
    CHECK(Engine::sold_out(command, at(0ms)) == Engine::not_refused);  // nobody has looked yet
    REQUIRE_FALSE(ok(sale.claim(lines)));
    CHECK(Engine::sold_out(command, at(0ms)) == 1);
    std::vector<ClaimLine> const one{sale.general(1)};
    REQUIRE(ok(sale.claim(one)));
    CHECK(Engine::sold_out(command, at(0ms)) == 0);  // what is kept says one
    command.lines = one;
    CHECK(Engine::sold_out(command, at(0ms)) == Engine::not_refused);
    command.lines = lines;
    CHECK(Engine::sold_out(command, at(300s)) == Engine::not_refused);  // the hold has expired
    REQUIRE(ok(sale.engine.release(hold->name, at(0ms))));
    CHECK(Engine::sold_out(command, at(0ms)) == Engine::not_refused);
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::closed, at(0ms))));
    CHECK(Engine::sold_out(command, at(0ms)) == Engine::not_refused);  // shut, not sold out
}

}  // namespace
}  // namespace holdfast::engine::test
