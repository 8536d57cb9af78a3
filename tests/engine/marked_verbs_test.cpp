// Every verb with a mark: the mark is in the very record of its effect, so a replay of the journal,
// or of a base file, knows the same answers as the table in memory (P4).
#include "engine/base_state.hpp"
#include "engine/mark_bytes.hpp"
#include "tests/engine/sale_fixture.hpp"
#include "tests/engine/tape.hpp"

#include <catch2/catch.hpp>

namespace holdfast::engine::test {
namespace {

using Begun = Marks::Begun;
using BegunKind = Marks::Begun::Kind;

/// A sale whose requests all have keys.
class MarkedSale {
public:
    Mark const* next() {
        marks_.push_back(std::make_unique<Mark>(Mark{{marks_.size() + 1, 1}, {5, 5}}));
        return marks_.back().get();
    }
    /// The newest request is done; its answer, if it is what was marked.
    template <class Wanted>
    Wanted answer() {
        Begun const begun = sale.engine.marks().begin(*marks_.back(), test::at(10ms));
        CHECK(begun.kind == BegunKind::answered);
        CHECK(begun.lsn == sale.journal.appended_lsn());
        auto const decoded = decode_answer(begun.answer);
        REQUIRE(decoded.has_value());
        REQUIRE(std::holds_alternative<Wanted>(*decoded));
        return std::get<Wanted>(*decoded);
    }
    HoldView claim(std::vector<std::string> const& names) {
        std::vector<ClaimLine> const lines{sale.named(names)};
        ClaimCommand command{sale.event, lines, 0, {}, false};
        command.mark = next();
        auto const hold = sale.engine.claim(command, test::at(0ms), sale.seats);
        REQUIRE(ok(hold));
        return *hold;
    }
    /// A replay of all there is in the journal.
    void replay_into(Replay& replay) const {
        for (auto const& record : sale.journal.records())
            REQUIRE(replay.record({record.lsn, record.type, record.version, record.payload}));
    }
    [[nodiscard]] std::map<EventId, std::uint32_t> places() const {
        return {{EventId{7}, sale.layout().place_count()}};
    }
    /// Journal and base file say what the table says, of every request so far.
    void compare() {
        Replay replay(places());
        replay_into(replay);
        auto const marks = replay.marks();
        CHECK(marks.size() == marks_.size());
        for (MarkEntry const& entry : marks) {
            CAPTURE(entry.mark.scope.high);
            Begun const begun = sale.engine.marks().begin(entry.mark, test::at(10ms));
            CHECK(begun.kind == BegunKind::answered);
            CHECK(begun.answer == entry.answer);
            CHECK(begun.lsn == entry.lsn);
        }
        Replay loaded(places());
        REQUIRE(loaded.load(replay.save()));
        CHECK(loaded.marks() == marks);
        CHECK(loaded.save() == replay.save());
        CHECK(sale.journal.reserved() == 0);
    }

