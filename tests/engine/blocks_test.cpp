// Staff blocks: whole, without a deadline, and kept over a restart.
#include "tests/engine/wide_sale.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <random>
#include <thread>

namespace holdfast::engine::test {
namespace {

TEST_CASE("10,000 seats are blocked in one call, kept over a restart, and given back",
          "[engine][blocks]") {
    WideSale sale(1'000);
    auto const wanted = range(5'000, 10'000);
    std::vector<SeatIndex> seats;
    auto const start = std::chrono::steady_clock::now();
    auto const block = sale.engine.block(block_of(sale.event, wanted), at(0ms), seats);
    auto const took = std::chrono::steady_clock::now() - start;
    std::cout << "block of 10,000: "
              << std::chrono::duration_cast<std::chrono::microseconds>(took).count() << " us\n";
    REQUIRE(ok(block));
    CHECK(seats == wanted);
    CHECK(block->state == HoldState::blocked);
    CHECK(block->expires_at == no_deadline);
    CHECK(block->extensions_left == 0);
    CHECK(sale.journal.count(journal::RecordType::claim) == 1);
    auto counts = sale.event->availability(at(0ms)).front();
    CHECK(counts.blocked == 10'000);
    CHECK(counts.free == 90'000);

    // Another process with the same journal; much later, because a block has no deadline.
    WideSale again(1'000);
    holdfast::test::MemoryJournal journal;
    Engine restarted(journal, {});
    LiveEvent* const event = restarted.add(again.spec);
    restarted.build(*event, sale.replayed());
    CHECK(event->availability(at(8'000'000s)).front().blocked == 10'000);
    CHECK(restarted.expire(at(8'000'000s)) == 0);
    auto const read = restarted.read(block->name, at(8'000'000s), seats);
    REQUIRE(ok(read));
    CHECK(seats == wanted);
    CHECK(read->state == HoldState::blocked);

    auto const ended = sale.engine.unblock(block->name, at(1s));
    REQUIRE(ok(ended));
    CHECK(*ended != no_lsn);
    counts = sale.event->availability(at(1s)).front();
    CHECK(counts.free == 100'000);
    auto const twice = sale.engine.unblock(block->name, at(2s));
    REQUIRE(ok(twice));
    CHECK(*twice == no_lsn);
    CHECK(sale.replayed().holds.empty());
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("a house can be blocked whole, and held singly, and blocked again", "[engine][blocks]") {
    WideSale sale(10);
    std::vector<SeatIndex> seats;
    std::vector<HoldName> holds;
    for (int round = 0; round < 3; ++round) {
        auto const whole = sale.engine.block(block_of(sale.event, range(0, 1'000)), at(0ms), seats);
        REQUIRE(ok(whole));
        REQUIRE(ok(sale.engine.unblock(whole->name, at(0ms))));
        for (std::uint32_t seat = 0; seat < 1'000; ++seat) {
            auto const one =
                sale.engine.block(block_of(sale.event, range(seat, 1)), at(0ms), seats);
            REQUIRE(ok(one));
            holds.push_back(one->name);
        }
        auto const none = sale.engine.block(block_of(sale.event, range(0, 1'000)), at(0ms), seats);
        REQUIRE_FALSE(ok(none));
        CHECK(none.error().code == RefusalCode::seats_unavailable);
        CHECK(none.error().seat_reason == SeatReason::blocked);
        for (HoldName const& hold : holds) REQUIRE(ok(sale.engine.unblock(hold, at(0ms))));
        holds.clear();
    }
    CHECK(sale.event->availability(at(0ms)).front().free == 1'000);
}

TEST_CASE("a block is whole or refused, unless it may skip what is taken", "[engine][blocks]") {
    SaleFixture sale;
    auto const hold = sale.claim({sale.named({"A-1-3"})});
    REQUIRE(ok(hold));
    auto const row = range(0, 8);
    BlockCommand command = block_of(sale.event, row);
    command.kind = BlockKind::not_for_sale;
    std::vector<SeatIndex> seats;
    auto const refused = sale.engine.block(command, at(0ms), seats);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::seats_unavailable);
    CHECK(refused.error().seat == sale.seat("A-1-3"));
    CHECK(refused.error().seat_reason == SeatReason::held);
    command.skip_taken = true;
    auto const block = sale.engine.block(command, at(0ms), seats);
    REQUIRE(ok(block));
    CHECK(seats.size() == 7);
    CHECK(block->block == BlockKind::not_for_sale);
    auto const nothing_left = sale.engine.block(command, at(0ms), seats);
    REQUIRE_FALSE(ok(nothing_left));
    CHECK(nothing_left.error().code == RefusalCode::seats_unavailable);
    // Buyers are told what kind of block it is.
    CHECK(sale.event->reason(sale.seat("A-1-1"), at(0ms)) == SeatReason::not_for_sale);
    CHECK(sale.event->reason(sale.seat("A-1-3"), at(0ms)) == SeatReason::held);
    CHECK(sale.event->place(sale.seat("A-1-1"), at(0ms)) == PlaceState::blocked);
    auto const claim = sale.claim({sale.named({"A-1-1"})});
    REQUIRE_FALSE(ok(claim));
    CHECK(claim.error().seat_reason == SeatReason::not_for_sale);
    // The hold's deadline has passed: its seat is free to a block, too.
    auto const expired = range(2, 1);
    command.places = expired;
    CHECK(ok(sale.engine.block(command, at(300s), seats)));
}

TEST_CASE("general places are blocked by number", "[engine][blocks]") {
    SaleFixture sale;
    BlockCommand command;
    command.event = sale.event;
    command.section = sale.section("GA");
    command.quantity = 7;
    std::vector<SeatIndex> seats;
    auto const block = sale.engine.block(command, at(0ms), seats);
    REQUIRE(ok(block));
    CHECK(seats.size() == 7);
    CHECK(sale.event->availability(at(0ms)).back().blocked == 7);
    auto const more = sale.engine.block(command, at(0ms), seats);
    REQUIRE_FALSE(ok(more));
    CHECK(more.error().code == RefusalCode::sold_out);
    CHECK(more.error().number == 3);
    CHECK_FALSE(ok(sale.claim({sale.general(4)})));
    REQUIRE(ok(sale.engine.unblock(block->name, at(0ms))));
    CHECK(ok(sale.claim({sale.general(10)})));
}

TEST_CASE("a block is neither extended nor sold, and a hold is no block", "[engine][blocks]") {
    SaleFixture sale;
    std::vector<SeatIndex> seats;
    auto const block = sale.engine.block(block_of(sale.event, range(0, 2)), at(0ms), seats);
    REQUIRE(ok(block));
    auto const extended = sale.engine.extend(block->name, 60s, at(0ms), seats);
    REQUIRE_FALSE(ok(extended));
    CHECK(extended.error().code == RefusalCode::illegal_transition);
    auto const sold = sale.confirm({block->name});
    REQUIRE_FALSE(ok(sold));
    CHECK(sold.error().code == RefusalCode::illegal_transition);
    CHECK(sold.error().from == place_state(HeldAs::blocked));
    CHECK(sold.error().to == place_state(HeldAs::sold));
    auto const hold = sale.claim({sale.best(2)});
    REQUIRE(ok(hold));
    auto const wrong = sale.engine.unblock(hold->name, at(0ms));
    REQUIRE_FALSE(ok(wrong));
    CHECK(wrong.error().code == RefusalCode::not_found);
    CHECK(ok(sale.engine.read(hold->name, at(0ms), seats)));
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("blocks do not care whether the event is on sale", "[engine][blocks]") {
    SaleFixture sale;
    std::vector<SeatIndex> seats;
    std::uint32_t first = 0;
    for (auto const step : {LifeStep::paused, LifeStep::closed}) {
        REQUIRE(ok(sale.engine.step(*sale.event, step, at(0ms))));
        CHECK(ok(sale.engine.block(block_of(sale.event, range(first++, 1)), at(0ms), seats)));
    }
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::cancelled, at(0ms))));
    auto const cancelled = sale.engine.block(block_of(sale.event, range(first, 1)), at(0ms), seats);
    REQUIRE_FALSE(ok(cancelled));
    CHECK(cancelled.error().code == RefusalCode::sale_closed);
    SaleFixture other;
    other.journal.set_mode(journal::Mode::read_only);
    auto const unwritable = other.engine.block(block_of(other.event, range(0, 1)), at(0ms), seats);
    REQUIRE_FALSE(ok(unwritable));
    CHECK(unwritable.error().code == RefusalCode::read_only);
}

TEST_CASE("blocks are listed in pages, without holds", "[engine][blocks]") {
    SaleFixture sale;
    std::vector<SeatIndex> seats;
    REQUIRE(ok(sale.claim({sale.best(2)})));
    std::vector<HoldName> made;
    for (std::uint32_t place = 16; place < 20; ++place) {
        auto const block =
            sale.engine.block(block_of(sale.event, range(place, 1)), at(1s * place), seats);
        REQUIRE(ok(block));
        made.push_back(block->name);
    }
    auto const first = sale.engine.blocks(*sale.event, at(20s), SlotIndex{}, 3);
    REQUIRE(first.items.size() == 3);
    CHECK(first.more);
    auto const rest =
        sale.engine.blocks(*sale.event, at(20s), first.items.back().name.ref.slot(), 3);
    REQUIRE(rest.items.size() == 1);
    CHECK_FALSE(rest.more);
    std::vector<HoldName> listed;
    for (auto const* page : {&first, &rest}) {
        for (BlockItem const& item : page->items) listed.push_back(item.name);
    }
    CHECK(std::is_permutation(listed.begin(), listed.end(), made.begin()));
    CHECK(first.items.front().places == 1);
}

TEST_CASE("a block ends at its time, and is listed no longer, with the timer and without",
          "[engine][blocks]") {
    SaleFixture sale;
    sale.engine.expire(at(0ms));
    auto const place = range(2, 1);
    std::vector<SeatIndex> seats;
    BlockCommand command = block_of(sale.event, place);
    // In the slot of a hold that the timer still keeps for its own, later, deadline.
    auto const hold = sale.claim({sale.named({"A-1-1"})});
    sale.engine.expire(at(10ms));
    REQUIRE(ok(sale.engine.release(hold->name, at(20ms))));
    command.until = at(30'030ms);
    auto const block = sale.engine.block(command, at(30ms), seats);
    REQUIRE(ok(block));
    REQUIRE(block->name.ref.slot() == hold->name.ref.slot());
    auto const listed = [&](Milliseconds when) {
        return sale.engine.blocks(*sale.event, at(when), SlotIndex{}, 10).items.size();
    };
    CHECK(listed(30'029ms) == 1);
    CHECK(listed(30'030ms) == 0);
    auto when = 40ms;
    while (when < 90s && sale.engine.expire(at(when)) == 0) when += 10ms;
    CHECK(when <= 30'040ms);
}

TEST_CASE("staff ends a block, whatever verb it uses", "[engine][blocks]") {
    SaleFixture sale;
    std::vector<SeatIndex> seats;
    auto const last_cause = [&] {
        auto const record = sale.journal.records().back();
        return decode_end(record.payload)->cause;
    };
    auto const block = [&] {
        return sale.engine.block(block_of(sale.event, range(0, 2)), at(0ms), seats)->name;
    };
    REQUIRE(ok(sale.engine.unblock(block(), at(0ms))));
    CHECK(last_cause() == EndCause::staff);
    REQUIRE(ok(sale.engine.release(block(), at(0ms))));
    CHECK(last_cause() == EndCause::staff);
    std::vector<ClaimLine> const all{sale.named({"A-1-1", "A-1-2"})};
    ExchangeCommand back;
    back.hold = block();
    back.lines = all;
    back.gives_back = true;
    REQUIRE(ok(sale.engine.exchange(back, at(0ms), seats)));
    CHECK(last_cause() == EndCause::staff);
    auto const hold = sale.claim({sale.named({"A-1-1"})});
    REQUIRE(ok(sale.engine.release(hold->name, at(0ms))));
    CHECK(last_cause() == EndCause::released);
}

TEST_CASE("blocks and claims at one time: each is whole", "[engine][blocks]") {
    char const* const given = std::getenv("HOLDFAST_SEED");
    auto const seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    WideSale sale(2);
    sale.journal.set_room(64U << 20);
    std::array<std::uint64_t, 4> done{};
    std::array<std::uint64_t, 4> broken{};
    auto const blocker = [&](unsigned number) {
        auto const wanted = range(number * 60, 90);
        std::vector<SeatIndex> seats;
        for (int i = 0; i < 300; ++i) {
            auto const block = sale.engine.block(block_of(sale.event, wanted), at(0ms), seats);
            if (!block) continue;
            ++done[number];
            if (seats != wanted) ++broken[number];
            for (SeatIndex const seat : wanted) {
                if (sale.event->place(seat, at(0ms)) != PlaceState::blocked) ++broken[number];
            }
            if (!sale.engine.unblock(block->name, at(0ms))) ++broken[number];
        }
    };
    auto const buyer = [&](unsigned number) {
        std::mt19937_64 random(seed + number);
        std::vector<SeatIndex> seats;
        for (int i = 0; i < 3'000; ++i) {
            ClaimLine line;
            line.seats = {SeatIndex{static_cast<std::uint32_t>(random() % 200)}};
            ClaimCommand command;
            command.event = sale.event;
            command.lines = {&line, 1};
            auto const hold = sale.engine.claim(command, at(0ms), seats);
            if (!hold) continue;
            ++done[number];
            if (sale.event->place(line.seats.front(), at(0ms)) != PlaceState::held)
                ++broken[number];
            if (!sale.engine.release(hold->name, at(0ms))) ++broken[number];
        }
    };
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < 2; ++number) threads.emplace_back(blocker, number);
    for (unsigned number = 2; number < 4; ++number) threads.emplace_back(buyer, number);
    for (std::thread& thread : threads) thread.join();
    CHECK(broken == std::array<std::uint64_t, 4>{});
    CHECK(done[0] + done[1] > 0);
    CHECK(done[2] + done[3] > 0);
    CHECK(sale.replayed().holds.empty());  // and no place ever had two owners
    CHECK(sale.event->availability(at(0ms)).front().free == 200);
    CHECK(sale.journal.reserved() == 0);
}

}  // namespace
}  // namespace holdfast::engine::test
