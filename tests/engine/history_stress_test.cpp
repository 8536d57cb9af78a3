// Histories of real threads on the engine, each checked to be one of some sequential order, and
// conservation after each: every place is free, held or sold, and the journal says the same.

#include "tests/engine/sale_fixture.hpp"
#include "tests/engine/seat_history.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <latch>
#include <map>
#include <random>
#include <thread>

namespace holdfast::engine::test {
namespace {

using History = std::vector<holdfast::test::Recorded<SeatOp>>;
using SeatAnswer = SeatOp::Answer;

/// Three seats, each in a row of its own, so that no rule about neighbours refuses anything.
Layout three_seats() {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    builder.set_focal({0, 0});
    Section section;
    section.id = "A";
    builder.add_section(section);
    for (std::string const row : {"1", "2", "3"}) {
        builder.add_row(row);
        builder.add_seat({"A-" + row + "-1", "1", {{0, std::stod(row)}, {}, 0}});
    }
    auto layout = std::move(builder).build();
    return std::move(*layout);
}

class TinySale {
public:
    TinySale() {
        auto spec = std::make_shared<EventSpec>();
        spec->id = EventId{7};
        spec->slug = "tiny";
        spec->publish = true;
        spec->policy.max_extensions = 1'000;
        spec->layout = three_seats();
        event = engine.add(spec);
        engine.build(*event, {});
    }
    holdfast::test::MemoryJournal journal;
    Engine engine{journal, {}};
    LiveEvent* event{};
};

/// One thread's part of a history. Holds are known to all threads by their number.
class Recorder {
public:
    struct Shared {
        std::atomic<std::uint64_t> clock{0};
        std::atomic<std::uint8_t> holds{0};
        std::atomic<std::uint8_t> changes{0};
        std::array<std::atomic<std::uint64_t>, SeatRules::holds> refs{};
    };
    Recorder(TinySale& sale, Shared& shared, std::uint64_t seed)
        : sale_(sale), shared_(shared), random_(seed) {}

