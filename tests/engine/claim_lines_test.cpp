// Claims of several lines: how the lines share the places, and what is said when they cannot.

#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>

namespace holdfast::engine::test {
namespace {

/// Section A: a row of two (std) and, behind it, a row of two (vip). Section B: a row of two (vip).
/// Section T: a table of four, sold whole (std), far away. GA: ten places (std).
class LinesSale {
public:
    explicit LinesSale(EventPolicy policy = {}) {
        auto spec = std::make_shared<EventSpec>();
        spec->id = EventId{7};
        spec->slug = "lines";
        spec->publish = true;
        spec->policy = policy;
        spec->policy.orphan_rule = OrphanRule::off;
        spec->layout = house();
        event = engine.add(spec);
        engine.build(*event, {});
    }
    [[nodiscard]] Layout const& layout() const { return event->spec().layout; }
    [[nodiscard]] ClaimLine best(std::uint32_t quantity, std::vector<std::string> const& sections,
                                 std::vector<std::string> const& categories = {}) const {
        ClaimLine line = SaleFixture::best(quantity);
        for (std::string const& id : sections)
            line.best.sections.push_back(*layout().find_section(id));
        for (std::string const& name : categories)
            line.best.categories.push_back(*layout().find_category(name));
        return line;
    }
    [[nodiscard]] ClaimLine general(std::uint32_t count) const {
        ClaimLine line;
        line.kind = ClaimLine::Kind::general;
        line.count = count;
        line.section = *layout().find_section("GA");
        return line;
    }
    Result<HoldView> claim(std::vector<ClaimLine> const& lines, std::uint64_t account = 0,
                           Milliseconds when = 0ms) {
        return engine.claim({event, lines, account, {}, false}, at(when), seats);
    }
    [[nodiscard]] ClaimLine named(std::vector<std::string> const& names) const {
        ClaimLine line;
        line.kind = ClaimLine::Kind::seats;
        for (std::string const& name : names) line.seats.push_back(*layout().find_seat(name));
        return line;
    }
    [[nodiscard]] std::uint32_t free() const {
        std::uint32_t count = 0;
        for (SectionCount const& each : event->availability(at(0ms))) count += each.free;
        return count;
    }

