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

/// Says by what the line is refused: by a cool-down, by the places of other lines, or by others.
/// Nothing: it is not, after all.
std::optional<Refusal> Claiming::refuse_line(ClaimLine const& line, Choice choice) {
    if (!gate_.to_leave_out().empty()) {
        choice = search(line, places_);
        if (choice.kind == Choice::Kind::chosen) {
            if (auto refusal = gate_.soonest(scratch_.chosen)) return refusal;
            take(line);
            return std::nullopt;
        }
    }
    if (places_.empty() || choice.kind == Choice::Kind::busy) return refusal_of(choice);
    Choice const alone = search(line, {});
    if (alone.kind != Choice::Kind::chosen) return refusal_of(alone);
    if (moves_to_front(line)) return std::nullopt;
    return refuse_for_own(line, choice);
}

/// The line could be served alone. Sold out all the same if those of one filter, and what is asked
/// for by name, want more of it than there is; `beside`: what was found beside the others.
Refusal Claiming::refuse_for_own(ClaimLine const& line, Choice const& beside) const {
    bool const one_filter = line.kind == ClaimLine::Kind::general ||
                            std::ranges::all_of(scratch_.best_lines, [&](std::uint8_t other) {
                                return have_one_filter(command_.lines[other].best, line.best);
                            });
    Refusal refusal = refusal_of(beside);
    if (refusal.code != RefusalCode::sold_out) return refusal;
    if (one_filter)
        refusal.number += own_places_for(line);
    else
        refusal.code = RefusalCode::best_available_not_found;
    return refusal;
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