    void run(int calls) {
        for (int i = 0; i < calls; ++i) {
            SeatOp op;
            std::uint64_t const called = ++shared_.clock;
            op = call();
            std::uint64_t const returned = ++shared_.clock;
            history.push_back({op, called, returned});
            if (op.change == 0 || op.answer != SeatAnswer::done) continue;
            ++changed[op.kind];
            op.kind = SeatOp::Kind::part;
            history.push_back({op, called, returned});
        }
    }
    History history;
    std::map<SeatOp::Kind, int> changed;  // changes of lists that were done, by verb

private:
    SeatOp call() {
        std::uint64_t const dice = random_() % 24;
        if (dice >= 22) return candidates();
        if (dice < 4) return claim();
        if (dice < 7) return any();
        if (dice < 9) return look();
        std::uint8_t const known = shared_.holds;
        if (known == 0) return claim();
        return verb(static_cast<std::uint8_t>(1 + random_() % known), dice);
    }
    SeatOp claim() {
        auto const mask = static_cast<std::uint8_t>(1 + random_() % 7);
        ClaimLine line;
        line.kind = ClaimLine::Kind::seats;
        for (std::uint32_t i = 0; i < 3; ++i)
            if ((mask >> i & 1U) != 0) line.seats.push_back(SeatIndex{i});
        return take({SeatOp::Kind::claim, SeatAnswer::done, mask, 0, 0, 0}, line);
    }
    SeatOp any() {
        auto const count = static_cast<std::uint8_t>(1 + random_() % 2);
        return take({SeatOp::Kind::any, SeatAnswer::done, 0, count, 0, 0},
                    SaleFixture::best(count));
    }
    SeatOp candidates() {
        ClaimLine line;
        line.kind = ClaimLine::Kind::candidates;
        line.count = static_cast<std::uint32_t>(1 + random_() % 2);
        auto const first = static_cast<std::uint32_t>(random_() % 3);
        auto const length = static_cast<std::uint32_t>(2 + random_() % 2);
        std::uint8_t mask = 0;
        for (std::uint32_t i = 0; i < length; ++i) {
            line.seats.push_back(SeatIndex{(first + i) % 3});
            mask = static_cast<std::uint8_t>(mask | 1U << (first + i) % 3);
        }
        auto const count = static_cast<std::uint8_t>(line.count);
        SeatOp op = take({SeatOp::Kind::candidates, SeatAnswer::done, 0, count, 0, 0}, line);
        op.named = mask;
        return op;
    }
    SeatOp take(SeatOp op, ClaimLine const& line) {
        std::vector<ClaimLine> const lines{line};
        auto const hold = sale_.engine.claim({sale_.event, lines, 0, {}, false}, at(0ms), seats_);
        if (!hold) {
            op.answer =
                hold.error().code == RefusalCode::busy ? SeatAnswer::busy : SeatAnswer::refused;
            op.named = static_cast<std::uint8_t>(1U << hold.error().seat.value());
            return op;
        }
        op.seats = 0;
        for (SeatIndex const seat : seats_)
            op.seats = static_cast<std::uint8_t>(op.seats | 1U << seat.value());
        op.hold = ++shared_.holds;
        shared_.refs[op.hold] = hold->name.ref.bits();
        return op;
    }
    SeatOp look() {
        auto const seat = static_cast<std::uint32_t>(random_() % 3);
        auto const state = sale_.event->place(SeatIndex{seat}, at(0ms));
        return {SeatOp::Kind::look,
                SeatAnswer::done,
                static_cast<std::uint8_t>(1U << seat),
                0,
                static_cast<std::uint8_t>(state),
                0};
    }
    SeatOp verb(std::uint8_t hold, std::uint64_t dice) {
        std::uint64_t const bits = shared_.refs[hold];
        if (bits == 0) return look();  // its claimer has not told us yet
        HoldName const name{EventId{7}, HoldRef{bits}};
        if (dice >= 16) return change(name, hold, dice);
        SeatOp op{SeatOp::Kind::release, SeatAnswer::done, 0, 0, 0, hold};
        if (dice < 12) {
            auto const lsn = sale_.engine.release(name, at(0ms));
            op.answer = !lsn             ? answer_of(lsn.error().code)
                        : *lsn == no_lsn ? SeatAnswer::gone
                                         : op.answer;
        } else if (dice == 12) {
            op.kind = SeatOp::Kind::extend;
            auto const view = sale_.engine.extend(name, 1s, at(0ms), seats_);
            if (!view) op.answer = answer_of(view.error().code);
        } else if (dice == 13) {
            op.kind = SeatOp::Kind::confirm;
            std::vector<HoldName> const names{name};
            auto const order =
                sale_.engine.confirm({{1, hold}, names, PaymentMethod::none}, at(0ms));
            if (!order) op.answer = answer_of(order.error().code);
        } else {
            op.kind = SeatOp::Kind::cancel;
            std::vector<HoldName> const names{name};
            auto const lsn = sale_.engine.cancel({1, hold}, names, at(0ms));
            if (!lsn) op.answer = answer_of(lsn.error().code);
        }
        return op;
    }
    SeatOp change(HoldName const& name, std::uint8_t hold, std::uint64_t dice) {
        auto const mask = static_cast<std::uint8_t>(1 + random_() % 7);
        SeatOp op{SeatOp::Kind::exchange, SeatAnswer::done, mask, 0, 0, hold, ++shared_.changes};
        std::vector<HoldName> const names{name};
        if (dice == 20) {
            op.kind = SeatOp::Kind::refund;
            std::vector<PlaceName> places;
            for (std::uint32_t i = 0; i < 3; ++i)
                if ((mask >> i & 1U) != 0) places.push_back({EventId{7}, SeatIndex{i}});
            return answered(op, sale_.engine.refund({{1, hold}, names, places}, at(0ms)));
        }
        if (dice == 21) return reseat(op, names);
        ClaimLine line;
        for (std::uint32_t i = 0; i < 3; ++i)
            if ((mask >> i & 1U) != 0) line.seats.push_back(SeatIndex{i});
        std::vector<ClaimLine> const lines{line};
        ExchangeCommand command;
        command.hold = name;
        command.lines = lines;
        command.gives_back = dice >= 18;
        if (command.gives_back) op.kind = SeatOp::Kind::give_back;
        return answered(op, sale_.engine.exchange(command, at(0ms), seats_));
    }
    /// The one ticket of the hold; one with more stays as it is.
    SeatOp reseat(SeatOp op, std::vector<HoldName> const& names) {
        if (!sale_.engine.read(names[0], at(0ms), seats_) || seats_.size() != 1) return look();
        op.kind = SeatOp::Kind::reseat;
        auto const to = static_cast<std::uint32_t>(random_() % 3);
        op.seats = static_cast<std::uint8_t>(1U << to);
        op.count = static_cast<std::uint8_t>(1U << seats_[0].value());
        std::vector<ReseatFact::Move> const moves{{seats_[0], SeatIndex{to}}};
        ReseatCommand command;
        command.order = {1, op.hold};
        command.holds = names;
        command.event = EventId{7};
        command.moves = moves;
        return answered(op, sale_.engine.reseat(command, at(0ms)));
    }
    template <class T>
    static SeatOp answered(SeatOp op, Result<T> const& result) {
        if (result) return op;
        bool const refused = result.error().code == RefusalCode::seats_unavailable;
        op.answer = refused ? SeatAnswer::refused : answer_of(result.error().code);
        op.named = static_cast<std::uint8_t>(1U << result.error().seat.value());
        return op;
    }
    static SeatAnswer answer_of(RefusalCode code) {
        switch (code) {
            case RefusalCode::already_confirmed:
                return SeatAnswer::sold;
            case RefusalCode::busy:
                return SeatAnswer::busy;
            default:
                return SeatAnswer::gone;
        }
    }

