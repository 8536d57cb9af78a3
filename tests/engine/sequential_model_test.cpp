// The engine against a model in plain maps, on random sequences of commands.

#include "tests/engine/rehearsal.hpp"
#include "tests/support/shrink.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>
#include <utility>

namespace holdfast::engine::test {
namespace {

using Verb = Command::Verb;

std::uint64_t seed_of_run() {
    auto const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    return seed;
}

/// Some sequences have no expiry thread: deadlines must work without.
std::vector<Command> random_commands(std::mt19937_64& random, std::size_t count, bool ticks) {
    std::vector<Command> commands;
    while (commands.size() < count) {
        auto verb = static_cast<Verb>(random() % (static_cast<int>(Verb::restart) + 1));
        if (verb == Verb::tick && !ticks) verb = Verb::wait;
        if (verb == Verb::restart && random() % 8 != 0) verb = Verb::release;
        auto const number = [&] { return static_cast<std::uint32_t>(random()); };
        commands.push_back({verb, number(), number(), number()});
    }
    return commands;
}

std::string in_words(std::vector<Command> const& commands) {
    static char const* const names[] = {
        "seats",  "candidates", "best",        "general", "lines",    "partial",   "release",
        "extend", "confirm",    "confirm_two", "cancel",  "exchange", "give_back", "refund",
        "reseat", "block",      "unblock",     "wait",    "tick",     "restart"};
    std::string words;
    for (Command const& each : commands)
        words += std::string(names[static_cast<std::size_t>(each.verb)]) + ' ' +
                 std::to_string(each.a) + ' ' + std::to_string(each.b) + ' ' +
                 std::to_string(each.c) + '\n';
    return words;
}

/// HOLDFAST_COMMANDS: how many in all; else a million at the size of the commit gate.
std::size_t commands_of_run() {
    if (auto const* const given = std::getenv("HOLDFAST_COMMANDS"))
        return std::strtoull(given, nullptr, 10);
#if defined(NDEBUG)
    return std::getenv("HOLDFAST_CI") != nullptr ? 1'000'000 : 100'000;
#else
    return 20'000;
#endif
}

TEST_CASE("a failing sequence shrinks to what matters", "[engine][model]") {
    std::mt19937_64 random(1);
    auto const needs = [](std::vector<Command> const& commands) {
        bool claimed = false;
        for (Command const& each : commands) {
            if (each.verb == Verb::best) claimed = true;
            if (claimed && each.verb == Verb::cancel) return true;
        }
        return false;
    };
    auto const shortest = holdfast::test::shrink(random_commands(random, 300, true), needs);
    REQUIRE(shortest.size() == 2);
    CHECK(shortest[0].verb == Verb::best);
    CHECK(shortest[1].verb == Verb::cancel);
}

TEST_CASE("P2 P7: the engine does what a model in plain maps does", "[engine][model]") {
    std::mt19937_64 random(seed_of_run());
    constexpr std::size_t length = 250;
    std::size_t const total = commands_of_run();
    Tally tally;
    for (std::size_t run = 0; run * length < total; ++run) {
        auto const commands = random_commands(random, length, run % 2 == 0);
        Rules const rules{static_cast<OrphanRule>(run / 2 % 3), run / 6 % 2 == 0};
        std::string const difference = Rehearsal::run(commands, rules, tally);
        if (difference.empty()) continue;
        auto const shortest = holdfast::test::shrink(commands, [&](auto const& less) {
            return !Rehearsal::run(less, rules, tally).empty();
        });
        FAIL(Rehearsal::run(shortest, rules, tally) << ", orphan rule " << to_string(rules.orphans)
                                                    << ", limits " << rules.limits << ", after\n"
                                                    << in_words(shortest));
    }
    for (int verb = 0; verb < static_cast<int>(Verb::wait); ++verb) {
        CAPTURE(verb);
        CHECK(tally.done[static_cast<Verb>(verb)] > 0);
    }
    using Code = RefusalCode;
    std::vector<std::pair<Code, int>> const reasons{
        {Code::user_limit, static_cast<int>(LimitKind::places)},
        {Code::user_limit, static_cast<int>(LimitKind::open_holds)},
        {Code::hold_budget, static_cast<int>(SeatReason::none)},
        {Code::hold_budget, static_cast<int>(SeatReason::cooling_down)},
        {Code::orphan_seat, 0},
        {Code::sold_out, 0},
        {Code::illegal_transition, 0},
        {Code::seats_unavailable, static_cast<int>(SeatReason::blocked)}};
    for (auto const& [code, detail] : reasons) {
        CAPTURE(static_cast<int>(code), detail);
        CHECK(tally.refused[{code, detail}] > 0);
    }
}

TEST_CASE("50,000 holds with one deadline are free at it, and end in few calls", "[engine]") {
    constexpr std::uint32_t count = 50'000;
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    Section floor;
    floor.id = "GA";
    floor.general = true;
    floor.capacity = count;
    builder.add_general(floor);
    auto spec = std::make_shared<EventSpec>();
    spec->id = EventId{7};
    spec->slug = "crowd";
    spec->publish = true;
    spec->layout = std::move(*std::move(builder).build());
    holdfast::test::MemoryJournal journal;
    Engine engine(journal, {});
    LiveEvent* const event = engine.add(spec);
    engine.build(*event, {});
    ClaimLine line;
    line.kind = ClaimLine::Kind::general;
    line.count = 1;
    std::vector<ClaimLine> const lines{line};
    std::vector<SeatIndex> seats;
    std::uint32_t won = 0;
    for (std::uint32_t i = 0; i < count; ++i)
        won += engine.claim({event, lines, 0, 60s, false}, at(0ms), seats) ? 1 : 0;
    REQUIRE(won == count);
    REQUIRE_FALSE(ok(engine.claim({event, lines, 0, 60s, false}, at(59'999ms), seats)));
    engine.expire(at(59'990ms));
    CHECK(event->availability(at(59'999ms)).front().free == 0);
    // Nobody has come by yet, and all of it is free.
    CHECK(event->availability(at(60s)).front().free == count);
    // With the expiry thread stopped, claims end them: each the one it takes, although the first
    // ones come by all of them.
    bool const stopped = GENERATE(true, false);
    if (stopped) {
        std::uint64_t most = 0;
        won = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            std::uint64_t const before = journal.appended_lsn().value();
            won += engine.claim({event, lines, 0, 60s, false}, at(60s), seats) ? 1 : 0;
            most = std::max(most, journal.appended_lsn().value() - before);
        }
        CHECK(won == count);
        CHECK(most == 2);  // its own fact and one end
        CHECK_FALSE(ok(engine.claim({event, lines, 0, 60s, false}, at(60s), seats)));
        CHECK(engine.expire(at(60s)) == 0);
    } else {
        std::size_t ended = 0;
        int calls = 0;
        for (; ended < count && calls < 50; ++calls) ended += engine.expire(at(60s) + 10ms * calls);
        CHECK(ended == count);
        CHECK(calls <= 10);
    }
    CHECK(journal.count(journal::RecordType::end) == count);
}

}  // namespace
}  // namespace holdfast::engine::test
