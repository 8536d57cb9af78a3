// The journal describes the memory: after random verbs, replaying the records and building the
// event anew gives the same holds, orders and free places (PROTOCOL.md I14).

#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>

namespace holdfast::engine::test {
namespace {

struct Known {
    HoldName name;
    std::optional<OrderId> order;
};

void random_verb(SaleFixture& sale, std::mt19937_64& random, std::vector<Known>& holds,
                 Milliseconds now) {
    auto const pick = [&]() -> Known& { return holds[random() % holds.size()]; };
    switch (holds.empty() ? 0 : random() % 8) {
        case 0:
        case 1:
        case 2: {
            auto const quantity = 1 + static_cast<std::uint32_t>(random() % 3);
            auto const hold = random() % 2 == 0 ? sale.claim({SaleFixture::best(quantity)}, now)
                                                : sale.claim({sale.general(quantity)}, now);
            if (hold) holds.push_back({hold->name, {}});
            break;
        }
        case 3: {
            auto const released = sale.engine.release(pick().name, at(now));
            if (!released) REQUIRE(released.error().code == RefusalCode::already_confirmed);
            break;
        }
        case 4: {
            auto const extended = sale.engine.extend(pick().name, 400s, at(now), sale.seats);
            if (extended) REQUIRE(extended->extensions_left == 0);
            break;
        }
        case 5: {
            Known& known = pick();
            OrderId const order{random(), random()};
            if (sale.confirm({known.name}, now, order)) known.order = order;
            break;
        }
        case 6: {
            Known const& known = pick();
            if (!known.order) break;
            std::vector<HoldName> const names{known.name};
            auto const lsn = sale.engine.cancel(*known.order, names, at(now));
            if (!lsn) REQUIRE(lsn.error().code == RefusalCode::already_released);
            break;
        }
        default:
            sale.engine.expire(at(now));
    }
}

TEST_CASE("replay of the journal equals the memory", "[engine][model]") {
    auto const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    std::mt19937_64 random(seed);
    for (int run = 0; run < 20; ++run) {
        SaleFixture sale;
        std::vector<Known> holds;
        Milliseconds now{0};
        for (int step = 0; step < 400; ++step) {
            now += Milliseconds{random() % 5'000};
            random_verb(sale, random, holds, now);
        }
        SaleFixture restarted;  // same layout and id; only its inventory is looked at
        Engine again(restarted.journal, {});
        auto spec = std::make_shared<EventSpec>(sale.event->spec());
        LiveEvent* const event = again.add(spec);
        again.build(*event, sale.replayed());
        std::vector<std::uint8_t> before, after;
        sale.event->seat_states(at(now), before);
        event->seat_states(at(now), after);
        REQUIRE(before == after);
        for (Known const& known : holds) {
            std::vector<SeatIndex> seats_before, seats_after;
            auto const old_view = sale.engine.read(known.name, at(now), seats_before);
            auto const new_view = again.read(known.name, at(now), seats_after);
            REQUIRE(old_view.has_value() == new_view.has_value());
            if (!old_view) continue;
            REQUIRE(seats_before == seats_after);
            REQUIRE(old_view->expires_at == new_view->expires_at);
            REQUIRE(old_view->order == new_view->order);
            REQUIRE(old_view->extensions_left == new_view->extensions_left);
        }
    }
}

}  // namespace
}  // namespace holdfast::engine::test
