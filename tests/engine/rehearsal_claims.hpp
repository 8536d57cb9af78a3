// RehearsalClaims: claims of every kind, each granted or refused as the model says.
#pragma once

#include "tests/engine/rehearsal_stage.hpp"

namespace holdfast::engine::test {

class RehearsalClaims : protected RehearsalStage {
protected:
    using RehearsalStage::RehearsalStage;

    void claim(Command const& command) {
        using Verb = Command::Verb;
        std::vector<ClaimLine> lines;
        if (command.verb == Verb::lines) {
            lines.push_back(line_of(Verb::seats, command.a, command.b));
            lines.push_back(line_of(Verb::general, 0, command.b / 3));
        } else {
            lines.push_back(line_of(command.verb, command.a, command.b));
        }
        std::uint64_t const account = rules_.limits ? command.c / 7 % (accounts + 1) : 0;
        Milliseconds const ttl{30'000 + command.c % 300'000};
        auto const hold = engine_->claim({event_, lines, account, ttl, false}, now_, seats_);
        if (!hold) {
            bool const right = refuses(account, lines, hold.error()) ||
                               std::ranges::any_of(lines, [&](ClaimLine const& line) {
                                   return refuses(line, account, hold.error());
                               });
            return expect_refusal(right, "a claim", hold.error());
        }
        Numbers const given = numbers(seats_);
        expect(usable_of(given, account) == given,
               "a claim was given a place that is taken or cools down");
        expect(!is_limited(account, given.size()), "a claim was granted over a limit");
        expect(!picks_by_hand(lines) || !leaves_orphans(labelled_of(given), {}),
               "a claim was granted that leaves a single seat");
        Numbers left = given;
        for (ClaimLine const& line : lines) take_out(left, line, account);
        expect(left.empty(), "a claim was given more than it asked for");
        expect(hold->expires_at == now_ + ttl, "a claim has another deadline");
        note_done(command.verb);
        model_.give(given, now_, now_ + ttl, account);
        remember(hold->name);
    }

    /// Of named seats those that can be had.
    void claim_partly(Command const& command) {
        std::vector<ClaimLine> const lines{line_of(Command::Verb::seats, command.a, command.b)};
        std::uint64_t const account = rules_.limits ? command.c / 7 % (accounts + 1) : 0;
        Numbers usable = usable_of(numbers(lines.front().seats), account);
        std::ranges::sort(usable);
        ClaimCommand asks{event_, lines, account, 30s, false};
        asks.partial = true;
        auto const hold = engine_->claim(asks, now_, seats_);
        if (!hold)
            return expect_refusal(refuses_partly(lines, usable, account, hold.error()),
                                  "a partial claim", hold.error());
        expect(numbers(seats_) == usable && !usable.empty(),
               "a partial claim was given other seats than can be had");
        expect(!is_limited(account, usable.size()), "a partial claim was granted over a limit");
        expect(!leaves_orphans(usable, {}), "a partial claim leaves a single seat");
        note_done(command.verb);
        model_.give(usable, now_, now_ + 30s, account);
        remember(hold->name);
    }

    [[nodiscard]] bool is_limited(std::uint64_t account, std::size_t places) const {
        return model_.has_spent_all(account) || model_.is_over_units(account, places) ||
               model_.is_over_holds(account);
    }

private:
    [[nodiscard]] ClaimLine line_of(Command::Verb verb, std::uint32_t number,
                                    std::uint32_t count) const {
        using Verb = Command::Verb;
        ClaimLine line;
        if (verb == Verb::best) {
            line = SaleFixture::best(1 + count % 3);
            line.best.together = count / 3 % 2 == 0;
            line.best.prevent_orphans = false;
        } else if (verb == Verb::general) {
            line = first_.general(1 + count % 3);
        } else {
            // Also neighbours, which the orphan rule likes better.
            std::uint32_t const step = number / labelled % 2 == 0 ? 1 : 3;
            line.kind = verb == Verb::seats ? ClaimLine::Kind::seats : ClaimLine::Kind::candidates;
            std::uint32_t const seats = verb == Verb::seats ? 1 + count % 3 : 4;
            for (std::uint32_t i = 0; i < seats; ++i)
                line.seats.push_back(SeatIndex{(number + i * step) % labelled});
            line.count = verb == Verb::seats ? 0 : 1 + count % 3;
        }
        return line;
    }
    [[nodiscard]] static std::size_t asked(std::vector<ClaimLine> const& lines) {
        std::size_t places = 0;
        for (ClaimLine const& line : lines) {
            bool const named = line.kind == ClaimLine::Kind::seats;
            bool const best = line.kind == ClaimLine::Kind::best;
            places += named ? line.seats.size() : best ? line.best.quantity : line.count;
        }
        return places;
    }
    [[nodiscard]] static bool picks_by_hand(std::vector<ClaimLine> const& lines) {
        return std::ranges::any_of(lines, [](ClaimLine const& line) {
            return line.kind == ClaimLine::Kind::seats || line.kind == ClaimLine::Kind::candidates;
        });
    }

