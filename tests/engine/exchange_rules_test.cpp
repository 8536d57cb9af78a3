// What binds an exchange, a refund and a reseat besides the places: neighbours and groups.
#include "tests/engine/orphan_definition.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>

namespace holdfast::engine::test {
namespace {

/// A drawn house and a hold of staff in it that its buyer changes.
struct Changing : DrawnHouse {
    Changing(std::vector<std::string> const& rows, OrphanRule rule, Names const& has,
             std::uint32_t endgame = 10)
        : DrawnHouse(rows, rule, endgame) {
        ClaimCommand command;
        lines = {line_of(has)};
        command.event = event;
        command.lines = lines;
        command.staff = true;
        auto const made = engine.claim(command, at(0ms), seats);
        if (!made) throw std::runtime_error("the hold cannot be had");
        hold = made->name;
    }
    Result<HoldView> change(Names const& names, bool gives_back = false) {
        lines = {line_of(names)};
        return engine.exchange({hold, lines, gives_back, false, &report}, at(1ms), seats);
    }
    /// "ok", or the orphans, then the alternatives.
    std::string put(Names const& names) {
        auto const changed = change(names);
        if (changed) return "ok";
        return changed.error().code == RefusalCode::orphan_seat ? text_of_report()
                                                                : "refused otherwise";
    }
    Names has() {
        if (!engine.read(hold, at(1ms), seats)) return {};
        return names_of(seats);
    }
    [[nodiscard]] SeatIndex seat(std::string_view name) const {
        return *event->spec().layout.find_seat(name);
    }
    /// Whether it was refused for the group that begins with `name`.
    template <class T>
    bool parts(Result<T> const& result, std::string_view name) {
        return !result && result.error().code == RefusalCode::inseparable_group &&
               result.error().seat == seat(name);
    }

