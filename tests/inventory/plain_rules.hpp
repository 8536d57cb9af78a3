// The rules of best available, read plainly: every set of seats is tried. For small houses.
#pragma once

#include "tests/inventory/venue.hpp"

#include <functional>
#include <optional>
#include <set>

namespace holdfast::inventory::test {

class PlainRules {
public:
    using Seats = std::vector<std::uint32_t>;

    PlainRules(Venue& venue, Wish const& wish)
        : venue_(venue), geometry_(venue.geometry), wish_(wish) {
        for (std::uint32_t seat = 0; seat < geometry_.labelled_count(); ++seat) {
            RowGeometry const& row = geometry_.rows()[geometry_.row_of(seat)];
            usable_.push_back(row_allowed(row, wish) && seat_allowed(geometry_, seat, wish) &&
                              venue.is_free(seat));
        }
    }

    /// Places that are free within the filter and of a kind that the wish may take.
    [[nodiscard]] std::uint32_t free_seats() const {
        std::uint32_t count = 0;
        for (std::uint32_t seat = 0; seat < usable_.size(); ++seat) count += takes(seat) ? 1 : 0;
        return count;
    }
    [[nodiscard]] std::vector<Seats> free_generals() {
        std::vector<Seats> sections;
        for (GeneralGeometry const& general : geometry_.generals())
            if (general_allowed(general, wish_)) sections.push_back(free_of(general));
        return sections;
    }
    /// Of the sections that a wish for places apart could take.
    [[nodiscard]] std::uint32_t free_general_places() {
        std::uint32_t count = 0;
        for (GeneralGeometry const& general : geometry_.generals())
            if (general_in_filter(general, wish_))
                count += static_cast<std::uint32_t>(free_of(general).size());
        return count;
    }

    /// What the rules (1) and (2) say of these seats, or (3) and (4) of any set; nothing if it may
    /// not be.
    [[nodiscard]] std::optional<SplitKey> judge(Seats const& seats) const {
        std::uint32_t accessible = 0;
        SplitKey key;
        std::set<std::uint32_t> sections, rows;
        std::set<std::uint32_t> const taken(seats.begin(), seats.end());
        for (std::uint32_t const seat : seats) {
            if (!takes(seat) || price(seat) != price(seats.front())) return std::nullopt;
            bool const apart = !taken.contains(seat - 1) || geometry_.aisle_before(seat);
            if (geometry_.joined(seat) && apart) return std::nullopt;
            if (geometry_.joined(seat + 1) && !taken.contains(seat + 1)) return std::nullopt;
            accessible += geometry_.accessible(seat) ? 1 : 0;
            key.cost += geometry_.distance(seat);
            rows.insert(geometry_.row_of(seat));
            sections.insert(geometry_.section_of(seat));
            bool const left = linked(seat) && taken.contains(seat - 1);
            bool const right = linked(seat + 1) && taken.contains(seat + 1);
            if (!left) key.seating += SplitKey::block;
            if (!left && !right) key.seating += SplitKey::alone;
        }
        if (accessible != wish_.accessible) return std::nullopt;
        if (sections.size() > 1) key.seating += SplitKey::several_sections;
        for (std::uint32_t const row : rows) {
            bool const touches = row > 0 && rows.contains(row - 1) &&
                                 geometry_.rows()[row - 1].section == geometry_.rows()[row].section;
            if (!touches) key.seating += SplitKey::cluster;
        }
        if (wish_.prevent_orphans) key.seating += orphans(taken) * SplitKey::orphan;
        return key;
    }

