// Engine: confirm holds as one order, cancel an order.

#include "engine/engine_core.hpp"

#include <holdfast/base/assert.hpp>

#include <map>

namespace holdfast::engine {
namespace {

using inventory::Edit;
using inventory::State;

/// Holds entered for one change that happens to all of them or none.
class Entered {
public:
    /// `fallback`: the state they go back to if the change does not happen. Room for all of them is
    /// made here: nothing may fail between entering a hold and noting it.
    Entered(State fallback, std::size_t holds) : fallback_(fallback) { edits_.reserve(holds); }
    Entered(Entered const&) = delete;
    Entered& operator=(Entered const&) = delete;
    ~Entered() {
        for (auto const& [sale, edit] : edits_) sale->inventory().holds.leave(edit, fallback_);
    }

    void add(Sale& sale, Edit const& edit) noexcept {
        HOLDFAST_ASSERT(edits_.size() < edits_.capacity());
        edits_.emplace_back(&sale, edit);
    }
    template <class Leave>
    void leave_all(Leave leave) {
        for (auto const& [sale, edit] : edits_) leave(sale->inventory().holds, edit);
        edits_.clear();
    }

private:
    State fallback_;
    std::vector<std::pair<Sale*, Edit>> edits_;
};

/// Room in the journal that is given back unless it was used.
class Space {
public:
    Space(journal::Journal& journal, std::size_t payload_bytes)
        : journal_(journal),
          bytes_(journal::record_header_bytes + payload_bytes),
          held_(journal.reserve(bytes_)) {}
    Space(Space const&) = delete;
    Space& operator=(Space const&) = delete;
    ~Space() {
        if (held_) journal_.give_back(bytes_);
    }
    [[nodiscard]] bool held() const noexcept { return held_; }
    Lsn append(journal::RecordType type, std::span<std::byte const> payload) {
        HOLDFAST_ASSERT(held_ && payload.size() + journal::record_header_bytes == bytes_);
        held_ = false;
        return journal_.append(type, fact_version, payload);
    }

private:
    journal::Journal& journal_;
    std::size_t bytes_;
    bool held_;
};

std::vector<HoldKey> keys_of(std::span<HoldName const> holds) {
    std::vector<HoldKey> keys;
    for (HoldName const& hold : holds) keys.push_back({hold.event, hold.ref});
    return keys;
}

/// Whether an order may still be made of a hold of this event.
bool may_confirm(Sale const& sale, TimePoint now) {
    switch (sale.state(now)) {
        case EventState::cancelled:
            return false;
        case EventState::closed:
            return sale.spec().policy.honour_open_holds;
        default:
            return true;
    }
}

Result<FoundHold> find_for_order(Engine::Core& core, HoldName const& hold, TimePoint now,
                                 std::vector<SeatIndex>& seats) {
    auto found = find_hold(core, hold, now, seats);
    if (!found) return found;
    if (found->look.word.state() == State::sold) {
        Refusal refusal = refuse(RefusalCode::already_confirmed);
        refusal.order = found->look.order;
        return refusal;
    }
    if (auto refusal = refuse_block(found->look, HeldAs::sold)) return *refusal;
    if (!may_confirm(*found->sale, now)) return refuse(RefusalCode::sale_closed);
    return found;
}

/// Takes a hold into `confirming`, waiting out another verb on it.
Result<FoundHold> enter_order(Engine::Core& core, HoldName const& hold, TimePoint now,
                              std::vector<SeatIndex>& seats, Entered& entered) {
    for (int round = 0; round < looks_max; ++round) {
        auto const found = find_for_order(core, hold, now, seats);
        if (!found) return found.error();
        auto const edit =
            found->sale->inventory().holds.enter(hold.ref, found->look.word, State::confirming);
        if (!edit) continue;
        entered.add(*found->sale, *edit);
        return *found;
    }
    return refuse(RefusalCode::busy);
}

}  // namespace

Result<PlacedOrder> Engine::confirm(ConfirmCommand const& command, TimePoint now) {
    HOLDFAST_ASSERT(!command.holds.empty() && command.holds.size() <= limits::holds_per_order_max);
    OrderFact fact{command.order, now, command.method, 0, keys_of(command.holds)};
    Space space(core_->journal, encode(fact).size());
    if (!space.held()) return no_space(core_->journal);
    Entered entered(State::held, command.holds.size());
    std::map<Sale const*, std::size_t> places;
    std::vector<SeatIndex> seats;
    for (HoldName const& hold : command.holds) {
        auto const found = enter_order(*core_, hold, now, seats, entered);
        if (!found) return found.error();
        EventPolicy const& policy = found->sale->spec().policy;
        if ((places[found->sale] += seats.size()) > policy.max_per_order) {
            Refusal refusal = refuse(RefusalCode::user_limit);
            refusal.number = policy.max_per_order;
            return refusal;
        }
        fact.total += total_price(found->sale->spec().layout, seats);
    }
    // From here on the order happens: its record first, then the places are sold.
    Lsn const lsn = space.append(journal::RecordType::order, encode(fact));
    entered.leave_all([&](auto& holds, Edit const& edit) { holds.leave_sold(edit, fact.order); });
    return PlacedOrder{now, fact.total, lsn};
}

Result<Lsn> Engine::cancel(OrderId const& order, std::span<HoldName const> holds, TimePoint now) {
    std::vector<std::byte> const payload = encode(CancelFact{order, now, keys_of(holds)});
    Space space(core_->journal, payload.size());
    if (!space.held()) return no_space(core_->journal);
    Entered entered(State::sold, holds.size());
    std::vector<SeatIndex> seats;
    for (HoldName const& hold : holds) {
        Sale* const sale = core_->registry.find(hold.event);
        if (sale == nullptr || !sale->ready()) return refuse(RefusalCode::not_found);
        auto const look = sale->inventory().holds.look(hold.ref, seats);
        bool const sold = look && look->word.state() == State::sold && look->order == order;
        // Another state is another cancellation of it, under way or done.
        if (!sold) return refuse(RefusalCode::already_released);
        auto const edit = sale->inventory().holds.enter(hold.ref, look->word, State::editing);
        if (!edit) return refuse(RefusalCode::busy);
        entered.add(*sale, *edit);
    }
    Lsn const lsn = space.append(journal::RecordType::cancel, payload);
    entered.leave_all([](auto& each, Edit const& edit) { each.leave_dead(edit); });
    return lsn;
}

}  // namespace holdfast::engine