    /// Whether the model refuses the account or the whole claim, for the same reason.
    [[nodiscard]] bool refuses(std::uint64_t account, std::vector<ClaimLine> const& lines,
                               Refusal const& refusal) const {
        if (refusal.code == RefusalCode::user_limit && refusal.limit == LimitKind::places)
            return model_.is_over_units(account, asked(lines));
        if (refusal.code == RefusalCode::user_limit && refusal.limit == LimitKind::open_holds)
            return model_.is_over_holds(account);
        if (refusal.code == RefusalCode::hold_budget && refusal.seat_reason == SeatReason::none)
            return model_.has_spent_all(account);
        if (refusal.code != RefusalCode::orphan_seat) return false;
        for (ClaimLine const& line : lines) {
            if (line.kind == ClaimLine::Kind::best || line.kind == ClaimLine::Kind::general)
                continue;
            Numbers const picked = wanted(line, account);
            return model_.free_of(picked) == picked && leaves_orphans(picked, {});
        }
        return false;
    }
    /// The same of a partial claim, which could have `usable`.
    [[nodiscard]] bool refuses_partly(std::vector<ClaimLine> const& lines, Numbers const& usable,
                                      std::uint64_t account, Refusal const& refusal) const {
        if (refusal.code == RefusalCode::orphan_seat) return leaves_orphans(usable, {});
        if (refusal.code == RefusalCode::user_limit && refusal.limit == LimitKind::places)
            return model_.is_over_units(account, std::max<std::size_t>(usable.size(), 1));
        return refuses(account, lines, refusal) ||
               (usable.empty() && refuses(lines.front(), account, refusal));
    }
    /// Whether the model refuses this line, for the same reason.
    [[nodiscard]] bool refuses(ClaimLine const& line, std::uint64_t account,
                               Refusal const& refusal) const {
        bool const names = std::ranges::find(line.seats, refusal.seat) != line.seats.end();
        if (refusal.code == RefusalCode::hold_budget)
            return (names || chosen_freely(line, refusal.seat.value())) &&
                   refusal.seat_reason == SeatReason::cooling_down &&
                   model_.is_free(refusal.seat.value()) &&
                   model_.cools(refusal.seat.value(), account, now_) &&
                   lacks_cooling(line, account);
        switch (line.kind) {
            case ClaimLine::Kind::seats:
                return refusal.code == RefusalCode::seats_unavailable && names &&
                       !model_.is_free(refusal.seat.value());
            case ClaimLine::Kind::candidates:
                return refusal.code == RefusalCode::seats_unavailable && names &&
                       !model_.is_free(refusal.seat.value()) &&
                       usable_of(numbers(line.seats), account).size() < line.count;
            case ClaimLine::Kind::best:
                return refuses(line.best, refusal);
            case ClaimLine::Kind::general:
                return refusal.code == RefusalCode::sold_out &&
                       refusal.number == model_.free_of(standing_).size() &&
                       refusal.number < line.count;
        }
        return false;
    }
    /// Places that only the account may not have yet are not called taken.
    [[nodiscard]] bool refuses(BestWish const& best, Refusal const& refusal) const {
        std::size_t const standing = model_.free_of(standing_).size();
        Numbers const seats = model_.free_of(plain_);
        std::size_t const left = seats.size() + standing;
        if (refusal.code == RefusalCode::sold_out)
            return refusal.number == left && left < best.quantity;
        if (refusal.code != RefusalCode::best_available_not_found) return false;
        if (left < best.quantity) return false;  // that is sold out, whatever is remembered
        // Neighbours are never on the floor, which is not sold out all the same.
        if (best.together) return best.quantity > 1 || seats.empty();
        if (best.quantity < 2) return false;
        // Apart, every seat of one price will do, and so does the floor.
        auto const dear = static_cast<std::size_t>(std::ranges::count_if(
            seats, [this](std::uint32_t seat) { return price_of(seat) != price_of(0); }));
        return std::max({dear, seats.size() - dear, standing}) < best.quantity;
    }
    [[nodiscard]] bool chosen_freely(ClaimLine const& line, std::uint32_t seat) const {
        bool const floor = std::ranges::find(standing_, seat) != standing_.end();
        if (line.kind == ClaimLine::Kind::general) return floor;
        return line.kind == ClaimLine::Kind::best &&
               (std::ranges::find(plain_, seat) != plain_.end() || (floor && !line.best.together));
    }
    /// Whether those that cool down are what a line of general places lacks. (Where best available
    /// lacks neighbours, it is not known here.)
    [[nodiscard]] bool lacks_cooling(ClaimLine const& line, std::uint64_t account) const {
        if (line.kind != ClaimLine::Kind::general) return true;
        return usable_of(standing_, account).size() < line.count &&
               model_.free_of(standing_).size() >= line.count;
    }
    [[nodiscard]] std::int64_t price_of(std::uint32_t seat) const {
        return first_.layout().price_of(SeatIndex{seat});
    }
    /// What a line chosen by hand asks for.
    [[nodiscard]] Numbers wanted(ClaimLine const& line, std::uint64_t account) const {
        Numbers seats = numbers(line.seats);
        if (line.kind == ClaimLine::Kind::candidates) {
            seats = usable_of(seats, account);
            seats.resize(std::min<std::size_t>(seats.size(), line.count));
        }
        return seats;
    }
    /// Takes out of `left` what the line must have got.
    void take_out(Numbers& left, ClaimLine const& line, std::uint64_t account) {
        std::size_t count = line.count;
        Numbers wanted_places = wanted(line, account);
        if (line.kind == ClaimLine::Kind::seats) count = line.seats.size();
        if (line.kind == ClaimLine::Kind::best) {
            count = line.best.quantity;
            bool const floor = !line.best.together && left.front() >= labelled;
            wanted_places = floor ? standing_ : plain_;
        }
        if (line.kind == ClaimLine::Kind::general) wanted_places = standing_;
        std::size_t const before = left.size();
        std::erase_if(left, [&](std::uint32_t seat) {
            return std::ranges::find(wanted_places, seat) != wanted_places.end();
        });
        expect(before - left.size() == count, "a claim was given other places than it asked for");
    }
};

}  // namespace holdfast::engine::test
