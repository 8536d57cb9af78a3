// Events that are made while the server runs: catalogue first, then the journal, then everybody.
#include "tests/engine/sale_fixture.hpp"

#include <holdfast/engine/facts.hpp>

#include <catch2/catch.hpp>

namespace holdfast::engine::test {
namespace {

EventSpec new_event(bool publish) {
    EventSpec spec;
    spec.slug = "late";
    spec.publish = publish;
    spec.layout = small_house();
    spec.created_at = at(5s);
    return spec;
}

std::optional<EventFact> last_fact(SaleFixture& sale) {
    auto const records = sale.journal.records();
    if (records.empty() || records.back().type != journal::RecordType::event) return {};
    return decode_event(records.back().payload);
}

}  // namespace

TEST_CASE("P3: a new event is journaled with the step that its life begins with",
          "[engine][events]") {
    for (bool const publish : {false, true}) {
        SaleFixture sale;
        auto const prepared = sale.engine.prepare(new_event(publish));
        REQUIRE(ok(prepared));
        CHECK(sale.journal.records().empty());
        auto const made = sale.engine.add(**prepared, EventId{9});
        REQUIRE(made.event != nullptr);
        CHECK(made.event == sale.engine.find("late"));
        CHECK(made.lsn == sale.journal.appended_lsn());
        auto const fact = last_fact(sale);
        REQUIRE(fact.has_value());
        CHECK(fact->event == EventId{9});
        CHECK(fact->step == (publish ? LifeStep::published : LifeStep::drafted));
        CHECK(fact->at == at(5s));
        // No other step came before, so a replay ends with the newest.
        REQUIRE(ok(sale.engine.step(*made.event, LifeStep::cancelled, at(6s))));
        CHECK(last_fact(sale)->step == LifeStep::cancelled);
    }
}

TEST_CASE("without room in the journal no event is prepared", "[engine][events]") {
    SaleFixture sale;
    sale.journal.set_room(journal::record_header_bytes);
    auto refused = sale.engine.prepare(new_event(true));
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::overloaded);
    sale.journal.set_mode(journal::Mode::read_only);
    refused = sale.engine.prepare(new_event(true));
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::read_only);
}

TEST_CASE("a prepared event that the catalogue refuses gives its room back", "[engine][events]") {
    SaleFixture sale;
    {
        auto const prepared = sale.engine.prepare(new_event(true));
        REQUIRE(ok(prepared));
        CHECK(sale.journal.reserved() > 0);
    }
    CHECK(sale.journal.reserved() == 0);
    auto const prepared = sale.engine.prepare(new_event(true));
    REQUIRE(ok(prepared));
    // Its number is one that the engine has.
    CHECK(sale.engine.add(**prepared, EventId{7}).event == nullptr);
    CHECK(sale.journal.records().empty());
}

TEST_CASE("an event that the journal does not know yet is told to it", "[engine][events]") {
    SaleFixture sale;
    auto const lsn = sale.engine.tell(*sale.event);
    REQUIRE(ok(lsn));
    auto const fact = last_fact(sale);
    REQUIRE(fact.has_value());
    CHECK(fact->event == sale.event->spec().id);
    CHECK(fact->step == LifeStep::published);
    sale.journal.set_room(0);
    CHECK_FALSE(ok(sale.engine.tell(*sale.event)));
}

}  // namespace holdfast::engine::test
