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

/// Another list, of what happens to be free or not.
void random_exchange(SaleFixture& sale, std::mt19937_64& random, Known const& known,
                     Milliseconds now) {
    std::vector<ClaimLine> lines(1);
    for (auto n = 1 + random() % 8; n > 0; --n)
        lines[0].seats.push_back(SeatIndex{static_cast<std::uint32_t>(random() % 20)});
    std::ranges::sort(lines[0].seats);
    auto const twice = std::ranges::unique(lines[0].seats);
    lines[0].seats.erase(twice.begin(), twice.end());
    if (random() % 2 == 0)
        lines.push_back(sale.general(1 + static_cast<std::uint32_t>(random() % 3)));
    bool const gives_back = random() % 3 == 0;
    static_cast<void>(
        sale.engine.exchange({known.name, lines, gives_back, true, nullptr}, at(now), sale.seats));
}

void random_change_of_order(SaleFixture& sale, std::mt19937_64& random, Known const& known,
                            Milliseconds now) {
    std::vector<HoldName> const names{known.name};
    if (!known.order || !sale.engine.read(known.name, at(now), sale.seats)) return;
    SeatIndex const ticket = sale.seats[random() % sale.seats.size()];
    if (random() % 3 == 0) {
        std::vector<PlaceName> const places{{EventId{7}, ticket}};
        REQUIRE(ok(sale.engine.refund({*known.order, names, places}, at(now))));
        return;
    }
    if (random() % 3 == 0) {
        std::vector<ReseatCommand::ToSection> const to_floor{{ticket, sale.section("GA")}};
        auto const moved =
            sale.engine.reseat({*known.order, names, EventId{7}, {}, to_floor}, at(now));
        if (!moved) REQUIRE(moved.error().code == RefusalCode::sold_out);
        return;
    }
    std::vector<ReseatFact::Move> const moves{
        {ticket, SeatIndex{static_cast<std::uint32_t>(random() % 20)}}};
    auto const moved = sale.engine.reseat({*known.order, names, EventId{7}, moves, {}}, at(now));
    if (!moved) REQUIRE(moved.error().code == RefusalCode::seats_unavailable);
}

void random_verb(SaleFixture& sale, std::mt19937_64& random, std::vector<Known>& holds,
                 Milliseconds now) {
    auto const pick = [&]() -> Known& { return holds[random() % holds.size()]; };
    switch (holds.empty() ? 0 : random() % 12) {
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
        case 7:
        case 8:
            random_exchange(sale, random, pick(), now);
            break;
        case 9:
        case 10:
            random_change_of_order(sale, random, pick(), now);
            break;
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
        SeatStates before, after;
        REQUIRE(sale.event->seat_states(at(now), before));
        REQUIRE(event->seat_states(at(now), after));
        REQUIRE(before.seats == after.seats);
        REQUIRE(before.general.size() == after.general.size());
        for (std::size_t i = 0; i < before.general.size(); ++i)
            REQUIRE(before.general[i].free == after.general[i].free);
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
