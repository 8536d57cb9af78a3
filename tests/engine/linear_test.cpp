// The checker of histories: what it must accept, and what it must not.

#include "tests/engine/seat_history.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace holdfast::engine::test {
namespace {

using Op = SeatOp;
using SeatAnswer = SeatOp::Answer;
using History = std::vector<holdfast::test::Recorded<SeatOp>>;

Op won(std::uint8_t hold, std::uint8_t seats) {
    return {Op::Kind::claim, SeatAnswer::done, seats, 0, 0, hold};
}
Op lost(std::uint8_t seats, std::uint8_t named) {
    return {Op::Kind::claim, SeatAnswer::refused, seats, 0, named, 0};
}
Op got(std::uint8_t hold, std::uint8_t seats) {
    return {
        Op::Kind::any, SeatAnswer::done, seats, static_cast<std::uint8_t>(std::popcount(seats)), 0,
        hold};
}
Op sold_out(std::uint8_t count) {
    return {Op::Kind::any, SeatAnswer::refused, 0, count, 0, 0};
}
Op none_of(std::uint8_t count, std::uint8_t candidates) {
    return {Op::Kind::candidates, SeatAnswer::refused, 0, count, candidates, 0};
}
Op first_of(std::uint8_t hold, std::uint8_t seats, std::uint8_t candidates) {
    return {Op::Kind::candidates, SeatAnswer::done, seats, 1, candidates, hold};
}
Op verb(Op::Kind kind, std::uint8_t hold, SeatAnswer answer = SeatAnswer::done) {
    return {kind, answer, 0, 0, 0, hold};
}
Op look(std::uint8_t seat, std::uint8_t state) {
    return {Op::Kind::look, SeatAnswer::done, seat, 0, state, 0};
}
Op change(Op::Kind kind, std::uint8_t hold, std::uint8_t seats, std::uint8_t number,
          SeatAnswer answer = SeatAnswer::done, std::uint8_t named = 0) {
    return {kind, answer, seats, 0, named, hold, number};
}
Op part(std::uint8_t number) {
    return change(Op::Kind::part, 0, 0, number);
}
constexpr auto exchange = Op::Kind::exchange;
constexpr auto give_back = Op::Kind::give_back;
constexpr auto refund = Op::Kind::refund;
constexpr auto release = Op::Kind::release;
constexpr auto extend = Op::Kind::extend;
constexpr auto confirm = Op::Kind::confirm;
constexpr auto cancel = Op::Kind::cancel;

struct Case {
    std::string what;
    History history;
};

bool accepts(History const& history) {
    return holdfast::test::linearizable(history, SeatRules(2));
}

TEST_CASE("the checker accepts histories that some order explains", "[linear]") {
    std::vector<Case> const good{
        {"nothing", {}},
        {"a claim and its release", {{won(1, 3), 1, 2}, {verb(release, 1), 3, 4}}},
        {"two claims at once, one refused", {{won(1, 3), 1, 4}, {lost(3, 1), 2, 3}}},
        {"the refused one returns first", {{lost(1, 1), 1, 2}, {won(1, 1), 1, 9}}},
        {"a release overtakes a claim",
         {{won(1, 1), 1, 2}, {verb(release, 1), 3, 8}, {won(2, 1), 4, 5}}},
        {"two releases at once",
         {{won(1, 1), 1, 2}, {verb(release, 1), 3, 6}, {verb(release, 1, SeatAnswer::gone), 4, 5}}},
        {"an exchange, whose dropped seat is free a moment later",
         {{won(1, 1), 1, 2},
          {change(exchange, 1, 2, 1), 3, 10},
          {part(1), 3, 10},
          {look(2, 1), 4, 5},
          {lost(1, 1), 6, 7},
          {won(2, 1), 8, 9}}},
        {"a part given back, and the rest",
         {{won(1, 3), 1, 2},
          {change(give_back, 1, 1, 1), 3, 4},
          {part(1), 3, 4},
          {won(2, 1), 5, 6},
          {change(give_back, 1, 2, 2), 7, 8},
          {part(2), 7, 8},
          {verb(release, 1, SeatAnswer::gone), 9, 10}}},
        {"sold out during a hold", {{won(1, 2), 1, 5}, {sold_out(2), 2, 3}}},
        {"no candidate is free, then one is",
         {{won(1, 2), 1, 2},
          {none_of(1, 2), 3, 4},
          {none_of(2, 3), 5, 6},
          {first_of(2, 1, 3), 7, 8}}},
        {"a sale, and its refund",
         {{won(1, 1), 1, 2},
          {verb(confirm, 1), 3, 4},
          {look(1, 2), 5, 6},
          {verb(cancel, 1), 7, 8},
          {look(1, 0), 9, 10}}},
        {"busy means nothing happened",
         {{verb(confirm, 1, SeatAnswer::busy), 1, 2}, {won(1, 3), 3, 4}}},
        {"a look during a claim, old and new",
         {{won(1, 1), 1, 9}, {look(1, 0), 2, 3}, {look(1, 1), 4, 5}}},
    };
    for (Case const& each : good) {
        CAPTURE(each.what);
        CHECK(accepts(each.history));
    }
}

TEST_CASE("the checker rejects histories that no order explains", "[linear]") {
    std::vector<Case> const bad{
        {"two owners", {{won(1, 1), 1, 2}, {won(2, 1), 3, 4}}},
        {"two owners at once", {{won(1, 1), 1, 4}, {won(2, 1), 2, 3}}},
        {"two owners of one of two seats", {{won(1, 3), 1, 4}, {won(2, 2), 2, 3}}},
        {"refused though never taken", {{lost(1, 1), 1, 2}}},
        {"refused before the other began", {{lost(1, 1), 1, 2}, {won(1, 1), 3, 4}}},
        {"refused after the release",
         {{won(1, 1), 1, 2}, {verb(release, 1), 3, 4}, {lost(1, 1), 5, 6}}},
        {"refused by the wrong seat", {{won(1, 1), 1, 2}, {lost(3, 2), 3, 4}}},
        {"each refused by the other", {{lost(3, 1), 1, 4}, {lost(3, 2), 2, 3}}},
        {"sold out though all is free", {{sold_out(1), 1, 2}}},
        {"one is left, yet sold out for one", {{won(1, 1), 1, 2}, {sold_out(1), 3, 4}}},
        {"a verdict that outlives a release",
         {{won(1, 3), 1, 2}, {verb(release, 1), 3, 4}, {sold_out(2), 5, 6}}},
        {"refused though a candidate is free at every instant",
         {{won(1, 1), 1, 2}, {none_of(1, 3), 3, 10}, {verb(release, 1), 4, 5}, {won(2, 2), 6, 7}}},
        {"given a seat that is no candidate", {{first_of(1, 1, 2), 1, 2}}},
        {"a search is given a taken seat", {{won(1, 1), 1, 2}, {got(2, 1), 3, 4}}},
        {"a search is given nothing", {{got(1, 0), 1, 2}}},
        {"released twice", {{won(1, 1), 1, 2}, {verb(release, 1), 3, 6}, {verb(release, 1), 4, 5}}},
        {"released before it was claimed", {{verb(release, 1), 1, 2}, {won(1, 1), 3, 4}}},
        {"gone though it lives", {{won(1, 1), 1, 2}, {verb(release, 1, SeatAnswer::gone), 3, 4}}},
        {"extended after its end",
         {{won(1, 1), 1, 2}, {verb(release, 1), 3, 4}, {verb(extend, 1), 5, 6}}},
        {"sold and released",
         {{won(1, 1), 1, 2}, {verb(confirm, 1), 3, 6}, {verb(release, 1), 4, 5}}},
        {"sold twice", {{won(1, 1), 1, 2}, {verb(confirm, 1), 3, 6}, {verb(confirm, 1), 4, 5}}},
        {"refunded without a sale", {{won(1, 1), 1, 2}, {verb(cancel, 1), 3, 4}}},
        {"refunded twice",
         {{won(1, 1), 1, 2},
          {verb(confirm, 1), 3, 4},
          {verb(cancel, 1), 5, 8},
          {verb(cancel, 1), 6, 7}}},
        {"still sold after the refund",
         {{won(1, 1), 1, 2},
          {verb(confirm, 1), 3, 4},
          {verb(cancel, 1), 5, 6},
          {look(1, 2), 7, 8}}},
        {"shown free although held", {{won(1, 1), 1, 2}, {look(1, 0), 3, 4}}},
        {"shown held, then free, though never ended",
         {{won(1, 1), 1, 9}, {look(1, 1), 2, 3}, {look(1, 0), 4, 5}}},
        {"half of a claim is seen", {{won(1, 3), 1, 9}, {look(1, 1), 2, 3}, {look(2, 0), 4, 5}}},
        {"half of a release is seen",
         {{won(1, 3), 1, 2}, {verb(release, 1), 3, 9}, {look(2, 0), 4, 5}, {lost(1, 1), 6, 7}}},
    };
    CHECK(bad.size() >= 20);
    for (Case const& each : bad) {
        CAPTURE(each.what);
        CHECK_FALSE(accepts(each.history));
    }
}

TEST_CASE("the checker rejects changes of lists that no order explains", "[linear]") {
    std::vector<Case> const bad{
        {"an exchange to a taken seat",
         {{won(1, 1), 1, 2},
          {won(2, 2), 3, 4},
          {change(exchange, 1, 2, 1), 5, 6},
          {part(1), 5, 6}}},
        {"an exchange refused by its own seat",
         {{won(1, 1), 1, 2}, {change(exchange, 1, 3, 1, SeatAnswer::refused, 1), 3, 4}}},
        {"what an exchange keeps is free in between",
         {{won(1, 1), 1, 2},
          {change(exchange, 1, 3, 1), 3, 8},
          {part(1), 3, 8},
          {look(1, 0), 4, 5}}},
        {"what an exchange dropped is still taken afterwards",
         {{won(1, 1), 1, 2},
          {change(exchange, 1, 2, 1), 3, 4},
          {part(1), 3, 4},
          {lost(1, 1), 5, 6}}},
        {"the dropped seat is free before the new one is taken",
         {{won(1, 1), 1, 2},
          {change(exchange, 1, 2, 1), 3, 9},
          {part(1), 3, 9},
          {look(1, 0), 4, 5},
          {look(2, 0), 6, 7}}},
        {"a seat given back that the hold does not have",
         {{won(1, 1), 1, 2}, {change(give_back, 1, 2, 1), 3, 4}, {part(1), 3, 4}}},
        {"given back all of it, and released something",
         {{won(1, 1), 1, 2},
          {change(give_back, 1, 1, 1), 3, 4},
          {part(1), 3, 4},
          {verb(release, 1), 5, 6}}},
        {"tickets refunded of what is not sold",
         {{won(1, 3), 1, 2}, {change(refund, 1, 1, 1), 3, 4}, {part(1), 3, 4}}},
    };
    for (Case const& each : bad) {
        CAPTURE(each.what);
        CHECK_FALSE(accepts(each.history));
    }
}

}  // namespace
}  // namespace holdfast::engine::test