    SaleFixture sale{policy()};

private:
    static EventPolicy policy() {
        EventPolicy policy;
        policy.orphan_rule = OrphanRule::off;
        policy.max_extensions = 3;
        return policy;
    }
    std::vector<std::unique_ptr<Mark>> marks_;
};

std::vector<SeatIndex> both(SaleFixture const& sale, char const* a, char const* b) {
    return {sale.seat(a), sale.seat(b)};
}

std::uint32_t version_of(std::vector<std::byte> const& state) {
    return std::to_integer<std::uint32_t>(state.at(0));
}

}  // namespace

TEST_CASE("P4: the mark of a claim is in its CLAIM", "[marks]") {
    MarkedSale shop;
    SaleFixture& sale = shop.sale;
    HoldView const hold = shop.claim({"A-1-1", "A-1-2"});
    auto const answer = shop.answer<HoldAnswer>();
    CHECK(answer.hold == hold.name);
    CHECK(answer.seats == both(sale, "A-1-1", "A-1-2"));
    REQUIRE(sale.journal.records().size() == 1);
    auto const fact = decode_claim(sale.journal.records()[0].payload);
    REQUIRE(fact.has_value());
    CHECK(fact->mark.size() == mark_bytes_least);
    // The answer is of then, whatever becomes of the hold.
    REQUIRE(ok(sale.engine.extend(hold.name, 500s, test::at(1ms), sale.seats)));
    REQUIRE(ok(sale.engine.release(hold.name, test::at(2ms))));
    auto const shown = sale.engine.shown(answer);
    REQUIRE(shown.has_value());
    CHECK(shown->expires_at == hold.expires_at);
    CHECK(shown->extensions_left == hold.extensions_left);
    CHECK(shown->total == hold.total);
    CHECK(shown->together == hold.together);
    CHECK(shown->state == HoldState::held);
    shop.compare();
}

TEST_CASE("P4: the marks of all verbs of a hold are in their records", "[marks]") {
    MarkedSale shop;
    SaleFixture& sale = shop.sale;
    HoldView const hold = shop.claim({"A-1-1", "A-1-2"});
    auto const longer = sale.engine.extend(hold.name, 500s, test::at(1ms), sale.seats, shop.next());
    REQUIRE(ok(longer));
    auto const extended = shop.answer<HoldAnswer>();
    CHECK(extended.expires_at == longer->expires_at);
    CHECK(sale.engine.shown(extended)->extensions_left == longer->extensions_left);
    std::vector<ClaimLine> const lines{sale.named({"A-1-2", "A-1-3"})};
    ExchangeCommand exchange{hold.name, lines, false, false, nullptr};
    exchange.mark = shop.next();
    REQUIRE(ok(sale.engine.exchange(exchange, test::at(2ms), sale.seats)));
    CHECK(shop.answer<HoldAnswer>().seats == both(sale, "A-1-2", "A-1-3"));
    // All of it is given back: that is a release.
    exchange.gives_back = true;
    exchange.mark = shop.next();
    REQUIRE(ok(sale.engine.exchange(exchange, test::at(3ms), sale.seats)));
    CHECK(shop.answer<EndAnswer>().hold == hold.name);
    HoldView const other = shop.claim({"A-2-1"});
    REQUIRE(ok(sale.engine.release(other.name, test::at(4ms), shop.next())));
    CHECK(shop.answer<EndAnswer>().hold == other.name);
    shop.compare();
}

TEST_CASE("P4: the marks of orders, blocks and steps are in their records", "[marks]") {
    MarkedSale shop;
    SaleFixture& sale = shop.sale;
    HoldView const one = shop.claim({"A-1-1", "A-1-2"});
    HoldView const two_seats = shop.claim({"B-10-1", "B-10-2"});
    std::vector<HoldName> const holds{two_seats.name, one.name};
    OrderId const order{3, 4};
    ConfirmCommand confirm{order, holds, PaymentMethod::none};
    confirm.mark = shop.next();
    auto const placed = sale.engine.confirm(confirm, test::at(1ms));
    REQUIRE(ok(placed));
    auto const bought = shop.answer<OrderAnswer>();
    CHECK(bought.order == order);
    CHECK(bought.total == placed->total);
    REQUIRE(bought.parts.size() == 2);
    CHECK(bought.parts[0].seats == placed->seats[0]);
    CHECK(bought.parts[1].seats == placed->seats[1]);

    ChangeAnswer const after{order, false, 1, {{sale.seat("A-1-1"), true}}};
    ChangeAnswer const after_all{order, true, 2, {{sale.seat("A-1-1"), false}}};
    std::vector<ReseatFact::Move> const moves{{sale.seat("A-1-1"), sale.seat("A-2-1")}};
    ReseatCommand const reseat{order, holds, EventId{7}, moves, {}, {shop.next(), after}};
    REQUIRE(ok(sale.engine.reseat(reseat, test::at(2ms))));
    CHECK(shop.answer<ChangeAnswer>() == after);
    std::vector<PlaceName> const gone{{EventId{7}, sale.seat("A-2-1")}};
    RefundCommand refund{order, holds, gone, {shop.next(), after}, &after_all};
    REQUIRE(ok(sale.engine.refund(refund, test::at(3ms))));
    CHECK(shop.answer<ChangeAnswer>() == after);
    // What is left, so the order is cancelled.
    std::vector<PlaceName> const rest{{EventId{7}, sale.seat("A-1-2")},
                                      {EventId{7}, sale.seat("B-10-1")},
                                      {EventId{7}, sale.seat("B-10-2")}};
    refund.places = rest;
    refund.marked.mark = shop.next();
    auto const refunded = sale.engine.refund(refund, test::at(4ms));
    REQUIRE(ok(refunded));
    CHECK(refunded->whole);
    CHECK(shop.answer<ChangeAnswer>() == after_all);
    HoldView const third = shop.claim({"A-1-5"});
    std::vector<HoldName> const last{third.name};
    confirm.order = {5, 6};
    confirm.holds = last;
    confirm.mark = shop.next();
    REQUIRE(ok(sale.engine.confirm(confirm, test::at(5ms))));
    ChangeAnswer const cancelled{{5, 6}, true, 2, {{sale.seat("A-1-5"), false}}};
    REQUIRE(ok(sale.engine.cancel({5, 6}, last, test::at(6ms), {shop.next(), cancelled})));
    CHECK(shop.answer<ChangeAnswer>() == cancelled);

    std::vector<SeatIndex> const places{sale.seat("A-2-4")};
    BlockCommand block;
    block.event = sale.event;
    block.places = places;
    block.mark = shop.next();
    auto const blocked = sale.engine.block(block, test::at(7ms), sale.seats);
    REQUIRE(ok(blocked));
    auto const shown = sale.engine.shown(shop.answer<HoldAnswer>());
    CHECK(shown->state == HoldState::blocked);
    CHECK(shown->expires_at == no_deadline);
    REQUIRE(ok(sale.engine.unblock(blocked->name, test::at(8ms), shop.next())));
    CHECK(shop.answer<EndAnswer>().hold == blocked->name);
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::paused, test::at(9ms), {}, shop.next())));
    CHECK(shop.answer<StepAnswer>() == StepAnswer{EventId{7}, EventState::paused});
    shop.compare();
}

