// What a line of a claim is refused for: others, its account's cool-down, or the claim's own lines.
#include "engine/claiming.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>

namespace holdfast::engine {
namespace {

using inventory::Choice;

bool have_one_filter(BestWish const& a, BestWish const& b) {
    return a.sections == b.sections && a.categories == b.categories && a.zone == b.zone &&
           a.accessible == b.accessible;
}

Refusal refusal_of(Choice const& choice) {
    switch (choice.kind) {
        case Choice::Kind::chosen:
            break;
        case Choice::Kind::busy:
            return refuse(RefusalCode::busy);
        case Choice::Kind::sold_out: {
            Refusal refusal = refuse(RefusalCode::sold_out);
            refusal.number = choice.number;
            return refusal;
        }
        case Choice::Kind::none_together: {
            Refusal refusal = refuse(RefusalCode::best_available_not_found);
            refusal.number = choice.number;
            return refusal;
        }
    }
    HOLDFAST_ASSERT(!"what was chosen is not refused");
    return {};
}

}  // namespace

/// What to do with a line that finds nothing beside the other lines' places and what cools down.
/// Nothing: it has got something after all, or goes to the front.
std::optional<Refusal> Claiming::refuse_line(ClaimLine const& line, Choice choice) {
    if (choice.kind == Choice::Kind::busy) return refusal_of(choice);
    bool const sum_decides = choice.kind == Choice::Kind::sold_out && only_the_sum_decides(line);
    if (!places_.empty() && may_move(line) && !sum_decides) {
        Choice const first = search(line, gate_.to_leave_out());
        if (first.kind == Choice::Kind::chosen) {
            move_to_front(line);
            return std::nullopt;
        }
    }
    if (!gate_.to_leave_out().empty()) {
        choice = search(line, places_);
        if (choice.kind == Choice::Kind::chosen) {
            if (auto refusal = gate_.until_all_cooled(scratch_.chosen)) return refusal;
            take(line);
            return std::nullopt;
        }
    }
    if (places_.empty()) return refusal_of(choice);
    Choice const alone = search(line, {});
    if (alone.kind != Choice::Kind::chosen) return refusal_of(alone);
    return refuse_for_own(line, choice);
}

/// Whether no order of the lines could help where too few places are left for this one: all of them
/// want any of the same places, and have got no more than they asked for.
bool Claiming::only_the_sum_decides(ClaimLine const& line) const {
    if (line.kind == ClaimLine::Kind::general) return true;
    return given_more_ == 0 && std::ranges::all_of(command_.lines, [&line](ClaimLine const& other) {
               if (other.kind == ClaimLine::Kind::best)
                   return have_one_filter(other.best, line.best);
               return other.kind != ClaimLine::Kind::candidates;  // they had a choice
           });
}

/// The line could be served alone. `beside`: what was found beside the others.
Refusal Claiming::refuse_for_own(ClaimLine const& line, Choice const& beside) {
    Refusal refusal = refusal_of(beside);
    if (refusal.code != RefusalCode::sold_out) return refusal;
    if (only_the_sum_decides(line)) {
        refusal.number += own_places_for(line);
    } else {
        refusal.code = RefusalCode::best_available_not_found;
        refusal.number = largest_beside(line, refusal.number);
    }
    return refusal;
}

/// How many of so many places that are left the line could have side by side.
std::uint32_t Claiming::largest_beside(ClaimLine const& line, std::uint32_t left) {
    if (left < 2 || line.kind != ClaimLine::Kind::best) return left;
    ClaimLine side_by_side = line;
    side_by_side.best.quantity = left;
    side_by_side.best.together = true;
    side_by_side.best.accessible = std::min(line.best.accessible, left);
    Choice const choice = search(side_by_side, excluded());
    return choice.kind == Choice::Kind::none_together ? choice.number : left;
}

/// How many of the places chosen so far the line could have had.
std::uint32_t Claiming::own_places_for(ClaimLine const& line) const {
    inventory::Geometry const& geometry = sale_.inventory().geometry;
    BestWish const& best = line.best;
    inventory::Wish wish;
    wish.accessible = best.accessible;
    wish.sections = best.sections;
    wish.categories = best.categories;
    wish.zone = best.zone;
    auto const could_have = [&](SeatIndex place) {
        std::uint32_t const section = geometry.section_of(place.value());
        if (line.kind == ClaimLine::Kind::general) return section == line.section.value();
        if (place.value() >= geometry.labelled_count())
            return std::ranges::any_of(geometry.generals(), [&](auto const& general) {
                return general.section == section && inventory::general_in_filter(general, wish);
            });
        return inventory::row_allowed(geometry.rows()[geometry.row_of(place.value())], wish) &&
               inventory::seat_allowed(geometry, place.value(), wish) &&
               (best.accessible > 0 || !geometry.accessible(place.value()));
    };
    return static_cast<std::uint32_t>(std::ranges::count_if(places_, could_have));
}

}  // namespace holdfast::engine
