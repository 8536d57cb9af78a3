// Marks as a replay meets them in records and in base files.
#include "engine/mark_bytes.hpp"
#include "tests/engine/tape.hpp"

#include <catch2/catch.hpp>
#include <utility>

namespace holdfast::engine::test {
namespace {

std::vector<std::byte> mark_of(std::uint64_t number, Answer const& answer) {
    auto const bytes = encode(answer);
    FactWriter writer;
    write_mark(writer, {{{number, 2}, {3, 4}}, {}, at(500), bytes});
    return std::move(writer).take();
}

}  // namespace

TEST_CASE("P4: the mark of an END counts though a helper's END came first", "[marks]") {
    Tape tape;
    EndAnswer const ended{{event, HoldRef{1, SlotIndex{1}}}};
    auto const answer = encode(Answer{ended});
    FactWriter mark;
    write_mark(mark,
               {{{1, 2}, {3, 4}}, test::at(std::int64_t{5}), test::at(std::int64_t{500}), answer});
    auto const bytes = std::move(mark).take();
    REQUIRE(tape.claim(key(1, 1), {1, 2}));
    REQUIRE(tape.end(key(1, 1)));
    REQUIRE(tape.put(RecordType::end, encode(EndFact{key(1, 1), EndCause::released, bytes})));
    auto const marks = tape.replay().marks();
    REQUIRE(marks.size() == 1);
    CHECK(marks[0].lsn == Lsn{3});
    CHECK(marks[0].answer == answer);
    CHECK(tape.replay().ignored_ends() == 1);
}

TEST_CASE("a record with a mark that is none stops the replay", "[marks]") {
    auto const claim = [](MarkBytes mark) {
        Tape tape;
        ClaimFact fact{key(1, 1), 5, test::at(std::int64_t{1}), test::at(std::int64_t{2}),
                       seats({1})};
        fact.mark = mark;
        bool const good = tape.put(RecordType::claim, encode(fact));
        CHECK(good == tape.breach().empty());
        return good;
    };
    FactWriter writer;
    write_mark(writer, {{{1, 2}, {3, 4}}, {}, test::at(std::int64_t{500}), {}});
    auto bytes = std::move(writer).take();
    CHECK(claim(bytes));
    CHECK_FALSE(claim(std::span(bytes).first(bytes.size() - 1)));
    // Of a claim the record is the answer; all others have one.
    auto const answer = encode(Answer{EndAnswer{{event, HoldRef{1, SlotIndex{1}}}}});
    std::vector<std::byte> longer = bytes;
    longer.insert(longer.end(), answer.begin(), answer.end());
    CHECK_FALSE(claim(longer));
    Tape tape;
    REQUIRE(tape.claim(key(1, 1), {1}));
    CHECK_FALSE(tape.put(RecordType::end, encode(EndFact{key(1, 1), EndCause::released, bytes})));
    longer.back() ^= std::byte{0x40};
    longer.pop_back();
    Tape other;
    REQUIRE(other.claim(key(1, 1), {1}));
    CHECK_FALSE(other.put(RecordType::end, encode(EndFact{key(1, 1), EndCause::released, longer})));
}

TEST_CASE("a record of a mark alone is read, and one of a newer holdfast is passed over",
          "[marks]") {
    auto const record = [](EventId of, std::uint8_t version, std::size_t cut) {
        auto const answer = encode(Answer{EndAnswer{{of, HoldRef{1, SlotIndex{1}}}}});
        FactWriter writer;
        write_mark(writer, {{{1, 2}, {3, 4}}, {}, test::at(std::int64_t{500}), answer});
        auto bytes = std::move(writer).take();
        bytes.resize(bytes.size() - cut);
        Tape tape;
        bool const good = tape.raw(RecordType::mark, version, bytes);
        return std::pair(good, tape.replay().marks().size());
    };
    CHECK(record(event, fact_version, 0) == std::pair(true, std::size_t{1}));
    CHECK(record(event, fact_version + 1, 0) == std::pair(true, std::size_t{0}));
    CHECK(record(event, fact_version, 1) == std::pair(false, std::size_t{0}));
    // What a repeat could not show stops the start, not the repeat.
    CHECK(record(EventId{99}, fact_version, 0) == std::pair(false, std::size_t{0}));
    static_assert((static_cast<unsigned>(RecordType::mark) & journal::ignorable_type_bit) != 0);
}

TEST_CASE("a mark that names a place its event has not stops the replay", "[marks]") {
    for (std::uint32_t const place : {place_count - 1, place_count}) {
        auto const answer = encode(
            Answer{HoldAnswer{{event, HoldRef{1, SlotIndex{1}}}, {}, {}, 0, seats({place})}});
        FactWriter writer;
        write_mark(writer, {{{1, 2}, {3, 4}}, {}, test::at(std::int64_t{500}), answer});
        auto const bytes = std::move(writer).take();
        Tape tape;
        CHECK(tape.put(RecordType::mark, bytes) == (place < place_count));
        CHECK(tape.breach().empty() == (place < place_count));
    }
}

TEST_CASE("a mark that speaks of something else than its record stops the replay", "[marks]") {
    for (bool const same : {true, false}) {
        EndAnswer const ended{{event, HoldRef{same ? 1U : 2U, SlotIndex{1}}}};
        auto const mark = mark_of(1, ended);
        Tape tape;
        REQUIRE(tape.claim(key(1, 1), {1, 2}));
        CHECK(tape.put(RecordType::end, encode(EndFact{key(1, 1), EndCause::released, mark})) ==
              same);
        CHECK(tape.breach().empty() == same);
    }
}

TEST_CASE("a base file with more marks than there is memory for keeps the newest", "[marks]") {
    Tape tape;
    std::size_t const marks = 400;
    EndAnswer const ended{{event, HoldRef{1, SlotIndex{1}}}};
    for (std::uint64_t number = 1; number <= marks; ++number)
        REQUIRE(tape.put(RecordType::mark, mark_of(number, ended)));
    REQUIRE(tape.replay().marks().size() == marks);
    std::size_t const room = 50 * 250;
    Replay poor({{event, place_count}, {other_event, place_count}}, room);
    REQUIRE(poor.load(tape.replay().save()));
    auto const kept = poor.marks();
    REQUIRE(kept.size() > 40);
    CHECK(kept.size() < 60);
    CHECK(kept.back().lsn == Lsn{marks});
    CHECK(kept.front().lsn == Lsn{marks - kept.size() + 1});
    // What is taken is taken once.
    CHECK(poor.take_marks() == kept);
    CHECK(poor.marks().empty());
}

}  // namespace holdfast::engine::test