    HoldName hold;
};

struct Example {
    std::string why;
    std::string row;
    Names has;
    Names wants;
    std::string answer;
};

}  // namespace

TEST_CASE("an exchange obeys the orphan rule as if it gave back first", "[exchange][orphans]") {
    std::vector<Example> const examples{
        {"what it gives back is free beside what it takes", "aaa", {"1-3"}, {"1-1"}, "ok"},
        {"in the middle, too", "aaaa", {"1-2"}, {"1-4"}, "ok"},
        {"giving back may leave a single seat", "aaaaaa", {"1-1", "1-2"}, {"1-2", "1-3"}, "ok"},
        {"taking may not", "aaaaaa", {"1-3", "1-4"}, {"1-2", "1-3"}, "1-1"},
        {"nor beside a seat given back", "aaaaa", {"1-3"}, {"1-2"}, "1-1 / 1-3 / 1-1 / 1-5"},
        {"an alternative has what the hold keeps",
         "aaaaaaa",
         {"1-1", "1-2"},
         {"1-1", "1-2", "1-4"},
         "1-3 / 1-1 1-2 1-3 / 1-1 1-2 1-5 / 1-1 1-2 1-7"},
        {"what was single before is not its fault", "asaaas", {"1-3"}, {"1-4", "1-5"}, "1-3"},
    };
    for (Example const& example : examples) {
        CAPTURE(example.why);
        Changing house({example.row}, OrphanRule::strict, example.has);
        CHECK(house.put(example.wants) == example.answer);
        CHECK(house.has() == (example.answer == "ok" ? example.wants : example.has));
    }
}

TEST_CASE("every alternative of a refused exchange is accepted", "[exchange][orphans]") {
    for (std::size_t k = 0; k < 3; ++k) {
        Changing house({"aaaaaaa"}, OrphanRule::strict, {"1-1", "1-2"});
        REQUIRE(house.put({"1-1", "1-2", "1-4"}) != "ok");
        REQUIRE(house.report.alternatives.size() == 3);
        CHECK(house.put(house.names_of(house.report.alternatives[k])) == "ok");
    }
}

TEST_CASE("an exchange is judged by the definition, what it gives back being free",
          "[exchange][orphans]") {
    char const* const given = std::getenv("HOLDFAST_SEED");
    auto const seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    std::mt19937_64 random(seed);
    int refused = 0;
    for (int round = 0; round < 2'000; ++round) {
        std::string drawn;     // what the house is
        std::string as_given;  // as if the hold had given back what it will
        std::vector<bool> added;
        Names has, wants;
        std::size_t const size = 2 + random() % 9;
        for (std::size_t i = 0; i < size; ++i) {
            char const seat = "aaaaaaabsx"[random() % 10];
            bool const open = seat == 'a' || seat == 'b';
            bool const had = seat == 'a' && random() % 4 == 0;  // as `h` it stays one of `a`
            bool const wanted = open && random() % 3 == 0;
            drawn += seat;
            as_given += had && wanted ? 'h' : seat;
            added.push_back(wanted && !had);
            std::string const name = "1-" + std::to_string(i + 1);
            if (had) has.push_back(name);
            if (wanted) wants.push_back(name);
        }
        if (has.empty() || wants.empty()) continue;
        bool const lenient = random() % 2 == 0;
        OrphanRule const rule = lenient ? OrphanRule::lenient : OrphanRule::strict;
        Names const expected = brute_orphans(as_given, added, lenient);
        CAPTURE(seed, drawn, has, wants, lenient);
        Changing house({drawn}, rule, has, 0);
        REQUIRE((house.put(wants) == "ok") == expected.empty());
        if (expected.empty()) continue;
        ++refused;
        REQUIRE(house.names_of(house.report.orphans) == expected);
        for (auto const& alternative : house.report.alternatives) {
            REQUIRE(alternative.size() == wants.size());
            Changing again({drawn}, rule, has, 0);
            REQUIRE(again.put(house.names_of(alternative)) == "ok");
        }
    }
    CHECK(refused > 100);
}

TEST_CASE("what an exchange gives back is free in the end-game, too", "[exchange][orphans]") {
    // 5 of 50 seats are free and one is given back: 12 %.
    std::vector<std::string> rows(9, "sssss");
    rows[0] = "ssssa";
    rows.emplace_back("aaaaa");
    CHECK(Changing(rows, OrphanRule::strict, {"1-5"}, 13).put({"10-2", "10-3"}) == "ok");
    CHECK(Changing(rows, OrphanRule::strict, {"1-5"}, 12).put({"10-2", "10-3"}) != "ok");
    CHECK(Changing(rows, OrphanRule::strict, {"1-5"}, 11).put({"10-2", "10-3"}) != "ok");
}

TEST_CASE("a hold never has a part of a group", "[exchange][groups]") {
    Changing house({"ajaja"}, OrphanRule::off, {"1-1", "1-2"});
    CHECK(house.parts(house.change({"1-1", "1-5"}), "1-1"));
    CHECK(house.parts(house.change({"1-1", "1-2", "1-4"}), "1-3"));
    CHECK(house.parts(house.change({"1-2"}, true), "1-1"));
    CHECK(house.has() == Names{"1-1", "1-2"});
    CHECK(house.put({"1-3", "1-4", "1-5"}) == "ok");
    CHECK(house.parts(house.change({"1-4", "1-5"}, true), "1-3"));
    REQUIRE(ok(house.change({"1-5"}, true)));
    CHECK(house.has() == Names{"1-3", "1-4"});
    CHECK(house.journal.count(journal::RecordType::edit) == 2);
    CHECK(house.journal.reserved() == 0);
}

TEST_CASE("a part of a group in a block goes back alone", "[exchange][groups][blocks]") {
    Changing house({"ajaja"}, OrphanRule::off, {"1-5"});
    BlockCommand command;
    std::vector const places{house.seat("1-2"), house.seat("1-3"), house.seat("1-4")};
    command.event = house.event;
    command.places = places;
    auto const block = house.engine.block(command, at(0ms), house.seats);
    REQUIRE(ok(block));
    std::vector const lines{house.line_of({"1-3"})};
    REQUIRE(
        ok(house.engine.exchange({block->name, lines, true, true, nullptr}, at(0ms), house.seats)));
    CHECK(house.names_of(house.seats) == Names{"1-2", "1-4"});
}

TEST_CASE("neither a refund nor a reseat takes a group apart", "[orders][groups]") {
    Changing house({"ajajaa"}, OrphanRule::off, {"1-1", "1-2", "1-5"});
    OrderId const order{3, 4};
    std::vector const holds{house.hold};
    REQUIRE(ok(house.engine.confirm({order, holds, PaymentMethod::none}, at(0ms))));
    auto const refund = [&](Names const& names) {
        std::vector<PlaceName> places;
        for (auto const& name : names) places.push_back({EventId{1}, house.seat(name)});
        return house.engine.refund({order, holds, places}, at(1ms));
    };
    auto const reseat = [&](std::vector<std::pair<char const*, char const*>> const& pairs) {
        std::vector<ReseatFact::Move> moves;
        for (auto const& [from, to] : pairs) moves.push_back({house.seat(from), house.seat(to)});
        return house.engine.reseat({order, holds, EventId{1}, moves, {}}, at(1ms));
    };
    CHECK(house.parts(refund({"1-2"}), "1-1"));
    CHECK(house.parts(refund({"1-1", "1-5"}), "1-1"));
    CHECK(house.parts(reseat({{"1-1", "1-6"}}), "1-1"));
    CHECK(house.parts(reseat({{"1-5", "1-4"}}), "1-3"));
    CHECK(house.journal.count(journal::RecordType::edit) == 0);
    CHECK(house.journal.reserved() == 0);
    REQUIRE(ok(reseat({{"1-1", "1-4"}, {"1-2", "1-3"}})));
    CHECK(house.has() == Names{"1-3", "1-4", "1-5"});
    // Tickets may change places within a group.
    REQUIRE(ok(reseat({{"1-3", "1-4"}, {"1-4", "1-3"}})));
    REQUIRE(ok(refund({"1-3", "1-4"})));
    CHECK(house.has() == Names{"1-5"});
}

}  // namespace holdfast::engine::test
