// The table of marks: what a repeat is told, and what goes when there is no room.
#include "engine/mark_bytes.hpp"
#include "tests/engine/fact_samples.hpp"

#include <holdfast/engine/marks.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <utility>

namespace holdfast::engine::test {
namespace {

using namespace std::chrono_literals;
using TableKind = Marks::Begun::Kind;

/// All in one shard, so that the bounds of a shard are those of the table.
Mark mark_number(std::uint64_t number, std::uint64_t request = 1) {
    return {{0, number}, {7, request}};
}
HoldName hold_number(std::uint32_t number) {
    return {EventId{1}, HoldRef{std::uint64_t{1}, SlotIndex{number}}};
}
constexpr std::size_t shards = 16;

MarkEntry entry_of(std::uint64_t number, Answer const& answer, TimePoint when = at(1'000)) {
    return {mark_number(number), when, when + limits::mark_life, Lsn{number}, encode(answer)};
}

struct Table {
    explicit Table(MarkBounds const& bounds = {})
        : marks(bounds, [this](HoldName const& hold) { return !ended.contains(hold.ref.bits()); }) {
    }
    TableKind begin(std::uint64_t number, std::uint64_t request = 1, TimePoint now = at(2'000)) {
        return marks.begin(mark_number(number, request), now).kind;
    }
    void end(std::uint32_t hold) { ended.insert(hold_number(hold).ref.bits()); }

    std::set<std::uint64_t> ended;
    Marks marks;
};

std::vector<Answer> every_answer() {
    return {HoldAnswer{hold_number(3), at(5), no_deadline, 77, {SeatIndex{1}, SeatIndex{9}}},
            EndAnswer{hold_number(4)},
            OrderAnswer{{1, 2},
                        at(6),
                        PaymentMethod::none,
                        9'000,
                        {{EventId{1}, {SeatIndex{1}}}, {EventId{2}, {SeatIndex{4}, SeatIndex{5}}}}},
            ChangeAnswer{{1, 2}, true, 4'500, {{SeatIndex{1}, false}, {SeatIndex{4}, true}}},
            StepAnswer{EventId{3}, EventState::paused}};
}

}  // namespace

TEST_CASE("an answer is read back from its bytes, and from no others", "[marks]") {
    for (Answer const& answer : every_answer()) {
        AnswerBytes bytes = encode(answer);
        CAPTURE(answer.index());
        CHECK(decode_answer(bytes) == answer);
        for (std::size_t kept = 0; kept < bytes.size(); ++kept)
            CHECK_FALSE(decode_answer(std::span(bytes).first(kept)));
        bytes.push_back(std::byte{0});
        CHECK_FALSE(decode_answer(bytes));
        bytes[0] = std::byte{9};
        CHECK_FALSE(decode_answer(bytes));
    }
    CHECK(hold_of(encode(every_answer()[0])) == hold_number(3));
    CHECK(hold_of(encode(every_answer()[1])) == hold_number(4));
    CHECK_FALSE(hold_of(encode(every_answer()[2])));
}

TEST_CASE("a claim's answer is made before it is known which hold it will be", "[marks]") {
    auto hold = std::get<HoldAnswer>(every_answer()[0]);
    AnswerBytes const whole = encode(Answer{hold});
    auto const seats = std::exchange(hold.seats, {});
    HoldRef const ref = std::exchange(hold.hold.ref, HoldRef{});
    AnswerBytes bytes = encode_unnamed(hold, seats);
    CHECK_FALSE(decode_answer(bytes));
    set_ref(bytes, ref);
    CHECK(bytes == whole);
}

TEST_CASE("a step's answer is made before it is known which event it will be", "[marks]") {
    AnswerBytes bytes = encode(Answer{StepAnswer{EventId{}, EventState::draft}});
    set_event(bytes, EventId{0x0403'0201});
    CHECK(bytes == encode(Answer{StepAnswer{EventId{0x0403'0201}, EventState::draft}}));
}

TEST_CASE("a mark is read back from its bytes, and from no others", "[marks]") {
    auto const answer = encode(every_answer()[0]);
    FactWriter writer;
    write_mark(writer, {mark_number(5), at(8), at(9), answer});
    auto const bytes = std::move(writer).take();
    auto const fact = decode_mark(bytes);
    REQUIRE(fact.has_value());
    CHECK(fact->mark == mark_number(5));
    CHECK(fact->at == at(8));
    CHECK(fact->keep_until == at(9));
    CHECK(AnswerBytes(fact->answer.begin(), fact->answer.end()) == answer);
    CHECK(decode_mark(std::span(bytes).first(mark_bytes_least)).has_value());  // a claim's
    CHECK_FALSE(decode_mark(std::span(bytes).first(mark_bytes_least - 1)));
    CHECK_FALSE(decode_mark(std::span(bytes).first(bytes.size() - 1)));
}

TEST_CASE("a key goes from unknown to in flight to done, and a repeat is told where it is",
          "[marks]") {
    Table table;
    CHECK(table.begin(1) == TableKind::fresh);
    CHECK(table.begin(1) == TableKind::in_flight);
    CHECK(table.begin(1, 2) == TableKind::mismatch);
    CHECK(table.begin(2, 2) == TableKind::fresh);  // another scope
    table.marks.finish(entry_of(1, every_answer()[0]));
    auto const again = table.marks.begin(mark_number(1), at(2'000));
    CHECK(again.kind == TableKind::answered);
    CHECK(again.answer == encode(every_answer()[0]));
    CHECK(again.lsn == Lsn{1});
    CHECK(table.begin(1, 2) == TableKind::mismatch);
    // Done is done, whatever its request says later.
    table.marks.forget(mark_number(1));
    CHECK(table.begin(1) == TableKind::answered);
    // What had no effect is as if it had never been.
    table.marks.forget(mark_number(2, 2));
    CHECK(table.begin(2, 3) == TableKind::fresh);
    auto const counts = table.marks.counts();
    CHECK(counts.marks == 1);
    CHECK(counts.in_flight == 1);
    CHECK(counts.replayed == 2);
    CHECK(counts.mismatched == 2);
    CHECK(counts.refused_in_flight == 1);
}

TEST_CASE("an answer is kept for a day, and for as long as its mark says", "[marks]") {
    Table table;
    table.marks.finish(entry_of(1, every_answer()[0], at(0)));
    MarkEntry order = entry_of(2, every_answer()[2], at(0));
    order.keep_until = at(0) + 48h;
    table.marks.finish(order);
    CHECK(table.begin(1, 1, at(0) + 24h - 1ms) == TableKind::answered);
    CHECK(table.begin(1, 1, at(0) + 24h) == TableKind::fresh);
    CHECK(table.begin(2, 1, at(0) + 24h) == TableKind::answered);
    // What is over goes when others come.
    table.marks.forget(mark_number(1));
    table.marks.finish(entry_of(3, every_answer()[0], at(0)));
    table.marks.finish(entry_of(4, every_answer()[0], at(0) + 25h));
    CHECK(table.marks.counts().marks == 2);
}

TEST_CASE("a full table gives up marks of ended holds first, oldest first", "[marks]") {
    // A table of five marks of one place each.
    MarkEntry const one = entry_of(1, HoldAnswer{hold_number(1), at(0), at(9), 0, {SeatIndex{1}}});
    Table probe;
    probe.marks.finish(one);
    std::size_t const bytes = probe.marks.counts().mark_bytes;
    Table table({shards * 5 * bytes, 0});
    auto const put = [&table](std::uint32_t number) {
        table.marks.finish(
            entry_of(number, HoldAnswer{hold_number(number), at(0), at(9), 0, {SeatIndex{1}}}));
    };
    for (std::uint32_t number = 1; number <= 5; ++number) put(number);
    table.end(2);
    table.end(4);
    put(6);
    CHECK(table.begin(2) == TableKind::fresh);  // the oldest that has ended
    CHECK(table.begin(1) == TableKind::answered);
    put(7);
    CHECK(table.begin(4) == TableKind::fresh);
    CHECK(table.marks.counts().evicted == 2);
    // Nothing has ended: one goes all the same.
    put(8);
    auto const answered = [&table](std::vector<std::uint32_t> const& numbers) {
        return std::ranges::count_if(numbers, [&table](std::uint32_t number) {
            return table.begin(number) == TableKind::answered;
        });
    };
    CHECK(answered({1, 3, 5, 6, 7, 8}) == 5);
    // One that was looked at when its hold lived goes before those whose holds live still.
    table.end(8);
    put(9);
    CHECK(table.begin(8) == TableKind::fresh);
    CHECK(answered({1, 3, 5, 6, 7, 9}) == 5);
    CHECK(table.marks.counts().marks == 5);
    CHECK(table.marks.counts().mark_bytes == 5 * bytes);
}

TEST_CASE("orders are given up last, however many holds come and go", "[marks]") {
    auto const claim = [](std::uint32_t number, TimePoint when) {
        return entry_of(number, HoldAnswer{hold_number(number), when, when, 0, {SeatIndex{1}}},
                        when);
    };
    Table probe;
    probe.marks.finish(claim(1, at(0)));
    std::size_t const bytes = probe.marks.counts().mark_bytes;
    // Also those of an event without a time, which are kept as long as all others.
    auto const kept = GENERATE(as<std::chrono::hours>{}, 90 * 24h, limits::mark_life);
    Table table({shards * 40 * bytes, 0});
    for (std::uint64_t number = 1; number <= 10; ++number) {
        MarkEntry order = entry_of(number, every_answer()[number % 2 == 0 ? 2 : 3], at(0));
        order.keep_until = at(0) + kept;
        table.marks.finish(order);
    }
    // Three waves of holds: all live, then all of them end while the next ones come.
    std::uint32_t number = 100;
    for (int wave = 0; wave < 3; ++wave) {
        std::uint32_t const first = number;
        for (int i = 0; i < 200; ++i) table.marks.finish(claim(number++, at(1)));
        for (std::uint32_t ended = first; ended < number; ++ended) table.end(ended);
    }
    for (std::uint64_t order = 1; order <= 10; ++order)
        CHECK(table.begin(order) == TableKind::answered);
    CHECK(table.marks.counts().mark_bytes <= 40 * bytes);
}

TEST_CASE("what is over goes, though something older is kept longer", "[marks]") {
    Table table;
    MarkEntry lasting = entry_of(1, every_answer()[2], at(0));
    lasting.keep_until = at(0) + 90 * 24h;
    table.marks.finish(lasting);
    MarkEntry order = entry_of(2, every_answer()[2], at(0));
    order.keep_until = at(0) + 30h;
    table.marks.finish(order);
    table.marks.finish(entry_of(3, every_answer()[4], at(0)));
    table.marks.finish(entry_of(4, every_answer()[4], at(0) + 31h));
    CHECK(table.marks.counts().marks == 2);
    CHECK(table.begin(1, 1, at(0) + 31h) == TableKind::answered);
    CHECK(table.begin(4, 1, at(0) + 31h) == TableKind::answered);
}

TEST_CASE("refusals have a bound of their own, and push out no success", "[marks]") {
    // A shard has 16 lists of refusals; each has room for five of them.
    AnswerBytes const refusal(50, std::byte{7});
    Table table({limits::mark_bytes_default, shards * 16 * 5 * 250});
    table.marks.finish(entry_of(1, every_answer()[2]));
    table.marks.keep_reply(mark_number(2), at(0), AnswerBytes(40, std::byte{9}));
    REQUIRE(table.begin(3) == TableKind::fresh);
    table.marks.keep_refusal(mark_number(3), at(0), refusal, 77);
    auto const again = table.marks.begin(mark_number(3), at(1));
    CHECK(again.kind == TableKind::refused);
    CHECK(again.answer == refusal);
    CHECK(again.lsn == no_lsn);  // it waits for nothing
    CHECK(table.begin(3, 2) == TableKind::mismatch);
    // The same client's push out the oldest of its own.
    for (std::uint64_t number = 10; number < 30; ++number)
        table.marks.keep_refusal(mark_number(number), at(0), refusal, 77);
    CHECK(table.begin(3) == TableKind::fresh);
    for (std::uint64_t number = 25; number < 30; ++number)
        CHECK(table.begin(number) == TableKind::refused);
    CHECK(table.marks.counts().refusals == 5 + 1);
    // Those of all clients, and what would be refused again anyway, have no more than their room.
    for (std::uint64_t number = 1'000; number < 3'000; ++number) {
        table.marks.keep_refusal(mark_number(number), at(0), refusal, number);
        table.marks.keep_refusal(mark_number(10'000 + number), at(0), refusal, {});
    }
    CHECK(table.marks.counts().refusals == 16 * 5 + 1);
    CHECK(table.marks.counts().refusal_bytes <= 16 * 5 * 250 + 250);
    CHECK(table.begin(1) == TableKind::answered);
    CHECK(table.marks.begin(mark_number(2), at(1)).answer == AnswerBytes(40, std::byte{9}));
    CHECK(table.marks.counts().evicted == 0);
}

TEST_CASE("one client's refusals leave those of others", "[marks]") {
    AnswerBytes const refusal(50, std::byte{7});
    Table table({limits::mark_bytes_default, shards * 16 * 5 * 250});
    for (std::uint64_t client = 0; client < 40; ++client)
        table.marks.keep_refusal(mark_number(client), at(0), refusal, client);
    auto const kept = [&table] {
        std::uint64_t count = 0;
        for (std::uint64_t client = 0; client < 40; ++client) {
            bool const there = table.begin(client) == TableKind::refused;
            if (!there) table.marks.forget(mark_number(client));
            count += there ? 1 : 0;
        }
        return count;
    };
    std::uint64_t const before = kept();
    REQUIRE(before >= 20);
    for (std::uint64_t number = 100; number < 5'000; ++number)
        table.marks.keep_refusal(mark_number(number), at(0), refusal, 1'000);
    // Who shares the list with that client loses them: five at most.
    CHECK(kept() + 5 >= before);
}

TEST_CASE("of two marks of one key the newer one counts, whichever comes first", "[marks]") {
    Table table;
    MarkEntry const old = entry_of(1, every_answer()[0], at(0));
    MarkEntry const young = entry_of(1, every_answer()[4], at(0) + 48h);
    table.marks.finish(young);
    table.marks.restore({old});
    CHECK(table.marks.begin(mark_number(1), at(0) + 48h).answer == young.answer);
    table.marks.restore({young});
    CHECK(table.marks.counts().marks == 1);
    Table other;
    other.marks.restore({old, young});
    CHECK(other.marks.begin(mark_number(1), at(0) + 48h).answer == young.answer);
}

TEST_CASE("a table that is restored answers as before", "[marks]") {
    std::vector<MarkEntry> entries;
    for (std::uint64_t number = 1; number <= 5; ++number)
        entries.push_back(entry_of(number, every_answer()[number - 1]));
    Table table;
    table.marks.restore(entries);
    for (MarkEntry const& entry : entries) {
        auto const again = table.marks.begin(entry.mark, at(2'000));
        CHECK(again.kind == TableKind::answered);
        CHECK(again.answer == entry.answer);
    }
}

}  // namespace holdfast::engine::test
