// The steps of a sale's life, and what holds may do after them.
#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>

namespace holdfast::engine::test {
namespace {

/// A sale until 10 s, with or without its seats.
struct ShortSale {
    explicit ShortSale(bool publish = true) {
        auto spec = std::make_shared<EventSpec>();
        spec->id = EventId{7};
        spec->slug = "short";
        spec->publish = publish;
        spec->closes_at = ZonedTime{at(10s), 0};
        spec->layout = small_house();
        event = engine.add(spec);
    }
    void build() { engine.build(*event, {}); }
    bool may(LifeStep step, Milliseconds when) { return ok(engine.step(*event, step, at(when))); }

    holdfast::test::MemoryJournal journal;
    Engine engine{journal, {}};
    LiveEvent* event{};
};

constexpr LifeStep all_steps[]{LifeStep::published, LifeStep::paused, LifeStep::closed};

}  // namespace

TEST_CASE("a sale that is over by its time is closed to every step but cancelling", "[engine]") {
    for (bool const paused_before : {false, true}) {
        ShortSale sale;
        sale.build();
        if (paused_before) REQUIRE(sale.may(LifeStep::paused, 1s));
        std::size_t const records = sale.journal.records().size();
        for (LifeStep const step : all_steps) {
            auto const refused = sale.engine.step(*sale.event, step, at(10s));
            REQUIRE_FALSE(ok(refused));
            CHECK(refused.error().code == RefusalCode::illegal_transition);
            CHECK(refused.error().from == static_cast<std::uint8_t>(EventState::closed));
        }
        CHECK(sale.journal.records().size() == records);
        CHECK(sale.may(LifeStep::cancelled, 10s));
        CHECK(sale.event->state(at(0s)) == EventState::cancelled);
    }
}

TEST_CASE("a sale can be paused and resumed before its seats are built", "[engine]") {
    ShortSale sale;
    CHECK(sale.event->state(at(0s)) == EventState::preparing);
    REQUIRE(sale.may(LifeStep::paused, 0s));
    CHECK(sale.event->state(at(0s)) == EventState::paused);
    CHECK_FALSE(sale.may(LifeStep::paused, 0s));
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::published, at(0s), EventState::paused)));
    CHECK(sale.event->state(at(0s)) == EventState::preparing);
    REQUIRE(sale.may(LifeStep::paused, 0s));
    sale.build();
    CHECK(sale.event->state(at(0s)) == EventState::paused);
    REQUIRE(sale.may(LifeStep::published, 0s));
    CHECK(sale.event->state(at(0s)) == EventState::open);
}

TEST_CASE("a draft is published or cancelled, whatever the time", "[engine]") {
    ShortSale sale(false);
    sale.build();
    CHECK_FALSE(sale.may(LifeStep::paused, 20s));
    CHECK_FALSE(sale.may(LifeStep::closed, 20s));
    CHECK(sale.may(LifeStep::published, 20s));
    CHECK(sale.event->state(at(20s)) == EventState::closed);
}

TEST_CASE("a hold is extended only while the sale is open", "[engine]") {
    struct Case {
        LifeStep step;
        RefusalCode code;
    };
    for (auto const& [step, code] : {Case{LifeStep::paused, RefusalCode::sale_not_open},
                                     Case{LifeStep::closed, RefusalCode::sale_closed},
                                     Case{LifeStep::cancelled, RefusalCode::sale_closed}}) {
        CAPTURE(int(step));
        SaleFixture sale;
        auto const hold = sale.claim({sale.named({"A-1-1"})});
        REQUIRE(ok(sale.engine.step(*sale.event, step, at(1s))));
        for (Milliseconds const by : {600'000ms, 1'000ms}) {
            auto const refused = sale.engine.extend(hold->name, by, at(2s), sale.seats);
            REQUIRE_FALSE(ok(refused));
            CHECK(refused.error().code == code);
        }
        auto const still = sale.engine.read(hold->name, at(2s), sale.seats);
        REQUIRE(ok(still));
        CHECK(still->expires_at == at(300s));
        CHECK(still->extensions_left == 1);
        CHECK(sale.journal.count(journal::RecordType::edit) == 0);
        CHECK(sale.journal.reserved() == 0);
        if (step != LifeStep::paused) continue;
        REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::published, at(3s))));
        CHECK(ok(sale.engine.extend(hold->name, 600s, at(4s), sale.seats)));
    }
}

TEST_CASE("a hold is not extended past the end of a sale by its time", "[engine]") {
    ShortSale sale;
    sale.build();
    ClaimLine line;
    line.kind = ClaimLine::Kind::seats;
    line.seats = {SeatIndex{0}};
    std::vector const lines{line};
    std::vector<SeatIndex> seats;
    ClaimCommand command;
    command.event = sale.event;
    command.lines = lines;
    auto const hold = sale.engine.claim(command, at(9s), seats);
    REQUIRE(ok(hold));
    auto const refused = sale.engine.extend(hold->name, 600s, at(10s), seats);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::sale_closed);
    CHECK(refused.error().at == at(10s));
    CHECK(ok(sale.engine.extend(hold->name, 600s, at(9'999ms), seats)));
}

}  // namespace holdfast::engine::test
