// Once the record of a request with a key is there, nothing may fail: whoever repeats it would have
// a second effect, for a key that is forgotten is a new one.
#include "tests/engine/failing_memory.hpp"
#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>
#include <memory>

namespace holdfast::engine::test {
namespace {

/// Sends requests whose memory ends as soon as their record is there.
class PoorSale {
public:
    /// A key in flight, as each request has one.
    Mark const* next() {
        marks_.push_back(std::make_unique<Mark>(Mark{{marks_.size() + 1, 1}, {5, 5}}));
        Mark const* const mark = marks_.back().get();
        REQUIRE(sale.engine.marks().begin(*mark, test::at(0ms)).kind == Marks::Begun::Kind::fresh);
        return mark;
    }
    /// `verb` with the newest key; it must succeed, be answered again, and have left no room.
    template <class Verb>
    void demand(Verb const& verb) {
        std::size_t const records = sale.journal.records().size();
        sale.journal.after_append([] { fail_allocations(true); });
        bool good = false;
        bool threw = false;
        try {
            good = verb();
        } catch (std::bad_alloc const&) {
            threw = true;
        }
        fail_allocations(false);
        CHECK_FALSE(threw);
        CHECK(good);
        CHECK(sale.journal.records().size() == records + 1);
        CHECK(sale.journal.reserved() == 0);
        auto const begun = sale.engine.marks().begin(*marks_.back(), test::at(10ms));
        CHECK(begun.kind == Marks::Begun::Kind::answered);
        CHECK(begun.lsn == sale.journal.appended_lsn());
    }

    SaleFixture sale{policy()};

private:
    static EventPolicy policy() {
        EventPolicy policy;
        policy.orphan_rule = OrphanRule::off;
        return policy;
    }
    std::vector<std::unique_ptr<Mark>> marks_;
};

}  // namespace

TEST_CASE("P4: no key is forgotten for want of memory once its record is there", "[marks]") {
    PoorSale poor;
    SaleFixture& sale = poor.sale;
    std::vector<ClaimLine> const lines{sale.named({"A-1-1", "A-1-2"})};
    ClaimCommand claim{sale.event, lines, 0, {}, false};
    HoldName hold;
    claim.mark = poor.next();
    poor.demand([&] {
        auto const won = sale.engine.claim(claim, test::at(0ms), sale.seats);
        if (won) hold = won->name;
        return won.has_value();
    });
    std::vector<SeatIndex> const places{sale.seat("A-2-4"), sale.seat("A-2-5")};
    BlockCommand block;
    block.event = sale.event;
    block.places = places;
    block.mark = poor.next();
    std::vector<SeatIndex> blocked;
    poor.demand([&] { return sale.engine.block(block, test::at(0ms), blocked).has_value(); });

    std::vector<ClaimLine> const others{sale.named({"A-1-2", "A-1-3"})};
    ExchangeCommand exchange{hold, others, false, false, nullptr};
    exchange.mark = poor.next();
    poor.demand(
        [&] { return sale.engine.exchange(exchange, test::at(1ms), sale.seats).has_value(); });
    exchange.mark = poor.next();  // the same again: nothing changes
    poor.demand(
        [&] { return sale.engine.exchange(exchange, test::at(1ms), sale.seats).has_value(); });
    auto const* const pause = poor.next();
    poor.demand([&] {
        return sale.engine.step(*sale.event, LifeStep::paused, test::at(2ms), {}, pause)
            .has_value();
    });
    auto const* const release = poor.next();
    poor.demand([&] { return sale.engine.release(hold, test::at(3ms), release).has_value(); });
}

}  // namespace holdfast::engine::test