    /// The best of all sets of seats.
    [[nodiscard]] std::optional<SplitKey> best_split() const {
        std::optional<SplitKey> best;
        Seats seats;
        std::function<void(std::uint32_t)> const extend = [&](std::uint32_t from) {
            if (seats.size() == wish_.quantity) {
                auto const key = judge(seats);
                if (key && (!best || *key < *best)) best = key;
                return;
            }
            for (std::uint32_t seat = from; seat < usable_.size(); ++seat) {
                if (!takes(seat)) continue;
                seats.push_back(seat);
                extend(seat + 1);
                seats.pop_back();
            }
        };
        extend(0);
        return best;
    }
    /// Whether a row has a block for the wish, whatever its prices.
    [[nodiscard]] bool has_block() const {
        for (std::uint32_t seat = 0; seat < usable_.size(); ++seat) {
            std::uint32_t accessible = 0;
            std::uint32_t end = seat;
            for (; end < seat + wish_.quantity && end < usable_.size(); ++end) {
                if (!takes(end) || (end > seat && !linked(end))) break;
                accessible += geometry_.accessible(end) ? 1 : 0;
            }
            bool const whole = !geometry_.joined(seat) && !geometry_.joined(end);
            if (end == seat + wish_.quantity && whole && accessible == wish_.accessible)
                return true;
        }
        return false;
    }
    /// The most that the wish could get side by side, or in one general section.
    [[nodiscard]] std::uint32_t largest() {
        std::size_t most = 0;
        for (std::uint32_t first = 0; first < usable_.size(); ++first) {
            std::uint32_t accessible = 0;
            for (std::uint32_t seat = first; seat < usable_.size() && takes(seat); ++seat) {
                if (geometry_.joined(first) || (seat > first && !linked(seat))) break;
                accessible += geometry_.accessible(seat) ? 1 : 0;
                bool const fits = !geometry_.joined(seat + 1) && accessible == wish_.accessible;
                if (fits) most = std::max<std::size_t>(most, seat - first + 1);
            }
        }
        for (Seats const& places : free_generals()) most = std::max(most, places.size());
        return static_cast<std::uint32_t>(most);
    }
    /// The seats of the best table by rule (5); empty: none.
    [[nodiscard]] Seats best_table() const {
        Seats best;
        std::uint64_t best_cost = 0;
        for (std::uint32_t first = 0; first < usable_.size(); ++first) {
            if (geometry_.joined(first)) continue;
            Seats table;
            std::uint64_t cost = 0;
            std::uint32_t accessible = 0;
            bool good = true;
            for (std::uint32_t seat = first; seat == first || geometry_.joined(seat); ++seat) {
                table.push_back(seat);
                cost += geometry_.distance(seat);
                accessible += geometry_.accessible(seat) ? 1 : 0;
                good = good && usable_[seat];
            }
            good = good && table.size() > wish_.quantity && table.size() <= wish_.table_max &&
                   accessible == wish_.accessible;
            bool const better = best.empty() || table.size() < best.size() ||
                                (table.size() == best.size() && cost < best_cost);
            if (!good || !better) continue;
            best = table;
            best_cost = cost;
        }
        return best;
    }

private:
    [[nodiscard]] Seats free_of(GeneralGeometry const& general) {
        Seats places;
        std::uint32_t const first = geometry_.section_first(general.section);
        for (std::uint32_t i = 0; i < geometry_.section_places(general.section); ++i) {
            SeatIndex const place{first + i};
            if (venue_.is_free(first + i) && !std::ranges::binary_search(wish_.excluded, place))
                places.push_back(first + i);
        }
        return places;
    }
    [[nodiscard]] bool takes(std::uint32_t seat) const {
        return usable_[seat] && (wish_.accessible > 0 || !geometry_.accessible(seat));
    }
    [[nodiscard]] std::uint32_t price(std::uint32_t seat) const {
        return geometry_.price_class_of(geometry_.category_of(seat));
    }
    /// Both are usable at one price, and neighbours.
    [[nodiscard]] bool linked(std::uint32_t seat) const {
        return seat > 0 && seat < usable_.size() && usable_[seat] && usable_[seat - 1] &&
               geometry_.row_of(seat) == geometry_.row_of(seat - 1) &&
               !geometry_.aisle_before(seat);
    }
    [[nodiscard]] std::uint64_t orphans(std::set<std::uint32_t> const& taken) const {
        std::uint32_t const of_price = price(*taken.begin());
        auto const next_to = [&](std::uint32_t seat, std::uint32_t other) {
            return linked(std::max(seat, other)) && price(seat) == of_price &&
                   price(other) == of_price;
        };
        std::uint64_t count = 0;
        for (std::uint32_t seat = 0; seat < usable_.size(); ++seat) {
            if (!usable_[seat] || taken.contains(seat)) continue;
            bool const has_left = seat > 0 && next_to(seat, seat - 1);
            bool const has_right = seat + 1 < usable_.size() && next_to(seat, seat + 1);
            bool const left = has_left && taken.contains(seat - 1);
            bool const right = has_right && taken.contains(seat + 1);
            bool const single = (!has_left || left) && (!has_right || right);
            if (single && (left || right)) ++count;
        }
        return count;
    }

    Venue& venue_;
    Geometry const& geometry_;
    Wish const& wish_;
    std::vector<bool> usable_;
};

}  // namespace holdfast::inventory::test
