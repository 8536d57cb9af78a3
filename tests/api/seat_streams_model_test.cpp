// Clients that know only documents and streams have the true state, whatever happens and whenever
// they come, go and come back.
#include "tests/api/sample_event.hpp"
#include "tests/api/watched_house.hpp"

#include <atomic>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

namespace holdfast::test {
namespace {

using engine::HoldName;

/// Everything that may happen to places, one step at a time.
class Happenings {
public:
    Happenings(WatchedHouse& house, std::uint64_t seed) : house_(house), random_(seed) {}

    void step() {
        switch (draw(12)) {
            case 0:
                return pass();
            case 1:
            case 2:
                return release();
            case 3:
                return exchange();
            case 4:
                return confirm();
            case 5:
                return cancel();
            case 6:
                return block();
            case 7:
                return unblock();
            case 8:
                return extend();
            default:
                return claim();
        }
    }
    [[nodiscard]] std::size_t draw(std::size_t below) { return random_() % below; }
    std::size_t done{};

private:
    void claim() {
        engine::ClaimLine line = draw(3) == 0
                                     ? house_.general(1 + static_cast<std::uint32_t>(draw(3)))
                                     : engine::ClaimLine{};
        if (line.count == 0) line.seats = some_seats();
        std::vector<engine::ClaimLine> const lines{line};
        auto const ttl = Milliseconds{30'000 + 1'000 * static_cast<std::int64_t>(draw(60))};
        auto const hold =
            house_.engine.claim({house_.event, lines, 0, ttl, false, true}, house_.now, seats_);
        if (hold) holds_.push_back(hold->name);
        done += hold ? 1 : 0;
    }
    void release() {
        if (auto const hold = pick(holds_))
            done += house_.engine.release(*hold, house_.now) ? 1 : 0;
    }
    void extend() {
        if (holds_.empty()) return;
        done += house_.engine.extend(holds_[draw(holds_.size())], 600s, house_.now, seats_) ? 1 : 0;
    }
    void exchange() {
        if (holds_.empty()) return;
        engine::ClaimLine line;
        line.seats = some_seats();
        std::vector<engine::ClaimLine> const lines{line};
        engine::ExchangeCommand command;
        command.hold = holds_[draw(holds_.size())];
        command.lines = lines;
        command.staff = true;
        done += house_.engine.exchange(command, house_.now, seats_) ? 1 : 0;
    }
    void confirm() {
        auto const hold = pick(holds_);
        if (!hold) return;
        OrderId const order{1, ++orders_made_};
        if (!house_.confirm({*hold}, house_.now - engine::test::at(0ms), order)) return;
        orders_.emplace_back(order, *hold);
        ++done;
    }
    void cancel() {
        auto const order = pick(orders_);
        if (!order) return;
        done += house_.engine.cancel(order->first, {&order->second, 1}, house_.now) ? 1 : 0;
    }
    void block() {
        auto const places = some_seats();
        auto const hold = house_.engine.block({house_.event, places}, house_.now, seats_);
        if (hold) blocks_.push_back(hold->name);
        done += hold ? 1 : 0;
    }
    void unblock() {
        if (auto const hold = pick(blocks_))
            done += house_.engine.unblock(*hold, house_.now) ? 1 : 0;
    }
    void pass() {
        house_.now += Milliseconds{10 * static_cast<std::int64_t>(draw(4'000))};
        if (draw(4) != 0) done += house_.engine.expire(house_.now);
    }
    [[nodiscard]] std::vector<SeatIndex> some_seats() {
        std::set<std::uint32_t> numbers;
        for (std::size_t i = 0; i <= draw(4); ++i)
            numbers.insert(static_cast<std::uint32_t>(draw(house_.layout().labelled_count())));
        std::vector<SeatIndex> all;
        for (auto const number : numbers) all.push_back(SeatIndex{number});
        return all;
    }
    template <class T>
    [[nodiscard]] std::optional<T> pick(std::vector<T>& from) {
        if (from.empty()) return std::nullopt;
        std::swap(from[draw(from.size())], from.back());
        T const taken = from.back();
        from.pop_back();
        return taken;
    }

    WatchedHouse& house_;
    std::mt19937_64 random_;
    std::vector<SeatIndex> seats_;
    std::vector<HoldName> holds_, blocks_;
    std::vector<std::pair<OrderId, HoldName>> orders_;
    std::uint64_t orders_made_{};
};

/// A client, and the stream that it has open.
struct Viewer {
    explicit Viewer(WatchedHouse const& house) : client(house.client()) {}
    StreamClient client;
    std::shared_ptr<http::Stream> stream;
    bool has_state{};
};

void act(WatchedHouse& house, Viewer& viewer, Happenings& chance) {
    if (viewer.client.wants_document() && chance.draw(2) == 0) {
        viewer.client.take(house.document());
        viewer.has_state = true;
    }
    switch (chance.draw(8)) {
        case 0:  // loses its connection
            viewer.stream.reset();
            break;
        case 1:  // begins anew, the state first
            viewer = Viewer(house);
            viewer.client.take(house.document());
            viewer.has_state = true;
            break;
        case 2:  // begins anew, the stream first
            viewer = Viewer(house);
            viewer.stream = house.open();
            break;
        default:
            if (viewer.stream == nullptr) viewer.stream = house.open(viewer.client.number());
            if (!viewer.client.read(*viewer.stream, chance.draw(3))) viewer.stream.reset();
    }
}

void settle(WatchedHouse& house, Viewer& viewer) {
    for (int turn = 0; turn < 3; ++turn) {
        if (viewer.stream == nullptr) viewer.stream = house.open(viewer.client.number());
        house.look();
        if (!viewer.client.read(*viewer.stream)) viewer.stream.reset();
        if (viewer.client.wants_document()) viewer.client.take(house.document());
    }
}

std::string run(std::uint64_t seed) {
    WatchedHouse house;
    Happenings happenings(house, seed);
    std::vector<Viewer> viewers(4, Viewer(house));
    for (int round = 0; round < 40; ++round) {
        for (int step = 0; step < 12; ++step) {
            happenings.step();
            if (happenings.draw(3) == 0) house.look();
            if (happenings.draw(10) == 0) house.journal.hold_back(happenings.draw(2) == 0);
            act(house, viewers[happenings.draw(viewers.size())], happenings);
        }
        house.journal.hold_back(false);
        // What is due now is ended by the next tick at the latest.
        static_cast<void>(house.engine.expire(house.now + limits::timer_tick));
        house.look();
        for (Viewer& viewer : viewers) {
            settle(house, viewer);
            auto const difference = house.difference(viewer.client);
            if (!difference.empty()) return "round " + std::to_string(round) + ": " + difference;
        }
    }
    return happenings.done > 100 ? "" : "too little has happened";
}

}  // namespace

TEST_CASE("whoever follows has the true state, whatever happens to the places",
          "[streams][model]") {
    std::uint64_t const seed = seed_of_run();
    char const* const wanted = std::getenv("HOLDFAST_STREAM_RUNS");
    std::uint64_t const runs = wanted != nullptr ? std::stoull(wanted) : 60;
    for (std::uint64_t i = 0; i < runs; ++i) {
        CAPTURE(seed + i);
        REQUIRE(run(seed + i) == "");
    }
}

TEST_CASE("whoever follows has the true state while others change places at the same time",
          "[streams][stress]") {
    WatchedHouse house;
    std::uint64_t const seed = seed_of_run();
    CAPTURE(seed);
    std::atomic<bool> over{false};
    std::atomic<int> at_work{2};
    auto const shop = [&](std::uint64_t number) {
        std::mt19937_64 random(seed + number);
        std::vector<SeatIndex> seats;
        std::vector<HoldName> kept;
        for (int i = 0; i < 20'000; ++i) {
            engine::ClaimLine line;
            line.seats = {SeatIndex{static_cast<std::uint32_t>(random() % 20)}};
            std::vector<engine::ClaimLine> const lines{line};
            auto const hold =
                house.engine.claim({house.event, lines, 0, {}, false, true}, house.now, seats);
            if (hold) kept.push_back(hold->name);
            if (kept.empty() || random() % 2 == 0) continue;
            static_cast<void>(house.engine.release(kept.back(), house.now));
            kept.pop_back();
        }
        --at_work;
    };
    auto client = house.client();
    auto const watch = [&] {
        auto stream = house.streams->open(*house.event, {}, {}).stream;
        while (!over) {
            if (!client.read(*stream))
                stream = house.streams->open(*house.event, {}, client.number()).stream;
            if (!client.wants_document()) continue;
            if (auto const document = house.snapshots.state(*house.event, house.now))
                client.take(document->body);
        }
        client.read(*stream);
    };
    std::vector<std::thread> threads;
    std::thread watcher(watch);
    for (std::uint64_t i = 0; i < 2; ++i) threads.emplace_back(shop, i);
    while (at_work > 0) house.look();
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < 4; ++i) house.look();
    over = true;
    watcher.join();
    if (client.wants_document()) client.take(house.document());
    CHECK(house.difference(client) == "");
    CHECK(client.deltas > 0);
}

}  // namespace holdfast::test
