// The orphan rule, by examples and against its definition on random rows.
#include "tests/engine/orphan_definition.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>

namespace holdfast::engine::test {
namespace {

struct Example {
    char const* what;
    std::vector<std::string> rows;
    Names claim;
    std::string lenient, strict;
};

std::vector<Example> examples() {
    return {
        {"a seat at the end of a row, #78",
         {"aaaaa"},
         {"1-2", "1-3"},
         "1-1 / 1-1 1-2 / 1-4 1-5",
         "1-1 / 1-1 1-2 / 1-4 1-5"},
        {"the other end",
         {"aaaaa"},
         {"1-3", "1-4"},
         "1-5 / 1-4 1-5 / 1-1 1-2",
         "1-5 / 1-4 1-5 / 1-1 1-2"},
        {"from the end on", {"aaaaa"}, {"1-1", "1-2"}, "ok", "ok"},
        {"a run of one more than asked, #78", {"aaa"}, {"1-1", "1-2"}, "ok", "1-3"},
        {"the middle one of it", {"aaa"}, {"1-1", "1-3"}, "ok", "1-2"},
        {"one more than asked, between taken seats", {"saaas"}, {"1-3", "1-4"}, "ok", "1-2"},
        {"two gaps at once",
         {"aaaa"},
         {"1-2", "1-3"},
         "1-1 1-4 / 1-1 1-2 / 1-3 1-4",
         "1-1 1-4 / 1-1 1-2 / 1-3 1-4"},
        {"a gap between sold seats", {"aaaash"}, {"1-3"}, "1-4 / 1-4 / 1-1", "1-4 / 1-4 / 1-1"},
        {"a seat that was single before", {"saasa"}, {"1-2", "1-3"}, "ok", "ok"},
        {"beside an aisle", {"aa|aaa"}, {"1-4", "1-5"}, "ok", "ok"},
        {"beside another category, #75", {"aaab"}, {"1-1", "1-2"}, "ok", "ok"},
        {"another category left alone", {"aab"}, {"1-1", "1-2"}, "ok", "ok"},
        {"a block on purpose", {"xaaaaa"}, {"1-3", "1-4"}, "ok", "ok"},
        {"not across rows", {"aaaa", "aaaa"}, {"1-1", "1-2", "2-1", "2-2"}, "ok", "ok"},
        {"all there is", {"saas"}, {"1-2", "1-3"}, "ok", "ok"},
        {"runs of two rows",
         {"aaaaa", "aaaa"},
         {"1-2", "1-3", "2-3", "2-4"},
         "1-1 / 1-1 1-2 2-3 2-4 / 1-4 1-5 2-3 2-4",
         "1-1 / 1-1 1-2 2-3 2-4 / 1-4 1-5 2-3 2-4"},
        {"a sofa stays whole in the alternatives",
         {"aajaa"},
         {"1-4"},
         "1-5 / 1-5 / 1-1",
         "1-5 / 1-5 / 1-1"},
        {"accessible places stay out of the alternatives",
         {"waaaaw"},
         {"1-2", "1-3"},
         "1-1 / 1-3 1-4",
         "1-1 / 1-3 1-4"},
    };
}

TEST_CASE("the orphan rule by examples", "[engine][orphans]") {
    for (Example const& example : examples()) {
        INFO(example.what);
        CHECK(DrawnHouse(example.rows, OrphanRule::lenient, 0).answer(example.claim) ==
              example.lenient);
        CHECK(DrawnHouse(example.rows, OrphanRule::strict, 0).answer(example.claim) ==
              example.strict);
        CHECK(DrawnHouse(example.rows, OrphanRule::off, 0).answer(example.claim) == "ok");
    }
}

TEST_CASE("every alternative of a refusal can be claimed", "[engine][orphans]") {
    DrawnHouse house({"aaaaaaaaaa"}, OrphanRule::strict);
    REQUIRE_FALSE(ok(house.claim({"1-2", "1-3", "1-4"})));
    auto const alternatives = house.report.alternatives;
    REQUIRE(alternatives.size() == limits::orphan_alternatives_max);
    for (auto const& seats : alternatives) {
        DrawnHouse other({"aaaaaaaaaa"}, OrphanRule::strict);
        CHECK(other.answer(house.names_of(seats)) == "ok");
    }
}

TEST_CASE("an expired hold's seats are free to the orphan rule, to the millisecond",
          "[engine][orphans]") {
    DrawnHouse before({"akaaa"}, OrphanRule::strict);
    CHECK(before.answer({"1-3", "1-4", "1-5"}, 999ms) == "ok");  // seat 1 was single before
    DrawnHouse after({"kaaaa"}, OrphanRule::strict);
    CHECK(after.answer({"1-2", "1-3"}, 1'000ms).starts_with("1-1 /"));
    DrawnHouse taken({"kaaaa"}, OrphanRule::strict);
    CHECK(taken.answer({"1-2", "1-3"}, 999ms) == "ok");
}

TEST_CASE("the orphan rule rests in the end-game of a section", "[engine][orphans]") {
    // 5 of 50 seats are free: 10 %.
    std::vector<std::string> rows(9, "sssss");
    rows.emplace_back("aaaaa");
    CHECK(DrawnHouse(rows, OrphanRule::strict, 10).answer({"10-2", "10-3"}) != "ok");
    CHECK(DrawnHouse(rows, OrphanRule::strict, 11).answer({"10-2", "10-3"}) == "ok");
    CHECK(DrawnHouse(rows, OrphanRule::strict, 0).answer({"10-2", "10-3"}) != "ok");
}

TEST_CASE("the orphan rule binds candidates too, and staff only for a customer",
          "[engine][orphans]") {
    DrawnHouse house({"aaaaa"}, OrphanRule::lenient);
    ClaimLine line = house.line_of({"1-2", "1-3", "1-4"});
    line.kind = ClaimLine::Kind::candidates;
    line.count = 2;
    house.lines = {line};
    ClaimCommand command{house.event, house.lines, 0, {}, false, false, nullptr};
    auto const refused = house.engine.claim(command, at(0ms), house.seats);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::orphan_seat);
    CHECK(house.journal.reserved() == 0);
    CHECK(house.journal.records().empty());
    command.staff = true;
    command.holder = 9;  // for a customer, who is bound by it
    CHECK(house.engine.claim(command, at(0ms), house.seats).error().code ==
          RefusalCode::orphan_seat);
    command.holder = 0;
    CHECK(ok(house.engine.claim(command, at(0ms), house.seats)));
}

TEST_CASE("a taken seat is told before an orphan, and other lines' seats are taken",
          "[engine][orphans]") {
    DrawnHouse house({"aaaah"}, OrphanRule::strict);
    auto const lost = house.claim({"1-2", "1-5"});
    REQUIRE_FALSE(ok(lost));
    CHECK(lost.error().code == RefusalCode::seats_unavailable);
    house.lines = {house.line_of({"1-1"}), house.line_of({"1-2"})};
    ClaimCommand const command{house.event, house.lines, 0, {}, false, false, nullptr};
    CHECK(ok(house.engine.claim(command, at(0ms), house.seats)));
}

TEST_CASE("the orphan rule is its definition on random rows", "[engine][orphans]") {
    char const* const given = std::getenv("HOLDFAST_SEED");
    auto const seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    std::mt19937_64 random(seed);
    int refused = 0;
    for (int round = 0; round < 2'000; ++round) {
        std::string row;
        std::size_t const size = 2 + random() % 11;
        for (std::size_t i = 0; i < size; ++i) {
            if (i > 0 && random() % 8 == 0) row += '|';
            row += std::string_view("aaaaaaabbsshx")[random() % 13];
        }
        std::vector<bool> claimed;
        Names names;
        int seat = 0;
        for (char const c : row) {
            if (c == '|') continue;
            ++seat;
            bool const wanted = (c == 'a' || c == 'b') && random() % 3 == 0;
            claimed.push_back(wanted);
            if (wanted) names.push_back("1-" + std::to_string(seat));
        }
        if (names.empty()) continue;
        bool const lenient = random() % 2 == 0;
        OrphanRule const rule = lenient ? OrphanRule::lenient : OrphanRule::strict;
        Names const expected = brute_orphans(row, claimed, lenient);
        DrawnHouse house({row}, rule, 0);
        CAPTURE(row, names, lenient);
        bool const granted = ok(house.claim(names));
        REQUIRE(granted == expected.empty());
        if (granted) continue;
        ++refused;
        REQUIRE(house.names_of(house.report.orphans) == expected);
        for (auto const& alternative : house.report.alternatives) {
            REQUIRE(alternative.size() == names.size());
            DrawnHouse again({row}, rule, 0);
            REQUIRE(again.answer(house.names_of(alternative)) == "ok");
        }
    }
    CHECK(refused > 100);
}

}  // namespace
}  // namespace holdfast::engine::test
