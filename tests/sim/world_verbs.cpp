// World: what clients do, and whether each answer is the one that the records allow.

#include "tests/sim/server.hpp"

#include <algorithm>

namespace holdfast::sim {

using engine::ClaimLine;
using engine::test::SaleFixture;
using journal::Mode;
using Ref = std::uint64_t;

namespace {

constexpr std::uint32_t labelled = 20;
constexpr std::size_t clients_max = 40;

}  // namespace

void World::take_in_records() {
    for (; modelled_ < tape_.size(); ++modelled_) {
        TapeRecord const& record = tape_[modelled_];
        std::string const wrong = model_.apply(record, now());
        expect(wrong.empty(), "appended: " + wrong);
        mix(static_cast<std::uint64_t>(record.type) << 32 | record.payload.size());
        for (std::byte const byte : record.payload) mix_byte(static_cast<std::uint64_t>(byte));
        if (record.type != journal::RecordType::end) continue;
        auto const end = engine::decode_end(record.payload);
        if (end && end->cause == engine::EndCause::expired) mark(Mark::hold_expired);
    }
}

/// Takes the records of the call in. `may`: the model, as it was before, would have granted it.
/// True: it was granted.
template <class T>
bool World::judge(Result<T> const& answer, bool may, char const* what) {
    take_in_records();
    mix(answer ? 1 : 2 + static_cast<std::uint64_t>(answer.error().code));
    if (answer) {
        expect(may, std::string(what) + " was granted that its records forbid");
        return true;
    }
    RefusalCode const code = answer.error().code;
    bool const no_room = code == RefusalCode::busy || code == RefusalCode::read_only ||
                         code == RefusalCode::overloaded;
    if (code == RefusalCode::read_only)
        expect(server_->journal->mode() != Mode::running, "read-only with a good journal");
    expect(no_room || !may, std::string(what) + " was refused without a reason");
    return false;
}

void World::verb() {
    if (clients_.size() > clients_max)
        clients_.erase(clients_.begin() + below(static_cast<std::uint32_t>(clients_.size())));
    std::uint32_t const which = clients_.empty() ? 0 : below(20);
    if (which < 6) return claim();
    if (which == 6) return block();
    Client& client = clients_[below(static_cast<std::uint32_t>(clients_.size()))];
    if (which < 10) return release(client);
    if (which < 12) return extend(client);
    if (which < 14) return exchange(client);
    if (which < 15) return confirm(client);
    if (which < 18) return cancel(client);
    if (which == 18) return refund(client);
    reseat(client);
}

std::vector<ClaimLine> World::random_lines() {
    ClaimLine line;
    if (one_in(4)) {
        line = SaleFixture::best(1 + below(3));
        line.best.prevent_orphans = one_in(2);
        return {line};
    }
    std::vector<ClaimLine> lines;
    if (!one_in(3)) {
        line.kind = ClaimLine::Kind::seats;
        std::uint32_t const first = below(labelled);
        for (std::uint32_t i = 0; i <= below(3); ++i)
            line.seats.push_back(SeatIndex{(first + i * 7) % labelled});
        lines.push_back(line);
    }
    if (lines.empty() || one_in(3)) {
        ClaimLine general;
        general.kind = ClaimLine::Kind::general;
        general.count = 1 + below(3);
        general.section = *spec_->layout.find_section("GA");
        lines.push_back(general);
    }
    return lines;
}

void World::claim() {
    auto const lines = random_lines();
    Milliseconds const ttl{30'000 + below(300'000)};
    bool may = true;
    for (ClaimLine const& line : lines)
        for (SeatIndex const seat : line.seats) may = may && model_.is_free(seat.value(), now());
    auto const hold = server_->engine->claim({server_->event, lines, 0, ttl, false}, now(), seats_);
    if (hold) {
        expect(may, "a claim of taken seats was granted");
        for (SeatIndex const seat : seats_)
            expect(model_.is_free(seat.value(), now()), "a claim was given a taken place");
        expect(hold->expires_at == now() + ttl, "a claim has another deadline");
        expect(hold->lsn.value() == tape_.size(), "a claim's LSN is not that of its record");
        clients_.push_back({hold->name, {}});
        mark(Mark::claim_won);
    } else {
        mark(Mark::claim_refused);
        if (hold.error().code == RefusalCode::seats_unavailable)
            expect(!model_.is_free(hold.error().seat.value(), now()),
                   "a claim was refused because of a free seat");  // P2
        // Without named seats it is a search that decides; its answers have tests of their own.
        bool const named = std::ranges::all_of(
            lines, [](ClaimLine const& line) { return line.kind == ClaimLine::Kind::seats; });
        if (named) return static_cast<void>(judge(hold, may, "a claim"));
    }
    take_in_records();
}