    holdfast::test::MemoryJournal journal;
    Engine engine{journal, {}};
    LiveEvent* event{};
    std::vector<SeatIndex> seats;

private:
    static Layout house() {
        LayoutBuilder builder;
        auto const std_price = builder.add_category({"std", "Standard", 100});
        auto const vip_price = builder.add_category({"vip", "VIP", 200});
        builder.set_focal({0, 0});
        auto const add_row = [&](std::string const& name, double y, int count,
                                 CategoryIndex category, SeatFlag flags) {
            builder.add_row(name.substr(2));
            for (int seat = 1; seat <= count; ++seat) {
                std::string const label = std::to_string(seat);
                auto const own = seat > 1 ? flags : SeatFlag::none;
                builder.add_seat({name + "-" + label,
                                  label,
                                  {{seat * 1.0, y}, category, static_cast<std::uint8_t>(own)}});
            }
        };
        auto const add_section = [&](std::string const& id, CategoryIndex category) {
            Section section;
            section.id = id;
            section.category = category;
            builder.add_section(section);
        };
        add_section("A", std_price);
        add_row("A-1", 1, 2, std_price, SeatFlag::none);
        add_row("A-2", 2, 2, vip_price, SeatFlag::none);
        add_section("B", vip_price);
        add_row("B-1", 3, 2, vip_price, SeatFlag::none);
        add_section("T", std_price);
        add_row("T-1", 100, 4, std_price, SeatFlag::joined);
        Section floor;
        floor.id = "GA";
        floor.general = true;
        floor.capacity = 10;
        floor.category = std_price;
        builder.add_general(floor);
        auto layout = std::move(builder).build();
        return std::move(*layout);
    }
};

TEST_CASE("a line that any seats would do leaves another the only ones it can have",
          "[engine][lines]") {
    LinesSale sale;
    bool const wide_first = GENERATE(true, false);
    std::vector<ClaimLine> lines{sale.best(2, {"A", "B"}), sale.best(2, {"A"}, {"std"})};
    if (!wide_first) std::swap(lines[0], lines[1]);
    REQUIRE(ok(sale.claim(lines)));
    CHECK(sale.seats.size() == 4);
}

TEST_CASE("two lines of a partial claim may name a group together", "[engine][lines][partial]") {
    LinesSale sale;
    auto const partial = [&](std::vector<ClaimLine> const& lines) {
        ClaimCommand command;
        command.event = sale.event;
        command.lines = lines;
        command.partial = true;
        return sale.engine.claim(command, at(0ms), sale.seats);
    };
    bool const beside = GENERATE(false, true);
    if (beside) REQUIRE(ok(sale.claim({sale.named({"A-1-2"})})));
    std::vector<ClaimLine> lines{sale.named({"T-1-1", "T-1-2"}), sale.named({"T-1-3", "T-1-4"})};
    if (beside) lines.push_back(sale.named({"A-1-1", "A-1-2"}));
    auto const hold = partial(lines);
    REQUIRE(ok(hold));
    CHECK(sale.seats.size() == (beside ? 5 : 4));
    // Whole or not at all: nothing of the table can be had now.
    auto const rest =
        partial({sale.named({"T-1-1", "T-1-2", "T-1-3", "T-1-4"}), sale.named({"B-1-1"})});
    REQUIRE(ok(rest));
    CHECK(sale.seats == sale.named({"B-1-1"}).seats);
}

TEST_CASE("a line that is refused only because of the others goes first", "[engine][lines]") {
    LinesSale sale;
    // The first looks narrower, and takes what only the second can use.
    REQUIRE(ok(sale.claim({sale.best(2, {"A"}), sale.best(2, {"A", "B"}, {"std"})})));
    CHECK(sale.seats.size() == 4);
    CHECK(sale.free() == 16);
}

TEST_CASE("lines that cannot share what is there are not called sold out", "[engine][lines]") {
    LinesSale sale;
    auto const refused = sale.claim({sale.best(4, {"A"}), sale.best(2, {"A", "B"}, {"std"})});
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::best_available_not_found);
    CHECK(sale.free() == 20);
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("lines that want more of one thing than there is are sold out, with all that is left",
          "[engine][lines]") {
    LinesSale sale;
    auto const seats = sale.claim({sale.general(1), sale.best(1, {"B"}), sale.best(2, {"B"})});
    REQUIRE_FALSE(ok(seats));
    CHECK(seats.error().code == RefusalCode::sold_out);
    CHECK(seats.error().number == 2);
    CHECK(seats.error().line > 0);
    auto const floor = sale.claim({sale.general(6), sale.general(5)});
    REQUIRE_FALSE(ok(floor));
    CHECK(floor.error().code == RefusalCode::sold_out);
    CHECK(floor.error().number == 10);
    CHECK(floor.error().line == 1);
    REQUIRE(ok(sale.claim({sale.general(6), sale.general(4)})));
    auto const none = sale.claim({sale.best(2, {"B"}), sale.general(1)});
    REQUIRE_FALSE(ok(none));
    CHECK(none.error().code == RefusalCode::sold_out);
    CHECK(none.error().number == 0);
    CHECK(none.error().line == 1);
}

TEST_CASE("lines are not sold out because of what was given or chosen beyond need",
          "[engine][lines]") {
    LinesSale sale;
    // The first party of two gets the table of four whole, and the second finds none.
    REQUIRE(ok(sale.claim({sale.best(2, {"A"}), sale.best(2, {"A"}), sale.best(2, {"B"})})));
    auto const table = sale.claim({sale.best(3, {"T"}), sale.best(1, {"T"})});
    REQUIRE_FALSE(ok(table));
    CHECK(table.error().code == RefusalCode::best_available_not_found);
    CHECK(table.error().number == 0);
}

TEST_CASE("candidates beside best are not what sells the best out", "[engine][lines]") {
    LinesSale sale;
    ClaimLine candidates = sale.named({"B-1-1", "A-1-1"});
    candidates.kind = ClaimLine::Kind::candidates;
    candidates.count = 1;
    auto const refused = sale.claim({candidates, sale.best(2, {"B"})});
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::best_available_not_found);
    CHECK(refused.error().number == 1);
}

TEST_CASE("equal lines are refused by their sum, whatever their order", "[engine][lines]") {
    LinesSale sale;
    auto const refused =
        sale.claim({sale.best(1, {"B"}), sale.best(1, {"B"}), sale.best(1, {"B"})});
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::sold_out);
    CHECK(refused.error().number == 2);
}

