// What a journal or a base file may not say: each record cut short, of an event that there is not,
// of a kind nobody writes; each part of a base file that cannot stand where it says.
#include "engine/base_state.hpp"
#include "engine/mark_bytes.hpp"
#include "tests/engine/tape.hpp"

#include <catch2/catch.hpp>
#include <functional>

namespace holdfast::engine::test {
namespace {

constexpr EventId nowhere{9};

struct NamedRecord {
    RecordType type{};
    std::vector<std::byte> payload;
};

/// One of each kind, about a hold of `of` in slot 1.
std::vector<NamedRecord> one_of_each(EventId of) {
    HoldKey const hold = key(1, 1, of);
    return {
        {RecordType::claim, encode(ClaimFact{hold, 5, at(100), at(900), seats({1, 2})})},
        {RecordType::edit, encode(EditFact{hold, 5, at(950)})},
        {RecordType::edit, encode(ExchangeFact{hold, seats({1}), seats({3})})},
        {RecordType::edit,
         encode(ReseatFact{order(1), at(250), {{hold, {{SeatIndex{1}, SeatIndex{3}}}}}})},
        {RecordType::edit, encode(RefundFact{order(1), at(250), {{hold, seats({1})}}})},
        {RecordType::end, encode(EndFact{hold, EndCause::released})},
        {RecordType::order, encode(OrderFact{order(1), at(200), PaymentMethod::none, 1, {hold}})},
        {RecordType::cancel, encode(CancelFact{order(1), at(300), {hold}})},
        {RecordType::event, encode(EventFact{of, LifeStep::published, at(1)})},
        {RecordType::clock, encode(ClockFact{at(2'000)})}};
}

std::vector<std::byte> mark_bytes_of(Answer const& answer, TimePoint from = {}) {
    auto const bytes = encode(answer);
    FactWriter writer;
    write_mark(writer, {{{1, 2}, {3, 4}}, from, at(500), bytes});
    return std::move(writer).take();
}

/// A base file of one event, with holds that the test makes.
struct BaseFile {
    BaseEvent event{test::event, place_count, {}, {0, 1, 1, 1}, 0};
    std::vector<BaseHold> holds;

    BaseHold& add(std::uint32_t slot, std::uint64_t generation,
                  std::vector<std::uint32_t> const& numbers) {
        BaseHold hold;
        hold.hold.ref = HoldRef{generation, SlotIndex{slot}};
        hold.hold.created_at = at(100);
        hold.hold.expires_at = at(900);
        hold.hold.seats = seats(numbers);
        hold.claimed = Lsn{1};
        holds.push_back(hold);
        return holds.back();
    }
    [[nodiscard]] std::vector<std::byte> bytes() {
        event.holds = static_cast<std::uint32_t>(holds.size());
        BaseStateWriter writer(100, base_state_version);
        writer.count_events(1);
        writer.put_event(event);
        for (BaseHold const& hold : holds) writer.put_hold(hold);
        return std::move(writer).take();
    }
    /// What a replay says of it; empty: it took it.
    [[nodiscard]] std::string refused() {
        Tape tape;
        bool const taken = tape.replay().load(bytes());
        CHECK(taken == tape.breach().empty());
        return tape.breach();
    }
};

/// The state of a small sale with a mark.
std::vector<std::byte> saved_state() {
    Tape tape;
    REQUIRE(tape.claim(key(1, 1), {0, 1}));
    REQUIRE(tape.claim(key(2, 4), {2}));
    REQUIRE(tape.sell(order(1), {key(2, 4)}));
    REQUIRE(tape.step(other_event, LifeStep::published));
    EndAnswer const ended{{event, HoldRef{1, SlotIndex{1}}}};
    REQUIRE(tape.put(RecordType::mark, mark_bytes_of(ended)));
    return tape.replay().save();
}

}  // namespace

TEST_CASE("R12: each record that is cut short stops the replay", "[replay]") {
    for (NamedRecord const& record : one_of_each(event)) {
        for (std::size_t length = 0; length < record.payload.size(); ++length) {
            CAPTURE(static_cast<int>(record.type), length);
            Tape tape;
            REQUIRE_FALSE(
                tape.raw(record.type, fact_version, std::span{record.payload}.first(length)));
            CHECK_THAT(tape.breach(), contains("is no valid"));
        }
    }
    std::vector<std::byte> edit = one_of_each(event)[1].payload;
    for (std::byte const kind : {std::byte{0}, std::byte{5}, std::byte{255}}) {
        edit.at(12) = kind;  // behind the hold
        Tape tape;
        REQUIRE_FALSE(tape.put(RecordType::edit, edit));
        CHECK_THAT(tape.breach(), contains("is no valid EDIT fact"));
    }
}

TEST_CASE("R12: each record of an event that the catalogue has not stops the replay", "[replay]") {
    for (NamedRecord const& record : one_of_each(nowhere)) {
        if (record.type == RecordType::clock) continue;  // of all events
        CAPTURE(static_cast<int>(record.type), record.payload.size());
        Tape tape;
        REQUIRE_FALSE(tape.put(record.type, record.payload));
        CHECK_THAT(tape.breach(), contains("the catalogue has no such event"));
        CHECK(tape.replay().missing_event() == nowhere);
    }
}

TEST_CASE("R10: each kind of record that nobody writes yet stops the replay", "[replay]") {
    for (RecordType const type :
         {RecordType::refund, RecordType::credit, RecordType::debit, RecordType::reservation,
          RecordType::queue, RecordType::outbox_done}) {
        Tape tape;
        REQUIRE_FALSE(tape.put(type, {}));
        CHECK_THAT(tape.breach(), contains("which this holdfast does not know"));
    }
}

TEST_CASE("R12: an ORDER of a slot that nobody ever had says so", "[replay]") {
    Tape tape;
    REQUIRE_FALSE(tape.sell(order(1), {key(7, 1)}));
    CHECK_THAT(tape.breach(), contains("nothing; newest generation 0, last record at LSN 0"));
}

TEST_CASE("R12: a mark whose answer cannot be shown stops the replay", "[replay][marks]") {
    HoldRef const ref{1, SlotIndex{1}};
    HoldRef const beyond{1, SlotIndex{1U << 20}};
    std::vector<Answer> const bad{
        HoldAnswer{{nowhere, ref}, {}, {}, 0, seats({1})},
        HoldAnswer{{event, beyond}, {}, {}, 0, seats({1})},
        EndAnswer{{nowhere, ref}},
        EndAnswer{{event, beyond}},
        StepAnswer{nowhere, EventState::open},
        OrderAnswer{
            order(1), {}, PaymentMethod::none, 0, {{event, seats({1})}, {nowhere, seats({1})}}},
        OrderAnswer{order(1), {}, PaymentMethod::none, 0, {{event, seats({place_count})}}}};
    for (std::size_t at = 0; at < bad.size(); ++at) {
        CAPTURE(at);
        Tape tape;
        REQUIRE_FALSE(tape.put(RecordType::mark, mark_bytes_of(bad[at])));
        CHECK_THAT(tape.breach(), contains("of an event or a place that is not there"));
    }
    std::vector<Answer> const good{
        HoldAnswer{{event, ref}, {}, {}, 0, seats({1})}, EndAnswer{{event, ref}},
        StepAnswer{event, EventState::open},
        OrderAnswer{order(1), {}, PaymentMethod::none, 0, {{event, seats({1})}}},
        ChangeAnswer{order(1), true, 0, {}}};
    for (Answer const& answer : good) {
        Tape tape;
        CHECK(tape.put(RecordType::mark, mark_bytes_of(answer)));
        CHECK(tape.breach() == "");
    }
    Tape early;
    CHECK_FALSE(early.put(RecordType::mark, mark_bytes_of(good[1], at(-1))));
    CHECK_THAT(early.breach(), contains("an idempotency mark that is none"));
    auto const bytes = encode(good[1]);
    for (std::size_t length = 0; length < bytes.size(); ++length)
        CHECK_FALSE(hold_of(std::span{bytes}.first(length)).has_value());
    CHECK(hold_of(bytes).has_value());
}

TEST_CASE("P10: a base file whose holds cannot stand where they say is refused", "[replay][base]") {
    BaseFile good;
    good.add(1, 1, {0, 1});
    good.add(3, 1, {4});
    CHECK(good.refused() == "");
    std::vector<std::function<void(BaseFile&)>> const changes{
        [](BaseFile& file) { file.add(1U << 20, 1, {2}); },
        [](BaseFile& file) { file.add(1, 1, {2}); },  // the slot has a hold
        [](BaseFile& file) { file.add(2, 2, {2}); },  // not its newest generation
        [](BaseFile& file) { file.add(2, 1, {place_count}); },
        [](BaseFile& file) { file.add(2, 1, {3, 2}); },
        [](BaseFile& file) { file.add(2, 1, {2, 2}); },
        [](BaseFile& file) { file.add(2, 1, {1}); }};  // another one's place
    for (std::size_t at = 0; at < changes.size(); ++at) {
        CAPTURE(at);
        BaseFile file;
        file.add(1, 1, {0, 1});
        changes[at](file);
        CHECK_THAT(file.refused(), contains("which cannot be"));
    }
    BaseFile of_no_slot;
    of_no_slot.add(0, 1, {2});
    CHECK_THAT(of_no_slot.refused(), contains("is no state of a replay"));
    for (auto const& [id, places] :
         {std::pair{nowhere, place_count}, std::pair{event, place_count + 1}}) {
        BaseFile file;
        file.event.id = id;
        file.event.places = places;
        CHECK_THAT(file.refused(), contains("the catalogue has not"));
    }
}

TEST_CASE("P10: a base file that is cut or goes on is refused, and reads no further",
          "[replay][base]") {
    auto const state = saved_state();
    Tape whole;
    REQUIRE(whole.replay().load(state));
    CHECK(whole.replay().marks().size() == 1);
    for (std::size_t length = 0; length < state.size(); ++length) {
        CAPTURE(length);
        Tape tape;
        REQUIRE_FALSE(tape.replay().load(std::span{state}.first(length)));
        CHECK_THAT(tape.breach(), contains("the base file"));
    }
    auto longer = state;
    longer.push_back(std::byte{0});
    Tape tape;
    CHECK_FALSE(tape.replay().load(longer));
    // The answer of its mark is none.
    auto other = state;
    auto const answer = encode(Answer{EndAnswer{{event, HoldRef{1, SlotIndex{1}}}}});
    other.at(other.size() - answer.size()) ^= std::byte{0xFF};
    Tape marked;
    CHECK_FALSE(marked.replay().load(other));
    CHECK_THAT(marked.breach(), contains("is no state of a replay"));
    // It is one of an event that there is not.
    MarkEntry entry;
    entry.answer = encode(Answer{EndAnswer{{nowhere, HoldRef{1, SlotIndex{1}}}}});
    MarkEntry* const entries[]{&entry};
    BaseStateWriter writer(100, marked_base_state_version);
    writer.count_events(0);
    writer.put_marks(entries);
    Tape elsewhere;
    CHECK_FALSE(elsewhere.replay().load(std::move(writer).take()));
    CHECK_THAT(elsewhere.breach(), contains("an idempotency mark of an event"));
}

TEST_CASE("who needs no marks reads over them, whole or not", "[replay][base]") {
    auto const state = saved_state();
    // Of the event there are 17 bytes and what it has; the marks come last.
    auto const passes = [](std::span<std::byte const> bytes) {
        BaseStateReader reader(bytes);
        BaseEvent read;
        BaseHold hold;
        for (std::uint32_t events = reader.events(); events > 0; --events) {
            reader.event(read);
            for (std::uint32_t holds = read.holds; holds > 0; --holds) reader.hold(hold);
        }
        return reader.good() && reader.ends_behind_marks();
    };
    CHECK(passes(state));
    auto const answer = encode(Answer{EndAnswer{{event, HoldRef{1, SlotIndex{1}}}}});
    std::size_t const marks = 4 + base_mark_bytes + answer.size();
    for (std::size_t cut = 1; cut < marks; ++cut)
        CHECK_FALSE(passes(std::span{state}.first(state.size() - cut)));
}

}  // namespace holdfast::engine::test