void World::block() {
    std::vector<SeatIndex> const places{SeatIndex{below(labelled)}};
    bool const may = model_.is_free(places[0].value(), now());
    engine::BlockCommand command;
    command.event = server_->event;
    command.places = places;
    auto const hold = server_->engine->block(command, now(), seats_);
    if (!judge(hold, may, "a block")) return;
    mark(Mark::block_made);
    clients_.push_back({hold->name, {}});
}

void World::release(Client const& client) {
    auto const* const hold = model_.alive(client.name.ref.bits(), now());
    bool const live = hold != nullptr && !hold->sold;
    if (hold != nullptr && hold->block) {
        auto const lsn = server_->engine->unblock(client.name, now());
        return static_cast<void>(judge(lsn, true, "an unblock"));
    }
    bool const sold = hold != nullptr && hold->sold;
    auto const lsn = server_->engine->release(client.name, now());
    if (!judge(lsn, !sold, "a release")) return;
    expect((*lsn != no_lsn) == live, "a release ended something else");
    if (live) mark(Mark::hold_released);
}

void World::extend(Client const& client) {
    auto const* const hold = model_.alive(client.name.ref.bits(), now());
    bool const may = hold != nullptr && !hold->sold && !hold->block;
    auto const view =
        server_->engine->extend(client.name, Milliseconds{1 + below(400'000)}, now(), seats_);
    if (!view && view.error().code == RefusalCode::extension_refused)
        return expect(may, "an extension of no hold was refused as one too many");
    if (judge(view, may, "an extension") && view->lsn != no_lsn) mark(Mark::hold_extended);
}

void World::exchange(Client const& client) {
    Ref const ref = client.name.ref.bits();
    auto const* const hold = model_.alive(ref, now());
    std::vector<ClaimLine> lines(1);
    for (std::uint32_t n = 1 + below(3); n > 0; --n) {
        SeatIndex const seat{below(labelled)};
        if (std::ranges::find(lines[0].seats, seat) == lines[0].seats.end())
            lines[0].seats.push_back(seat);
    }
    bool may = hold != nullptr && !hold->sold;
    for (SeatIndex const seat : lines[0].seats) {
        bool const has = may && hold->places.contains(seat.value());
        // A block may get smaller, but no larger.
        may = may && (has || (!hold->block && model_.is_free(seat.value(), now())));
    }
    auto const view =
        server_->engine->exchange({client.name, lines, false, true, nullptr}, now(), seats_);
    if (judge(view, may, "an exchange") && view->lsn != no_lsn) mark(Mark::exchange_done);
}

void World::confirm(Client& client) {
    auto const* const hold = model_.alive(client.name.ref.bits(), now());
    bool const may = hold != nullptr && !hold->sold && !hold->block;
    OrderId const order{1, ++orders_};
    std::vector<HoldName> const names{client.name};
    auto const placed =
        server_->engine->confirm({order, names, engine::PaymentMethod::none}, now());
    if (!judge(placed, may, "an order")) return;
    client.order = order;
    mark(Mark::order_placed);
}

void World::cancel(Client const& client) {
    if (client.order == OrderId{}) return;
    auto const* const hold = model_.alive(client.name.ref.bits(), now());
    bool const may = hold != nullptr && hold->order == client.order;
    std::vector<HoldName> const names{client.name};
    if (judge(server_->engine->cancel(client.order, names, now()), may, "a cancellation"))
        mark(Mark::order_cancelled);
}

void World::refund(Client const& client) {
    if (client.order == OrderId{}) return;
    auto const* const hold = model_.alive(client.name.ref.bits(), now());
    bool const may = hold != nullptr && hold->order == client.order;
    SeatIndex const seat{may ? *hold->places.begin() : below(labelled)};
    std::vector<HoldName> const names{client.name};
    std::vector<engine::PlaceName> const places{{spec_->id, seat}};
    if (judge(server_->engine->refund({client.order, names, places}, now()), may, "a refund"))
        mark(Mark::tickets_refunded);
}

void World::reseat(Client const& client) {
    auto const* const hold = model_.alive(client.name.ref.bits(), now());
    if (client.order == OrderId{} || hold == nullptr || hold->order != client.order) return;
    SeatIndex const from{*hold->places.begin()};
    SeatIndex const to{below(labelled)};
    if (from.value() >= labelled) return;
    bool const may =
        from == to || (model_.is_free(to.value(), now()) && !hold->places.contains(to.value()));
    std::vector<HoldName> const names{client.name};
    std::vector<engine::ReseatFact::Move> const moves{{from, to}};
    if (judge(server_->engine->reseat({client.order, names, spec_->id, moves, {}}, now()), may,
              "a reseat"))
        mark(Mark::tickets_reseated);
}

}  // namespace holdfast::sim
