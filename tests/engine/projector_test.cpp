#include "tests/engine/projector_world.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <random>
#include <set>

namespace holdfast::engine::test {
namespace {

/// Says what is durable, and nothing else; the records lie on the disk already.
class ToldJournal final : public journal::Journal {
public:
    bool reserve(std::size_t) noexcept override { return false; }
    void give_back(std::size_t) noexcept override {}
    Lsn append(journal::RecordType, std::uint8_t, std::span<std::byte const>) noexcept override {
        return no_lsn;
    }
    [[nodiscard]] Lsn durable_lsn() const noexcept override { return Lsn{durable.load()}; }
    [[nodiscard]] Lsn appended_lsn() const noexcept override { return durable_lsn(); }
    [[nodiscard]] journal::Mode mode() const noexcept override { return journal::Mode::running; }
    bool wait_durable(Lsn lsn) noexcept override { return durable_lsn() >= lsn; }
    bool keep_from(std::uint64_t) override { return true; }
    void close() noexcept override {}
    std::atomic<std::uint64_t> durable{0};
};

/// Puts random but possible facts into a world; the whole life of a sale.
class Script {
public:
    explicit Script(World& world, std::uint64_t seed) : world_(world), random_(seed) {}
    Lsn play(int steps) {
        Lsn last = no_lsn;
        for (int i = 0; i < steps; ++i) {
            Lsn const lsn = play_one();
            if (lsn != no_lsn) last = lsn;
        }
        return last;
    }
    std::size_t orders() const { return orders_; }

private:
    struct Hold {
        std::vector<std::uint32_t> seats;
        OrderId order;
    };
    Lsn play_one() {
        if (random_() % 20 == 0) return world_.step(LifeStep::published);
        if (random_() % 2 == 0) return claim();
        if (holds_.empty()) return no_lsn;
        auto picked = holds_.begin();
        std::advance(picked, random_() % holds_.size());
        auto const& [key, state] = *picked;
        if (state.order != OrderId{} && random_() % 2 == 0) return change_sold(key, picked->second);
        if (state.order != OrderId{}) {
            Lsn const lsn = world_.cancel(state.order, {key});
            holds_.erase(picked);
            return lsn;
        }
        if (random_() % 3 == 0) return change_held(key, picked->second);
        if (random_() % 2 == 0) {
            picked->second.order = order(++orders_);
            return world_.put(
                journal::RecordType::order,
                OrderFact{
                    picked->second.order, at(200), PaymentMethod::external, 1'000'000, {key}});
        }
        Lsn lsn = world_.end(key);
        if (random_() % 2 == 0) lsn = world_.end(key);
        holds_.erase(picked);
        return lsn;
    }
    /// A place nobody has, if there is one at the third try.
    std::optional<SeatIndex> free_place() {
        for (int i = 0; i < 3; ++i) {
            auto const seat =
                static_cast<std::uint32_t>(random_() % world_.find(demo)->layout.place_count());
            bool const taken = std::ranges::any_of(holds_, [&](auto const& entry) {
                auto const& seats = entry.second.seats;
                return std::ranges::find(seats, seat) != seats.end();
            });
            if (!taken) return SeatIndex{seat};
        }
        return std::nullopt;
    }
    Lsn change_held(HoldKey const& key, Hold& hold_of) {
        auto const added = free_place();
        if (!added) return world_.put(journal::RecordType::edit, EditFact{key, 5, at(1'000)});
        ExchangeFact const fact{key, {SeatIndex{hold_of.seats.front()}}, {*added}};
        hold_of.seats.front() = added->value();
        return world_.put(journal::RecordType::edit, fact);
    }
    Lsn change_sold(HoldKey const& key, Hold& hold_of) {
        if (hold_of.seats.size() > 1) {
            RefundFact const fact{
                hold_of.order, at(210), {{key, {SeatIndex{hold_of.seats.back()}}}}};
            hold_of.seats.pop_back();
            return world_.put(journal::RecordType::edit, fact);
        }
        auto const to = free_place();
        if (!to) return no_lsn;
        ReseatFact const fact{
            hold_of.order, at(220), {{key, {{SeatIndex{hold_of.seats.front()}, *to}}}}};
        hold_of.seats.front() = to->value();
        return world_.put(journal::RecordType::edit, fact);
    }
    Lsn claim() {
        std::set<std::uint32_t> seats;
        for (auto n = 1 + random_() % 3; n > 0; --n) {
            seats.insert(
                static_cast<std::uint32_t>(random_() % world_.find(demo)->layout.place_count()));
        }
        for (auto const& [key, state] : holds_) {
            for (std::uint32_t const seat : state.seats) seats.erase(seat);
        }
        if (seats.empty()) return no_lsn;
        std::uint32_t slot = 1;
        while (in_use(slot)) ++slot;
        std::vector<std::uint32_t> const list{seats.begin(), seats.end()};
        HoldKey const key = hold(slot, ++generation_);
        holds_[key] = {list, {}};
        return world_.claim(key, list);
    }
    bool in_use(std::uint32_t slot) const {
        for (auto const& [key, state] : holds_) {
            if (key.ref.slot() == SlotIndex{slot}) return true;
        }
        return false;
    }

    World& world_;
    std::mt19937_64 random_;
    std::map<HoldKey, Hold> holds_;
    std::uint64_t generation_{};
    std::uint64_t orders_{};
};

}  // namespace

TEST_CASE("an order's row has its seats' names, sections, prices and ticket ids", "[projector]") {
    World world;
    world.start();
    Layout const& layout = world.find(demo)->layout;
    auto const first_general = layout.labelled_count();
    world.claim(hold(1, 1), {0, 4});
    world.claim(hold(2, 1), {first_general});
    Lsn const lsn = world.sell(order(1), {hold(1, 1), hold(2, 1)});
    REQUIRE(world.projector().wait_applied(lsn, patience));
    store::OrderRow const row = read_order(world, order(1));
    CHECK(row.event == demo);
    CHECK(row.state == store::OrderState::confirmed);
    CHECK(row.payment_method == "external");
    CHECK(row.currency == "JPY");
    CHECK(row.total == 777);
    CHECK(row.created_at == at(200));
    CHECK(row.lsn == lsn);
    CHECK(row.holds.size() == 2);
    CHECK(row.holds[1].second == hold(2, 1).ref);
    REQUIRE(row.tickets.size() == 3);
    CHECK(row.tickets[0].seat_name == "A-1-1");
    CHECK(row.tickets[0].section == "A");
    CHECK(row.tickets[0].price == layout.price_of(SeatIndex{0}));
    CHECK(row.tickets[1].seat == SeatIndex{4});
    CHECK(row.tickets[1].ticket == world.key.ticket_id(order(1), demo, SeatIndex{4}));
    CHECK(row.tickets[2].seat_name.empty());
    CHECK(row.tickets[2].section == "GA");
    CHECK(row.tickets[2].price == 4'500);
    Lsn const cancelled = world.cancel(order(1), {hold(1, 1), hold(2, 1)});
    REQUIRE(world.projector().wait_applied(cancelled, patience));
    CHECK(read_order(world, order(1)).state == store::OrderState::cancelled);
    CHECK_FALSE(world.projector().degraded());
}

TEST_CASE("restarts in the middle and projecting anew give the same rows", "[projector]") {
    World world;
    auto const seed = samples::seed();
    world.start();
    Script script{world, seed};
    for (int run = 0; run < 5; ++run) {
        script.play(150);
        if (run % 2 == 0) {
            // Everything restarts, in the server's order.
            world.journal->close();
            world.stop();
            world.close_journal();
            world.open_journal();
        } else {
            // What is not durable yet is applied by the next run.
            world.stop();
        }
        world.start();
    }
    Lsn const last = script.play(20);
    REQUIRE(world.projector().wait_applied(world.journal->appended_lsn(), patience));
    CHECK(world.projector().applied_lsn() >= last);
    world.stop();
    auto const rows = world.dump();
    CHECK(script.orders() > 20);
    CHECK(rows.size() > 3 * script.orders());

    world.open_store();
    REQUIRE(world.store->clear_projection());
    CHECK(world.dump().empty());
    world.stop();
    world.start();
    REQUIRE(world.projector().wait_applied(last, patience));
    CHECK_FALSE(world.projector().degraded());
    world.stop();
    CHECK(world.dump() == rows);
}

TEST_CASE("P6: only what is durable is applied, and applied_lsn says exactly that", "[projector]") {
    World world;
    world.open_store();
    world.claim(hold(1, 1), {0});
    world.claim(hold(2, 1), {1});
    world.sell(order(1), {hold(1, 1)});
    world.sell(order(2), {hold(2, 1)});
    Lsn const last = world.end(hold(1, 1));
    REQUIRE(world.journal->wait_durable(last));
    world.close_journal();
    ToldJournal journal;
    NotifyingListener unused;
    RunningProjector running{*world.store, journal,
                             world.disk,   [&](EventId id) { return world.find(id); },
                             world.key,    unused};
    for (std::uint64_t lsn = 1; lsn <= last.value(); ++lsn) {
        CHECK_FALSE(running.projector.wait_applied(Lsn{lsn}, Milliseconds{1}));
        journal.durable.store(lsn);
        running.projector.notify();
        REQUIRE(running.projector.wait_applied(Lsn{lsn}, patience));
        CHECK(running.projector.applied_lsn() == Lsn{lsn});
        auto const peeked = store::Store::peek(world.folder.file());
        REQUIRE(peeked);
        CHECK((*peeked)->applied_lsn == Lsn{lsn});
        std::size_t const orders = lsn < 3 ? 0 : lsn < 4 ? 1 : 2;
        auto reader = store::Reader::open(world.folder.file());
        REQUIRE(reader);
        auto const page = (*reader)->orders(no_lsn, 10);
        REQUIRE(page);
        CHECK(page->items.size() == orders);
    }
}

TEST_CASE("a batch is applied without anybody waiting for it", "[projector]") {
    World world;
    world.start();
    world.claim(hold(1, 1), {0});
    Lsn const lsn = world.sell(order(1), {hold(1, 1)});
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (world.projector().applied_lsn() < lsn) {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        std::this_thread::yield();
    }
    CHECK(read_order(world, order(1)).lsn == lsn);
}

TEST_CASE("stop applies everything durable and leaves an empty WAL", "[projector]") {
    World world;
    world.start();
    Script script{world, samples::seed()};
    Lsn const last = script.play(300);
    REQUIRE(world.journal->wait_durable(last));
    world.stop();
    CHECK(std::filesystem::file_size(world.folder.path() / "store.db-wal") == 0);
    auto const peeked = store::Store::peek(world.folder.file());
    REQUIRE(peeked);
    CHECK((*peeked)->applied_lsn >= last);
}

TEST_CASE("events are inserted on the store thread", "[projector]") {
    World world;
    world.start();
    auto const made = world.projector().insert_event(samples::full_event("second"));
    REQUIRE(made);
    CHECK(*made == EventId{2});
    auto const again = world.projector().insert_event(samples::full_event("second"));
    REQUIRE(again);
    CHECK_FALSE(*again);
    EventSpec broken = samples::full_event("broken");
    broken.policy.hold_ttl = Milliseconds{0};
    CHECK_FALSE(world.projector().insert_event(broken));
    CHECK_FALSE(world.projector().degraded());
    world.projector().stop();
    auto const late = world.projector().insert_event(samples::full_event("late"));
    REQUIRE_FALSE(late);
    CHECK_THAT(late.error().message, Catch::Contains("being closed"));
}

TEST_CASE("a store that fails degrades the projector and nothing else", "[projector]") {
    World world;
    world.open_store();
    {
        auto vandal = store::Database::open_writer(world.folder.file());
        REQUIRE(vandal);
        REQUIRE(vandal->run("DROP TABLE tickets"));
    }
    world.store.reset();
    world.start();
    Lsn const fine = world.step(LifeStep::published);
    REQUIRE(world.projector().wait_applied(fine, patience));
    world.claim(hold(1, 1), {0});
    Lsn const lsn = world.sell(order(1), {hold(1, 1)});
    CHECK_FALSE(world.projector().wait_applied(lsn, patience));
    CHECK(world.projector().degraded());
    CHECK(world.journal->wait_durable(world.claim(hold(2, 1), {1})));
    auto const refused = world.projector().insert_event(samples::full_event("late"));
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Catch::Contains("tickets"));
    world.stop();
    auto const peeked = store::Store::peek(world.folder.file());
    REQUIRE(peeked);
    // The claim may have had a transaction of its own; the order is rolled back.
    CHECK((*peeked)->applied_lsn >= fine);
    CHECK((*peeked)->applied_lsn < lsn);
}

TEST_CASE("a store that is well again is followed again", "[projector]") {
    World world;
    world.start(Milliseconds{5});
    auto const vandalize = [&](char const* sql) {
        auto vandal = store::Database::open_writer(world.folder.file());
        REQUIRE(vandal);
        REQUIRE(vandal->run(sql));
    };
    world.claim(hold(1, 1), {0});
    world.claim(hold(2, 1), {1, 2});
    REQUIRE(world.projector().wait_applied(world.sell(order(1), {hold(1, 1)}), patience));
    vandalize("ALTER TABLE tickets RENAME TO lost");
    Lsn const lsn = world.sell(order(2), {hold(2, 1)});
    CHECK_FALSE(world.projector().wait_applied(lsn, patience));
    CHECK(world.projector().degraded());
    CHECK(world.projector().applied_lsn() < lsn);
    // The journal has gone on, and what it says comes into the store later.
    CHECK(world.journal->wait_durable(world.claim(hold(3, 1), {3})));
    vandalize("ALTER TABLE lost RENAME TO tickets");
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (world.projector().degraded()) REQUIRE(std::chrono::steady_clock::now() < deadline);
    REQUIRE(world.projector().wait_applied(lsn, patience));
    CHECK(read_order(world, order(2)).tickets.size() == 2);
    Lsn const later = world.sell(order(3), {hold(3, 1)});
    REQUIRE(world.projector().wait_applied(later, patience));
    CHECK_FALSE(world.projector().degraded());
    CHECK(world.projector().in_doubt());
    // What failed once is not trusted with the only copy of a record.
    world.projector().request_checkpoint();
    while (world.projector().checkpoint_counts().wal_bytes > 0)
        REQUIRE(std::chrono::steady_clock::now() < deadline);
    CHECK(world.projector().store_durable_lsn() == no_lsn);
    CHECK_FALSE(world.projector().when_stored(Lsn{1}, [] {}));
}

TEST_CASE("a damaged file is found at once, not when its page is needed", "[projector]") {
    World world;
    world.start();
    REQUIRE(world.projector().wait_applied(world.step(LifeStep::published), patience));
    world.stop();
    {
        auto database = store::Database::open_reader(world.folder.file(), std::chrono::seconds{5});
        REQUIRE(database);
        auto const page =
            database->number("SELECT rootpage FROM sqlite_schema WHERE name = 'history'");
        REQUIRE(page);
        std::fstream file(world.folder.file(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp((*page - 1) * 4'096);
        file << "this is no page of SQLite's";
    }
    world.start();
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (!world.projector().degraded()) REQUIRE(std::chrono::steady_clock::now() < deadline);
    CHECK(world.journal->wait_durable(world.claim(hold(1, 1), {0})));
}

TEST_CASE("records that contradict each other degrade the projector", "[projector]") {
    World world;
    world.start();
    Lsn lsn = no_lsn;
    SECTION("an order of a hold that nobody claimed") {
        lsn = world.sell(order(1), {hold(1, 1)});
    }
    SECTION("an order of a hold that ended") {
        world.claim(hold(1, 1), {0});
        world.end(hold(1, 1));
        lsn = world.sell(order(1), {hold(1, 1)});
    }
    SECTION("two orders of one seat") {
        world.claim(hold(1, 1), {0});
        world.claim(hold(2, 1), {0});
        world.sell(order(1), {hold(1, 1)});
        lsn = world.sell(order(2), {hold(2, 1)});
    }
    SECTION("a cancellation of nothing") {
        lsn = world.cancel(order(1), {hold(1, 1)});
    }
    SECTION("a place that is not there") {
        world.claim(hold(1, 1), {1'000});
        lsn = world.sell(order(1), {hold(1, 1)});
    }
    SECTION("an event that is not there") {
        lsn = world.put(journal::RecordType::event, EventFact{EventId{9}, LifeStep::paused, at(1)});
    }
    SECTION("a type without rows") {
        lsn = world.put(journal::RecordType::credit, ClockFact{at(1)});
    }
    CHECK_FALSE(world.projector().wait_applied(lsn, patience));
    CHECK(world.projector().degraded());
    // The file itself is well, so the catalogue goes on.
    CHECK(world.projector().insert_event(samples::full_event("next")));
}

}  // namespace holdfast::engine::test