TEST_CASE("P4: the mark of a success that changes nothing has a record of its own", "[marks]") {
    MarkedSale shop;
    SaleFixture& sale = shop.sale;
    HoldView const hold = shop.claim({"A-1-1", "A-1-2"});
    auto const newest = [&sale] { return sale.journal.records().back(); };
    auto const shorter = sale.engine.extend(hold.name, 1s, test::at(1ms), sale.seats, shop.next());
    REQUIRE(ok(shorter));
    CHECK(shorter->lsn == newest().lsn);
    CHECK(shop.answer<HoldAnswer>().expires_at == hold.expires_at);
    std::vector<ClaimLine> const lines{sale.named({"A-1-1", "A-1-2"})};
    ExchangeCommand exchange{hold.name, lines, false, false, nullptr};
    exchange.mark = shop.next();
    auto const same = sale.engine.exchange(exchange, test::at(2ms), sale.seats);
    REQUIRE(ok(same));
    CHECK(same->lsn == newest().lsn);
    CHECK(shop.answer<HoldAnswer>().seats.size() == 2);
    // Without a key there is nothing to write.
    std::size_t const records = sale.journal.records().size();
    exchange.mark = nullptr;
    CHECK(sale.engine.exchange(exchange, test::at(2ms), sale.seats)->lsn == no_lsn);
    CHECK(sale.journal.records().size() == records);

    std::vector<HoldName> const holds{hold.name};
    ConfirmCommand confirm{{3, 4}, holds, PaymentMethod::none};
    confirm.mark = shop.next();
    REQUIRE(ok(sale.engine.confirm(confirm, test::at(3ms))));
    ChangeAnswer const after{{3, 4}, false, 1, {{sale.seat("A-1-1"), false}}};
    std::vector<ReseatFact::Move> const stays{{sale.seat("A-1-1"), sale.seat("A-1-1")}};
    ReseatCommand const reseat{{3, 4}, holds, EventId{7}, stays, {}, {shop.next(), after}};
    auto const stayed = sale.engine.reseat(reseat, test::at(4ms));
    REQUIRE(ok(stayed));
    CHECK(*stayed == newest().lsn);
    CHECK(shop.answer<ChangeAnswer>() == after);

    HoldView const other = shop.claim({"A-2-1"});
    CHECK(sale.journal.count(RecordType::mark) == 3);
    shop.compare();
    // And nothing is said that is not in the journal.
    sale.journal.set_mode(journal::Mode::read_only);
    auto const refused = sale.engine.extend(other.name, 1s, test::at(6ms), sale.seats, shop.next());
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::read_only);
    CHECK(ok(sale.engine.extend(other.name, 1s, test::at(6ms), sale.seats)));
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("P4: an end of what has ended takes no room from the marks of others", "[marks]") {
    MarkedSale shop;
    SaleFixture& sale = shop.sale;
    HoldView const hold = shop.claim({"A-2-1"});
    REQUIRE(ok(sale.engine.release(hold.name, test::at(5ms), shop.next())));
    std::size_t const records = sale.journal.records().size();
    std::size_t const marks = sale.engine.marks().counts().marks;
    for (int i = 0; i < 1'000; ++i) {
        auto const gone = sale.engine.release(hold.name, test::at(6ms), shop.next());
        REQUIRE(ok(gone));
        REQUIRE(*gone == no_lsn);  // the caller waits for what it has seen
    }
    CHECK(sale.journal.records().size() == records);
    CHECK(sale.engine.marks().counts().marks == marks);
    // Nor does it need a journal that takes anything.
    sale.journal.set_mode(journal::Mode::read_only);
    CHECK(ok(sale.engine.release(hold.name, test::at(7ms), shop.next())));
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("without room for the mark nothing happens, and nothing is reserved", "[marks]") {
    MarkedSale shop;
    SaleFixture& sale = shop.sale;
    HoldView const hold = shop.claim({"A-1-1", "A-1-2"});
    HoldView const sold = shop.claim({"A-1-4"});
    std::vector<HoldName> const holds{sold.name};
    REQUIRE(ok(sale.confirm(holds, 1ms, {1, 1})));
    std::size_t const records = sale.journal.records().size();
    ChangeAnswer const after{{1, 1}, true, 0, {{SeatIndex{3}, false}}};
    std::vector<ClaimLine> const lines{sale.named({"A-2-1"})};
    ClaimCommand command{sale.event, lines, 0, {}, false};
    command.mark = shop.next();
    // Room for the fact of each, but not for its mark.
    for (std::size_t room = 0; room < 64; room += 3) {
        CAPTURE(room);
        sale.journal.set_room(room);
        CHECK_FALSE(ok(sale.engine.claim(command, test::at(2ms), sale.seats)));
        CHECK_FALSE(ok(sale.engine.release(hold.name, test::at(2ms), command.mark)));
        CHECK_FALSE(
            ok(sale.engine.extend(hold.name, 500s, test::at(2ms), sale.seats, command.mark)));
        CHECK_FALSE(ok(sale.engine.confirm(
            {{2, 2}, std::span(&hold.name, 1), PaymentMethod::none, command.mark}, test::at(2ms))));
        CHECK_FALSE(ok(sale.engine.cancel({1, 1}, holds, test::at(2ms), {command.mark, after})));
        CHECK_FALSE(
            ok(sale.engine.step(*sale.event, LifeStep::paused, test::at(2ms), {}, command.mark)));
        CHECK(sale.journal.reserved() == 0);
    }
    CHECK(sale.journal.records().size() == records);
    CHECK(sale.engine.marks().begin(*command.mark, test::at(3ms)).kind == BegunKind::fresh);
    sale.journal.set_room(1U << 20);
    CHECK(ok(sale.engine.extend(hold.name, 500s, test::at(4ms), sale.seats)));
    shop.sale.engine.marks().forget(*command.mark);
}

TEST_CASE("P4: a restart that gives a hold more time gives it to the answer, too", "[marks]") {
    MarkedSale shop;
    SaleFixture& sale = shop.sale;
    HoldView const hold = shop.claim({"A-1-1"});
    auto const answer = shop.answer<HoldAnswer>();
    auto restored = sale.replayed();
    REQUIRE(restored.holds.size() == 1);
    restored.holds[0].expires_at += 30s;
    holdfast::test::MemoryJournal journal;
    Engine later(journal, {});
    LiveEvent* const same = later.add(std::make_shared<EventSpec const>(sale.event->spec()));
    later.build(*same, restored);
    CHECK(later.shown(answer)->expires_at == hold.expires_at + 30s);
    // Of a deadline that somebody asked for the first answer knows nothing.
    std::vector<SeatIndex> seats;
    REQUIRE(ok(later.extend(hold.name, 500s, test::at(1ms), seats)));
    CHECK(later.shown(answer)->expires_at == hold.expires_at);
    REQUIRE(ok(later.release(hold.name, test::at(2ms))));
    CHECK(later.shown(answer)->expires_at == hold.expires_at);
}

TEST_CASE("a base file says version 2 only if there are marks, so older programs read the others",
          "[marks]") {
    MarkedSale shop;
    REQUIRE(ok(shop.sale.claim({shop.sale.named({"A-1-1"})})));
    Replay plain(shop.places());
    shop.replay_into(plain);
    CHECK(version_of(plain.save()) == base_state_version);
    shop.claim({"A-1-5"});
    Replay marked(shop.places());
    shop.replay_into(marked);
    auto const state = marked.save();
    CHECK(version_of(state) == marked_base_state_version);
    for (std::size_t kept = 0; kept < state.size(); ++kept) {
        Replay cut(shop.places());
        CHECK_FALSE(cut.load(std::span(state).first(kept)));
    }
    // What is over when the base file is made is not in it.
    std::vector<ClaimLine> const lines{shop.sale.named({"A-2-1"})};
    ClaimCommand command{shop.sale.event, lines, 0, {}, false};
    command.mark = shop.next();
    REQUIRE(ok(shop.sale.engine.claim(command, test::at(25h), shop.sale.seats)));
    Replay later(shop.places());
    shop.replay_into(later);
    CHECK(later.marks().size() == 1);
}

}  // namespace holdfast::engine::test
