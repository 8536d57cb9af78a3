// What buyers were charged, less what they got back, against the journal and the store.
#include "tests/engine/resting_world.hpp"

#include <holdfast/engine/engine.hpp>

#include <map>
#include <random>

namespace holdfast::engine::test {
namespace {

/// A shop over a journal and a store that keeps its own books, and starts anew from time to time.
class BookedShop {
public:
    explicit BookedShop(std::uint64_t seed) : random_(seed) { open(); }

    void trade() {
        switch (random_() % 8) {
            case 0:
                return cancel();
            case 1:
            case 2:
                return refund();
            case 3:
                return move();
            default:
                return sell();
        }
    }
    /// Everything is in the store: compares the three accounts.
    void balance() {
        REQUIRE(world_.projector().wait_applied(world_.journal->appended_lsn(), patience));
        close_writers();
        std::int64_t confirmed = 0;
        std::int64_t tickets = 0;
        auto const orders = world_.store->order_sums();
        REQUIRE(orders.has_value());
        for (store::OrderSum const& order : *orders) {
            if (order.state != store::OrderState::confirmed) continue;
            confirmed += order.total;
            tickets += order.live_price;
        }
        CHECK(confirmed == charged_ - given_back_);
        CHECK(tickets == charged_ - given_back_);
        CHECK(audit_of(world_).contradictions == std::vector<std::string>{});
    }
    void start_again() {
        world_.stop();
        open();
    }
    [[nodiscard]] std::int64_t charged() const { return charged_; }
    [[nodiscard]] std::int64_t given_back() const { return given_back_; }
    [[nodiscard]] int moves() const { return moves_; }

private:
    /// What was paid for the ticket that is at a place now.
    using Tickets = std::map<SeatIndex, std::int64_t>;
    struct Sold {
        HoldName hold;
        Tickets tickets;
    };
    using Orders = std::map<OrderId, Sold>;

    void open() {
        if (world_.specs.empty()) world_.open_store();
        auto const places = world_.find(demo)->layout.place_count();
        Replay replay({{demo, places}});
        auto const recovered = journal::recover("data", world_.disk, {}, replay);
        if (!recovered) throw std::runtime_error{recovered.error().message};
        auto restored = std::move(replay.take()[demo]);
        world_.store.reset();
        if (!world_.journal) world_.open_journal();
        world_.start();
        auto spec = std::make_shared<EventSpec>(*world_.find(demo));
        spec->policy = {};
        spec->policy.orphan_rule = OrphanRule::off;
        spec->opens_at.reset();
        spec->closes_at.reset();
        engine_ = std::make_unique<Engine>(*world_.journal, EngineOptions{});
        event_ = engine_->add(spec);
        engine_->build(*event_, restored);
    }
    void close_writers() {
        engine_.reset();
        world_.running.reset();
        world_.close_journal();
    }
    void sell() {
        ClaimLine line;
        line.kind = ClaimLine::Kind::best;
        line.best.quantity = 1 + static_cast<std::uint32_t>(random_() % 3);
        std::vector<ClaimLine> const lines{line};
        std::vector<SeatIndex> seats;
        auto const held = engine_->claim({event_, lines, 0, {}, false, true}, now_, seats);
        if (!held) return;
        std::vector<HoldName> const holds{held->name};
        OrderId const id = order(++last_order_);
        auto const placed = engine_->confirm({id, holds, PaymentMethod::external}, now_);
        REQUIRE(placed.has_value());
        Sold sold{held->name, {}};
        std::int64_t sum = 0;
        for (SeatIndex const seat : seats)
            sum += sold.tickets[seat] = event_->spec().layout.price_of(seat);
        CHECK(placed->total == sum);
        charged_ += sum;
        orders_.emplace(id, std::move(sold));
    }
    void cancel() {
        auto const found = any_order();
        if (found == orders_.end()) return;
        auto const& [id, sold] = *found;
        REQUIRE(engine_->cancel(id, std::vector{sold.hold}, now_).has_value());
        for (auto const& [seat, paid] : sold.tickets) given_back_ += paid;
        orders_.erase(found);
    }
    void refund() {
        auto const found = any_order();
        if (found == orders_.end()) return;
        auto& [id, sold] = *found;
        auto const ticket = any_of(sold.tickets);
        std::vector<PlaceName> const places{{demo, ticket->first}};
        auto const done = engine_->refund({id, std::vector{sold.hold}, places}, now_);
        REQUIRE(done.has_value());
        given_back_ += ticket->second;
        sold.tickets.erase(ticket);
        CHECK(done->whole == sold.tickets.empty());
        if (sold.tickets.empty()) orders_.erase(found);
    }
    /// To another place, whatever that costs: the ticket keeps its price.
    void move() {
        auto const found = any_order();
        if (found == orders_.end()) return;
        auto& [id, sold] = *found;
        auto const ticket = any_of(sold.tickets);
        auto const seat_count = event_->spec().layout.seats().size();
        SeatIndex const to{static_cast<std::uint32_t>(random_() % seat_count)};
        std::vector<ReseatFact::Move> const moves{{ticket->first, to}};
        auto const done = engine_->reseat({id, std::vector{sold.hold}, demo, moves, {}}, now_);
        if (!done) {
            CHECK(done.error().code == RefusalCode::seats_unavailable);  // somebody has it
            return;
        }
        ++moves_;
        std::int64_t const paid = ticket->second;
        sold.tickets.erase(ticket);
        sold.tickets.emplace(to, paid);
    }
    Orders::iterator any_order() { return any_of(orders_); }
    template <class Map>
    typename Map::iterator any_of(Map& map) {
        if (map.empty()) return map.end();
        return std::next(map.begin(), static_cast<std::ptrdiff_t>(random_() % map.size()));
    }

    std::mt19937_64 random_;
    World world_;
    std::unique_ptr<Engine> engine_;
    LiveEvent* event_{};
    Orders orders_;
    std::uint64_t last_order_{};
    TimePoint now_{at(1'000)};
    std::int64_t charged_{};
    std::int64_t given_back_{};
    int moves_{};  // of tickets
};

}  // namespace

TEST_CASE("P8: what is charged less what is given back is the sum of orders and of tickets",
          "[money]") {
    BookedShop shop(journal::test::seed_of_run());
    for (int life = 0; life < 8; ++life) {
        CAPTURE(life);
        for (int i = 0; i < 150; ++i) shop.trade();
        shop.balance();
        shop.start_again();
    }
    CHECK(shop.charged() > 0);
    CHECK(shop.given_back() > 0);
    CHECK(shop.moves() > 0);
}

}  // namespace holdfast::engine::test
