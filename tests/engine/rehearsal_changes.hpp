// RehearsalChanges: what changes the list of a hold or of an order, and staff blocks.
#pragma once

#include "tests/engine/rehearsal_claims.hpp"

#include <optional>
#include <set>

namespace holdfast::engine::test {

class RehearsalChanges : protected RehearsalClaims {
protected:
    using RehearsalClaims::RehearsalClaims;

    /// Another whole list: some of its seats, others beside them, and a number of general places.
    void exchange(std::size_t id, Command const& command) {
        Numbers const has = model_.hold(id).seats;
        Numbers named = pick(labelled_of(has), command.b);
        for (std::uint32_t i = 0; i < command.c % 3; ++i)
            named.push_back((command.b / 8 + i * (1 + command.c / 3 % 3)) % labelled);
        named = unique(named);
        std::uint32_t const general = command.c / 9 % 3;
        if (named.empty() && general == 0) return;
        Numbers wanted = named;
        Numbers const mine = minus(has, labelled_of(has));
        wanted.insert(wanted.end(), mine.begin(),
                      mine.begin() + std::min<std::ptrdiff_t>(std::ssize(mine), general));
        std::size_t const lacking = general - std::min<std::size_t>(mine.size(), general);
        judge_exchange(id, send(id, named, general, false), wanted, lacking);
    }
    /// A part of its list goes, or all; sometimes a seat that it does not have.
    void give_back(std::size_t id, Command const& command) {
        Numbers const has = model_.hold(id).seats;
        Numbers named = pick(labelled_of(has), command.b);
        if (command.c % 8 == 0) named.push_back(command.b % labelled);
        named = unique(named);
        Numbers const mine = minus(has, labelled_of(has));
        auto const general = static_cast<std::uint32_t>(command.c / 8 % (mine.size() + 2));
        if (named.empty() && general == 0) return;
        Numbers wanted = minus(labelled_of(has), named);
        bool const has_all = std::ranges::includes(has, named) && general <= mine.size();
        if (has_all) wanted.insert(wanted.end(), mine.begin(), mine.end() - general);
        auto const view = send(id, named, general, true);
        if (model_.life(id) != Life::held || has_all) return judge_exchange(id, view, wanted, 0);
        expect(!view && view.error().code == RefusalCode::seats_unavailable &&
                   view.error().seat_reason == SeatReason::none,
               "a place was given back that the hold does not have");
    }
    void refund(std::size_t id, Command const& command) {
        if (known_[id].order == OrderId{}) return;  // no order names it
        Numbers const has = model_.hold(id).seats;
        Numbers gone = pick(has, command.b);
        if (command.c % 8 == 0 || gone.empty()) gone.push_back(command.c % labelled);
        gone = unique(gone);
        std::vector<HoldName> const names{known_[id].name};
        std::vector<PlaceName> places;
        for (std::uint32_t const seat : gone) places.push_back({EventId{7}, SeatIndex{seat}});
        auto const done = engine_->refund({known_[id].order, names, places}, now_);
        bool const good = model_.life(id) == Life::sold && std::ranges::includes(has, gone);
        expect(done.has_value() == good, "a refund of tickets went another way");
        if (!good) return;
        note_done(command.verb);
        Numbers const left = minus(has, gone);
        if (done) expect(done->whole == left.empty(), "a refund says wrongly what is left");
        if (left.empty())
            model_.end(id, now_);
        else
            model_.change(id, left, now_);
    }
    void reseat(std::size_t id, Command const& command) {
        if (known_[id].order == OrderId{}) return;
        Numbers const has = model_.hold(id).seats;
        std::vector<ReseatFact::Move> moves;
        Numbers after = has;
        bool good = model_.life(id) == Life::sold;
        std::size_t const count = std::min<std::size_t>(1 + command.b % 2, has.size());
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t const from = (command.b / 2 + i) % has.size();
            std::uint32_t const to =
                static_cast<std::uint32_t>(command.c / 4 + i * 5) % (labelled + general_places);
            moves.push_back({SeatIndex{has[from]}, SeatIndex{to}});
            after[from] = to;
            good = good && (model_.is_free(to) || std::ranges::binary_search(has, to));
        }
        ReseatCommand order;
        order.order = known_[id].order;
        std::vector<HoldName> const names{known_[id].name};
        order.holds = names;
        order.event = EventId{7};
        std::vector<ReseatCommand::ToSection> const to_floor{
            {SeatIndex{has[0]}, first_.section("GA")}};
        bool const floor = command.c % 4 == 0;
        if (floor)
            order.to_sections = to_floor;
        else
            order.moves = moves;
        auto const done = engine_->reseat(order, now_);
        if (floor) return judge_floor(id, done);
        after = unique(after);
        good = good && after.size() == has.size();
        expect(done.has_value() == good, "a reseat went another way");
        if (!good || !done) return;
        // Two tickets that change places move, though the order has the same places.
        bool const moves_none = std::ranges::all_of(
            moves, [](ReseatFact::Move const& move) { return move.from == move.to; });
        expect((*done == no_lsn) == moves_none, "a reseat moved other tickets");
        note_done(command.verb);
        model_.change(id, after, now_);
        expect_list(id);
    }
    void block(Command const& command) {
        Numbers named;
        for (std::uint32_t i = 0; i < command.a % 4; ++i)
            named.push_back((command.b + i * 3) % (labelled + 4));
        named = unique(named);
        BlockCommand block;
        block.event = event_;
        std::vector<SeatIndex> places;
        for (std::uint32_t const seat : named) places.emplace_back(seat);
        block.places = places;
        block.section = first_.section("GA");
        block.quantity = command.a / 4 % 3;
        if (named.empty() && block.quantity == 0) return;
        block.skip_taken = command.c % 2 == 0;
        if (command.c / 2 % 2 == 0) block.until = now_ + Milliseconds{30'000 + command.c % 400'000};
        auto const made = engine_->block(block, now_, seats_);
        Numbers const free = model_.free_of(named);
        Numbers const floor = minus(model_.free_of(standing_), named);
        bool const enough = floor.size() >= block.quantity;
        bool const some = block.skip_taken ? !free.empty() || block.quantity > 0 : free == named;
        if (!made) {
            if (made.error().code == RefusalCode::sold_out)
                return expect(!enough, "a block was refused as sold out");
            return expect_refusal(made.error().code == RefusalCode::seats_unavailable && !some &&
                                      !model_.is_free(made.error().seat.value()),
                                  "a block", made.error());
        }
        Numbers const given = numbers(seats_);
        Numbers const further = minus(given, free);
        expect(some && enough, "a block was granted that the model refuses");
        expect(std::ranges::includes(given, free) && std::ranges::includes(floor, further) &&
                   further.size() == block.quantity,
               "a block has other places than it asked for");
        expect(made->expires_at == block.until, "a block has another deadline");
        note_done(command.verb);
        model_.give(given, now_, block.until, 0, true);
        remember(made->name);
    }
    void unblock(std::size_t id) {
        auto const lsn = engine_->unblock(known_[id].name, now_);
        Life const life = model_.life(id);
        bool const is_block = model_.hold(id).block;
        expect(lsn.has_value() == (life == Life::ended || is_block), "unblocking went another way");
        if (!lsn)
            return expect_refusal(lsn.error().code == RefusalCode::not_found, "unblocking",
                                  lsn.error());
        expect((*lsn != no_lsn) == (life == Life::held), "unblocking ended another hold");
        if (life == Life::held) note_done(Command::Verb::unblock);
        model_.end(id, now_);
    }

private:
    [[nodiscard]] static Numbers unique(Numbers seats) {
        std::set<std::uint32_t> const all(seats.begin(), seats.end());
        return {all.begin(), all.end()};
    }
    /// Those whose bit is set.
    [[nodiscard]] static Numbers pick(Numbers const& seats, std::uint32_t bits) {
        Numbers some;
        for (std::size_t i = 0; i < seats.size(); ++i)
            if ((bits >> i % 8 & 1U) != 0) some.push_back(seats[i]);
        return some;
    }
    [[nodiscard]] Result<HoldView> send(std::size_t id, Numbers const& named, std::uint32_t general,
                                        bool gives_back) {
        std::vector<ClaimLine> lines;
        ClaimLine seats;
        for (std::uint32_t const seat : named) seats.seats.emplace_back(seat);
        if (!named.empty()) lines.push_back(seats);
        if (general > 0) lines.push_back(first_.general(general));
        ExchangeCommand command;
        command.hold = known_[id].name;
        command.lines = lines;
        command.gives_back = gives_back;
        return engine_->exchange(command, now_, seats_);
    }
    /// `wanted`, and `lacking` general places more.
    void judge_exchange(std::size_t id, Result<HoldView> const& view, Numbers wanted,
                        std::size_t lacking) {
        if (!view)
            return expect_refusal(refuses(id, wanted, lacking, view.error()), "an exchange",
                                  view.error());
        expect(!must_refuse(id, wanted, lacking), "an exchange was granted that the model refuses");
        Numbers const given = numbers(seats_);
        Numbers const floor = minus(given, wanted);
        expect(floor.size() == lacking && std::ranges::includes(standing_, floor) &&
                   usable_of(floor, model_.hold(id).account) == floor &&
                   given.size() == wanted.size() + lacking,
               "an exchange gave another list");
        bool const same = given == model_.hold(id).seats;
        expect((view->lsn == no_lsn) == same, "an exchange journaled another change");
        if (!same)
            note_done(given.size() < model_.hold(id).seats.size() ? Command::Verb::give_back
                                                                  : Command::Verb::exchange);
        if (given.empty())
            model_.end(id, now_);
        else
            model_.change(id, given, now_);
        if (!given.empty()) expect_list(id);
    }
    [[nodiscard]] bool refuses(std::size_t id, Numbers const& wanted, std::size_t lacking,
                               Refusal const& refusal) const {
        SequentialModel::Hold const& hold = model_.hold(id);
        Numbers const added = minus(wanted, hold.seats);
        std::uint32_t const seat = refusal.seat.value();
        switch (refusal.code) {
            case RefusalCode::hold_expired:
            case RefusalCode::already_released:
                return hold.life == Life::ended;
            case RefusalCode::already_confirmed:
                return hold.life == Life::sold;
            case RefusalCode::sold_out:
                return model_.free_of(standing_).size() < lacking;
            case RefusalCode::illegal_transition:
                return hold.block && added.size() + lacking > 0;
            case RefusalCode::user_limit:
                return refusal.limit == LimitKind::order ? is_too_large(id, wanted, lacking)
                                                         : is_over_units(id, wanted, lacking);
            case RefusalCode::hold_budget:
                if (refusal.seat_reason == SeatReason::none)
                    return model_.has_spent_all(hold.account);
                return model_.cools(seat, hold.account, now_) &&
                       (std::ranges::binary_search(added, seat) ||
                        (std::ranges::binary_search(standing_, seat) &&
                         lacks_cooling_floor(hold.account, lacking)));
            case RefusalCode::seats_unavailable:
                return std::ranges::binary_search(added, seat) && !model_.is_free(seat);
            case RefusalCode::orphan_seat:
                return leaves_orphans(added, labelled_of(minus(hold.seats, wanted)));
            default:
                return false;
        }
    }
    [[nodiscard]] bool must_refuse(std::size_t id, Numbers const& wanted,
                                   std::size_t lacking) const {
        SequentialModel::Hold const& hold = model_.hold(id);
        if (hold.life != Life::held) return true;
        Numbers const added = minus(wanted, hold.seats);
        if (added.size() + lacking == 0) return false;
        return hold.block || is_too_large(id, wanted, lacking) ||
               is_over_units(id, wanted, lacking) || model_.has_spent_all(hold.account) ||
               usable_of(added, hold.account) != added ||
               usable_of(standing_, hold.account).size() < lacking ||
               leaves_orphans(added, labelled_of(minus(hold.seats, wanted)));
    }
    [[nodiscard]] bool lacks_cooling_floor(std::uint64_t account, std::size_t lacking) const {
        return usable_of(standing_, account).size() < lacking &&
               model_.free_of(standing_).size() >= lacking;
    }
    [[nodiscard]] bool is_too_large(std::size_t id, Numbers const& wanted,
                                    std::size_t lacking) const {
        return wanted.size() + lacking >
               std::max<std::size_t>(policy_.max_per_order, model_.hold(id).seats.size());
    }
    [[nodiscard]] bool is_over_units(std::size_t id, Numbers const& wanted,
                                     std::size_t lacking) const {
        std::size_t const has = model_.hold(id).seats.size();
        std::size_t const gets = wanted.size() + lacking;
        return gets > has && model_.is_over_units(model_.hold(id).account, gets - has);
    }
    /// One ticket that goes to the floor, to whichever place the engine chose.
    void judge_floor(std::size_t id, Result<Lsn> const& done) {
        Numbers const has = model_.hold(id).seats;
        bool const is_sold = model_.life(id) == Life::sold;
        bool const stays = has[0] >= labelled;
        bool const room = !model_.free_of(standing_).empty();
        expect(done.has_value() == (is_sold && (stays || room)),
               "a reseat to a section went wrong");
        if (!done || stays) return;
        expect(engine_->read(known_[id].name, now_, seats_).has_value(), "a sold hold is gone");
        Numbers const now_has = numbers(seats_);
        Numbers const got = minus(now_has, has);
        expect(got.size() == 1 && now_has.size() == has.size() && model_.free_of(got) == got &&
                   got[0] >= labelled && !std::ranges::binary_search(now_has, has[0]),
               "a reseat to a section gave other places");
        if (difference_.empty()) model_.change(id, now_has, now_);
    }
    void expect_list(std::size_t id) {
        auto const view = engine_->read(known_[id].name, now_, seats_);
        expect(view && numbers(seats_) == model_.hold(id).seats, "a hold has another list");
    }
};

}  // namespace holdfast::engine::test