    TinySale& sale_;
    Shared& shared_;
    std::mt19937_64 random_;
    std::vector<SeatIndex> seats_;
};

std::string in_words(History const& history) {
    static char const* const kinds[] = {"claim",  "any",        "release",  "extend",    "confirm",
                                        "cancel", "look",       "exchange", "give back", "refund",
                                        "reseat", "candidates", "part"};
    static char const* const answers[] = {"done", "refused", "gone", "sold", "busy"};
    std::string words;
    for (auto const& [op, called, returned] : history) {
        words += std::to_string(called) + '-' + std::to_string(returned) + ' ' +
                 kinds[static_cast<std::size_t>(op.kind)] + ' ' +
                 answers[static_cast<std::size_t>(op.answer)] + " seats " +
                 std::to_string(op.seats) + " named " + std::to_string(op.named) + " hold " +
                 std::to_string(op.hold) + " change " + std::to_string(op.change) + '\n';
    }
    return words;
}

/// The journal and the memory agree, and the counts add up.
void check_conservation(TinySale& sale) {
    Replay replay(std::map<EventId, std::uint32_t>{{EventId{7}, 3}});
    for (auto const& record : sale.journal.records())
        REQUIRE(replay.record({record.lsn, record.type, record.version, record.payload}));
    REQUIRE(replay.breach().empty());
    auto const restored = replay.take()[EventId{7}];
    std::size_t listed = 0;
    for (auto const& hold : restored.holds) listed += hold.seats.size();
    auto const counts = sale.event->availability(at(0ms)).front();
    REQUIRE(counts.free + counts.held + counts.sold == counts.capacity);
    REQUIRE(counts.held + counts.sold == listed);
    REQUIRE(sale.journal.reserved() == 0);
}

std::uint64_t number_of(char const* variable, std::uint64_t usual) {
    char const* const given = std::getenv(variable);
    return given != nullptr ? std::strtoull(given, nullptr, 10) : usual;
}

TEST_CASE("P2 P5: histories of real threads are linearizable", "[engine][stress]") {
    std::uint64_t const seed = number_of("HOLDFAST_SEED", std::random_device{}());
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    bool const gate = std::getenv("HOLDFAST_CI") != nullptr;
    std::uint64_t const runs = number_of("HOLDFAST_HISTORIES", gate ? 2'000 : 200);
    // Five at most: the rules tell 64 holds apart.
    std::uint64_t const crowd =
        std::min(number_of("HOLDFAST_HISTORY_THREADS", 3), std::uint64_t{5});
    std::map<SeatOp::Kind, int> changed;
    for (std::uint64_t run = 0; run < runs; ++run) {
        TinySale sale;
        Recorder::Shared shared;
        std::latch start(static_cast<std::ptrdiff_t>(crowd));
        std::vector<std::unique_ptr<Recorder>> recorders;
        std::vector<std::thread> threads;
        for (std::uint64_t i = 0; i < crowd; ++i) {
            auto const own = seed + run * crowd + i;
            recorders.push_back(std::make_unique<Recorder>(sale, shared, own));
            threads.emplace_back([&start, recorder = recorders.back().get()] {
                start.arrive_and_wait();
                recorder->run(10);  // with what they drop at most 20 operations
            });
        }
        for (auto& thread : threads) thread.join();
        History history;
        for (auto const& recorder : recorders) {
            history.insert(history.end(), recorder->history.begin(), recorder->history.end());
            for (auto const& [kind, count] : recorder->changed) changed[kind] += count;
        }
        INFO("run " << run << '\n' << in_words(history));
        REQUIRE(holdfast::test::linearizable(history, SeatRules(3)));
        check_conservation(sale);
    }
    for (auto const kind : {SeatOp::Kind::exchange, SeatOp::Kind::give_back, SeatOp::Kind::refund,
                            SeatOp::Kind::reseat})
        CHECK(changed[kind] > 0);
}

}  // namespace
}  // namespace holdfast::engine::test
