#include "tests/sim/sale_model.hpp"

#include "engine/holder.hpp"

namespace holdfast::sim {

using engine::PlaceState;
using journal::RecordType;

namespace {

std::string const unreadable = "a record that cannot be read";
std::string const unknown_hold = "a record of a hold that is not there";

std::string of_place(std::string const& what, std::uint32_t place) {
    return what + ", place " + std::to_string(place);
}

}  // namespace

std::string SaleModel::apply(TapeRecord const& record, TimePoint now) {
    switch (record.type) {
        case RecordType::claim:
            return claim(record);
        case RecordType::edit:
            return edit(record);
        case RecordType::end:
            return end(record, now);
        case RecordType::order:
            return order(record, now);
        case RecordType::cancel:
            return cancel(record);
        case RecordType::clock: {
            auto const fact = engine::decode_clock(record.payload);
            if (!fact) return unreadable;
            for (auto& [ref, hold] : holds_) {
                bool const live = !hold.sold && !hold.block;
                if (live && hold.expires < fact->at) hold.expires = fact->at;
            }
            return {};
        }
        case RecordType::event:
            return {};  // the sale of the simulation stays open
        case RecordType::mark:
            return {};  // it changes nothing
        default:
            return "a record of a type that nobody writes";
    }
}

std::string SaleModel::take(std::uint64_t ref, std::uint32_t place) {
    if (!owners_.emplace(place, ref).second) return of_place("two owners", place);  // P1
    holds_[ref].places.insert(place);
    return {};
}

std::string SaleModel::leave(std::uint64_t ref, std::uint32_t place) {
    if (holds_[ref].places.erase(place) == 0) return of_place("given up by a stranger", place);
    owners_.erase(place);
    return {};
}

void SaleModel::forget(std::uint64_t ref) {
    for (std::uint32_t const place : holds_[ref].places) owners_.erase(place);
    holds_.erase(ref);
}

std::string SaleModel::claim(TapeRecord const& record) {
    auto const fact = engine::decode_claim(record.payload);
    if (!fact) return unreadable;
    std::uint64_t const ref = fact->hold.ref.bits();
    if (holds_.contains(ref)) return "a hold is claimed twice";
    Hold& hold = holds_[ref];
    hold.expires = fact->expires_at;
    hold.block = engine::Holder(fact->holder).is_block();
    for (SeatIndex const seat : fact->seats)
        if (auto wrong = take(ref, seat.value()); !wrong.empty()) return wrong;
    return {};
}

std::string SaleModel::edit(TapeRecord const& record) {
    auto const kind = engine::edit_kind_of(record.payload);
    if (!kind) return unreadable;
    switch (*kind) {
        case engine::EditKind::extend: {
            auto const fact = engine::decode_edit(record.payload);
            if (!fact) return unreadable;
            auto const found = holds_.find(fact->hold.ref.bits());
            if (found == holds_.end()) return unknown_hold;
            if (fact->expires_at < found->second.expires) return "a deadline moved back";  // P7
            found->second.expires = fact->expires_at;
            return {};
        }
        case engine::EditKind::exchange:
            return exchange(record);
        case engine::EditKind::reseat:
            return reseat(record);
        case engine::EditKind::refund:
            return refund(record);
    }
    return unreadable;
}

std::string SaleModel::exchange(TapeRecord const& record) {
    auto const fact = engine::decode_exchange(record.payload);
    if (!fact) return unreadable;
    std::uint64_t const ref = fact->hold.ref.bits();
    if (!holds_.contains(ref)) return unknown_hold;
    for (SeatIndex const seat : fact->dropped)
        if (auto wrong = leave(ref, seat.value()); !wrong.empty()) return wrong;
    for (SeatIndex const seat : fact->added)
        if (auto wrong = take(ref, seat.value()); !wrong.empty()) return wrong;
    return {};
}

std::string SaleModel::reseat(TapeRecord const& record) {
    auto const fact = engine::decode_reseat(record.payload);
    if (!fact) return unreadable;
    for (bool const leaves : {true, false}) {
        for (auto const& part : fact->parts) {
            std::uint64_t const ref = part.hold.ref.bits();
            if (!holds_.contains(ref)) return unknown_hold;
            for (auto const& move : part.moves) {
                auto wrong = leaves ? leave(ref, move.from.value()) : take(ref, move.to.value());
                if (!wrong.empty()) return wrong;
            }
        }
    }
    return {};
}

std::string SaleModel::refund(TapeRecord const& record) {
    auto const fact = engine::decode_refund(record.payload);
    if (!fact) return unreadable;
    for (auto const& part : fact->parts) {
        std::uint64_t const ref = part.hold.ref.bits();
        if (!holds_.contains(ref)) return unknown_hold;
        for (SeatIndex const seat : part.seats)
            if (auto wrong = leave(ref, seat.value()); !wrong.empty()) return wrong;
        if (holds_[ref].places.empty()) forget(ref);
    }
    return {};
}

std::string SaleModel::end(TapeRecord const& record, TimePoint now) {
    auto const fact = engine::decode_end(record.payload);
    if (!fact) return unreadable;
    auto const found = holds_.find(fact->hold.ref.bits());
    if (found == holds_.end()) return {};  // an END may stand twice (PROTOCOL.md F9)
    if (found->second.sold) return "an END of a sold hold";
    if (fact->cause == engine::EndCause::expired && found->second.expires > now)
        return "a hold expired before its time";  // P7
    forget(found->first);
    return {};
}

std::string SaleModel::order(TapeRecord const& record, TimePoint now) {
    auto const fact = engine::decode_order(record.payload);
    if (!fact) return unreadable;
    for (auto const& key : fact->holds) {
        auto const found = holds_.find(key.ref.bits());
        if (found == holds_.end()) return "an order of a hold that has ended";
        Hold& hold = found->second;
        if (hold.sold || hold.block) return "an order of a hold that is not for sale";
        if (now != no_deadline && hold.expires <= now) return "an order after the deadline";
        hold.sold = true;
        hold.order = fact->order;
    }
    return {};
}

std::string SaleModel::cancel(TapeRecord const& record) {
    auto const fact = engine::decode_cancel(record.payload);
    if (!fact) return unreadable;
    for (auto const& key : fact->holds) {
        auto const found = holds_.find(key.ref.bits());
        if (found == holds_.end() || !found->second.sold) return "a refund of what is not sold";
        if (found->second.order != fact->order) return "a refund by another order";
        forget(found->first);
    }
    return {};
}

SaleModel::Hold const* SaleModel::alive(std::uint64_t ref, TimePoint now) const {
    auto const found = holds_.find(ref);
    if (found == holds_.end()) return nullptr;
    Hold const& hold = found->second;
    return hold.sold || hold.block || hold.expires > now ? &hold : nullptr;
}

PlaceState SaleModel::place(std::uint32_t place, TimePoint now) const {
    auto const owner = owners_.find(place);
    if (owner == owners_.end()) return PlaceState::free;
    Hold const* const hold = alive(owner->second, now);
    if (hold == nullptr) return PlaceState::free;
    if (hold->sold) return PlaceState::sold;
    return hold->block ? PlaceState::blocked : PlaceState::held;
}

}  // namespace holdfast::sim
