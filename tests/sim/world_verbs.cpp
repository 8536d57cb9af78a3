// World: what clients do, and whether each answer is the one that the records allow.

#include "tests/sim/server.hpp"

#include <algorithm>

namespace holdfast::sim {

using engine::ClaimLine;
using journal::Mode;
using Ref = std::uint64_t;

namespace {

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

/// Takes the records of the call in.
bool World::judge(std::optional<RefusalCode> refused, bool may, char const* what) {
    take_in_records();
    mix(refused ? 2 + static_cast<std::uint64_t>(*refused) : 1);
    if (!refused) {
        expect(may, std::string(what) + " was granted that its records forbid");
        return true;
    }
    bool const no_room = *refused == RefusalCode::busy || *refused == RefusalCode::read_only ||
                         *refused == RefusalCode::overloaded;
    if (*refused == RefusalCode::read_only)
        expect(server_->journal->mode() != Mode::running, "read-only with a good journal");
    expect(no_room || !may, std::string(what) + " was refused without a reason");
    return false;
}

void World::verb() {
    if (clients_.size() > clients_max)
        clients_.erase(clients_.begin() + below(static_cast<std::uint32_t>(clients_.size())));
    if (!keyed_.empty() && one_in(12)) return repeat();
    std::uint32_t const which = clients_.empty() ? 0 : below(20);
    if (which < 6) return one_in(4) ? claim_partly() : claim();
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
    auto const* const key = next_mark();
    auto const lsn = server_->engine->release(client.name, now(), key);
    // An end of what has ended leaves no record, and so no mark.
    note_key(key, lsn.has_value() && *lsn != no_lsn);
    if (!judge(lsn, !sold, "a release")) return;
    expect((*lsn != no_lsn) == live, "a release ended something else");
    if (live) mark(Mark::hold_released);
}

void World::extend(Client const& client) {
    auto const* const hold = model_.alive(client.name.ref.bits(), now());
    bool const may = hold != nullptr && !hold->sold && !hold->block;
    TimePoint const before = may ? hold->expires : TimePoint{};
    auto const* const key = next_mark();
    auto const view =
        server_->engine->extend(client.name, Milliseconds{1 + below(400'000)}, now(), seats_, key);
    note_key(key, view.has_value());
    if (!view && view.error().code == RefusalCode::extension_refused)
        return expect(may, "an extension of no hold was refused as one too many");
    if (!judge(view, may, "an extension")) return;
    mark(view->expires_at > before ? Mark::hold_extended : Mark::nothing_to_change);
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
    engine::ExchangeCommand command{client.name, lines, false, true, nullptr};
    command.mark = next_mark();
    auto const view = server_->engine->exchange(command, now(), seats_);
    note_key(command.mark, view.has_value());
    if (judge(view, may, "an exchange") && view->lsn != no_lsn) mark(Mark::exchange_done);
}

void World::confirm(Client& client) {
    auto const* const hold = model_.alive(client.name.ref.bits(), now());
    bool const may = hold != nullptr && !hold->sold && !hold->block;
    OrderId const order{1, ++orders_};
    std::vector<HoldName> const names{client.name};
    auto const* const key = next_mark();
    auto const placed =
        server_->engine->confirm({order, names, engine::PaymentMethod::none, key}, now());
    note_key(key, placed.has_value());
    if (!judge(placed, may, "an order")) return;
    client.order = order;
    mark(Mark::order_placed);
}

void World::cancel(Client const& client) {
    if (client.order == OrderId{}) return;
    auto const* const hold = model_.alive(client.name.ref.bits(), now());
    bool const may = hold != nullptr && hold->order == client.order;
    std::vector<HoldName> const names{client.name};
    auto const* const key = next_mark();
    engine::ChangeAnswer const after{client.order, true, 0, {{SeatIndex{1}, false}}};
    auto const cancelled = server_->engine->cancel(client.order, names, now(), {key, after});
    note_key(key, cancelled.has_value());
    if (judge(cancelled, may, "a cancellation")) mark(Mark::order_cancelled);
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
    auto const* const key = next_mark();
    engine::ChangeAnswer const after{client.order, false, 0, {{to, false}}};
    engine::ReseatCommand const command{client.order, names, spec_->id, moves, {}, {key, after}};
    auto const reseated = server_->engine->reseat(command, now());
    note_key(key, reseated.has_value());
    if (judge(reseated, may, "a reseat"))
        mark(from == to ? Mark::nothing_to_change : Mark::tickets_reseated);
}

engine::Mark const* World::next_mark() {
    if (!one_in(2)) return nullptr;
    mark_ = {{++keys_, keys_}, {keys_, 1}};
    // As the request before it does.
    auto const begun = server_->engine->marks().begin(mark_, now());
    expect(begun.kind == engine::Marks::Begun::Kind::fresh, "a new key is not new");
    return &mark_;
}

void World::note_key(engine::Mark const* mark, bool granted) {
    constexpr std::size_t keyed_max = 60;
    if (mark == nullptr) return;
    engine::Marks& marks = server_->engine->marks();
    if (!granted) return marks.forget(*mark);
    auto const begun = marks.begin(*mark, now());
    expect(begun.kind == engine::Marks::Begun::Kind::answered, "a mark is not in the table");
    expect(begun.lsn.value() == tape_.size(), "a mark waits for another record");
    if (keyed_.size() == keyed_max)
        keyed_.erase(keyed_.begin() + below(static_cast<std::uint32_t>(keyed_max)));
    keyed_.push_back({*mark, begun.answer, begun.lsn, now()});
}

/// P4: the key tells whether it has happened, and what was answered, over any number of restarts.
void World::repeat() {
    Keyed const& key = keyed_[below(static_cast<std::uint32_t>(keyed_.size()))];
    auto const begun = server_->engine->marks().begin(key.mark, now());
    bool const there = key.lsn != no_lsn && now() < key.at + limits::mark_life;
    if (begun.kind == engine::Marks::Begun::Kind::answered) {
        expect(there, "a request that was lost, or is long over, is answered again");
        expect(begun.answer == key.answer, "a repeat is answered otherwise");
        expect(begun.lsn == key.lsn, "a repeat waits for another record");
        return mark(Mark::repeat_answered);
    }
    expect(begun.kind == engine::Marks::Begun::Kind::fresh, "a repeat is refused");
    expect(!there, "a repeat would have a second effect");
    server_->engine->marks().forget(key.mark);
    mark(Mark::repeat_ran_again);
}

}  // namespace holdfast::sim