TEST_CASE("a line goes before the others rather than wait for what cools down",
          "[engine][lines][limits]") {
    EventPolicy policy;
    policy.rehold_cooldown = 30s;
    LinesSale sale(policy);
    // What cools down for the account is what the wide line would have left to the narrow one.
    auto const left = sale.claim({sale.best(2, {"B"})}, 41);
    REQUIRE(ok(left));
    REQUIRE(ok(sale.engine.release(left->name, at(0ms))));
    REQUIRE(ok(sale.claim({sale.best(2, {"A"}), sale.best(2, {"A", "B"}, {"std"})}, 41)));
    CHECK(sale.seats.size() == 4);
    // Without any other place it is the cool-down that is named.
    auto const refused = sale.claim({sale.best(2, {"B"}), sale.general(1)}, 41);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::hold_budget);
    CHECK(refused.error().at == at(30s));
}

TEST_CASE("who must wait is told when enough has cooled down", "[engine][lines][limits]") {
    EventPolicy policy;
    policy.rehold_cooldown = 30s;
    LinesSale sale(policy);
    std::uint64_t const buyer = 41;
    auto const leave = [&](std::string const& name, Milliseconds when) {
        auto const hold = sale.claim({sale.named({name})}, buyer, when);
        REQUIRE(ok(hold));
        REQUIRE(ok(sale.engine.release(hold->name, at(when))));
    };
    leave("B-1-1", 1s);
    leave("B-1-2", 5s);
    leave("A-2-1", 9s);
    ClaimLine candidates = sale.named({"A-2-1", "B-1-2", "B-1-1"});
    candidates.kind = ClaimLine::Kind::candidates;
    for (std::uint32_t const count : {1U, 2U, 3U}) {
        candidates.count = count;
        auto const refused = sale.claim({candidates}, buyer, 10s);
        REQUIRE_FALSE(ok(refused));
        CHECK(refused.error().code == RefusalCode::hold_budget);
        CHECK(refused.error().at == at(27s + 4s * count));
    }
    // For two together the later of the two counts.
    auto const refused = sale.claim({sale.best(2, {"B"})}, buyer, 10s);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::hold_budget);
    CHECK(refused.error().at == at(35s));
    CHECK(ok(sale.claim({sale.best(2, {"B"})}, buyer, 35s)));
}

TEST_CASE("a table that the account may not have whole is not what refuses it",
          "[engine][lines][limits]") {
    EventPolicy policy;
    policy.max_per_user = 3;
    LinesSale sale(policy);
    // A party of two finds no two seats together but at the table, which is one too many.
    REQUIRE(ok(sale.claim({sale.best(2, {"A"}), sale.best(2, {"A"}), sale.best(2, {"B"})})));
    auto const hold = sale.claim({sale.best(2, {"T", "GA"})}, 41);
    REQUIRE(ok(hold));
    CHECK(sale.seats.size() == 2);
    auto const more = sale.claim({sale.best(2, {"T", "GA"})}, 41);
    REQUIRE_FALSE(ok(more));
    CHECK(more.error().code == RefusalCode::user_limit);
    CHECK(more.error().have == 2);
    REQUIRE(ok(sale.claim({sale.best(2, {"T", "GA"})})));  // of nobody who is counted
    CHECK(sale.seats.size() == 4);
}

TEST_CASE("places of two general sections are not together", "[engine][lines]") {
    SaleFixture sale;
    auto const one = sale.claim({sale.general(3)});
    REQUIRE(ok(one));
    CHECK(one->together);
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    for (std::string const id : {"G", "H"}) {
        Section floor;
        floor.id = id;
        floor.general = true;
        floor.capacity = 3;
        builder.add_general(floor);
    }
    auto spec = std::make_shared<EventSpec>();
    spec->id = EventId{8};
    spec->slug = "floors";
    spec->publish = true;
    spec->layout = std::move(*std::move(builder).build());
    LiveEvent* const event = sale.engine.add(spec);
    sale.engine.build(*event, {});
    std::vector<ClaimLine> lines(2);
    for (std::uint32_t i = 0; i < 2; ++i) {
        lines[i].kind = ClaimLine::Kind::general;
        lines[i].count = 1;
        lines[i].section = SectionIndex{i};
    }
    auto const two = sale.engine.claim({event, lines, 0, {}, false}, at(0ms), sale.seats);
    REQUIRE(ok(two));
    CHECK_FALSE(two->together);
}

}  // namespace
}  // namespace holdfast::engine::test
