// Wish picker: which free-looking places a wish gets, by the rules in their order.
//
// Purpose: API.md section 3: rules (1) and (2) (best_block), (3) and (4) (split_blocks), (5)
//   (whole_tables), (6) (general_places); and the places that it is about. `Free` says which places
//   look free: Places (hints) or a FreeMap (a scan).
// Thread safety: any thread. The claim decides.
// Cost: that of the rule that finds something; else of all of them.
#pragma once

#include <holdfast/inventory/best_block.hpp>
#include <holdfast/inventory/general_places.hpp>
#include <holdfast/inventory/longest_block.hpp>
#include <holdfast/inventory/split_blocks.hpp>
#include <holdfast/inventory/whole_tables.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::inventory {

template <class A>
class WishPicker {
public:
    explicit WishPicker(Geometry const& geometry) : geometry_(geometry), generals_(geometry) {}

    /// Appends the best places for the wish to `chosen`; false: there are none.
    template <class Free>
    [[nodiscard]] bool pick(Free& free, Wish const& wish, std::vector<SeatIndex>& chosen) {
        auto const block =
            wish.pass_over == 0 ? BestBlock(free, wish).find() : find_after(free, wish);
        for (std::uint32_t i = 0; block && i < wish.quantity; ++i)
            chosen.push_back(SeatIndex{block->first + i});
        return block.has_value() || (!wish.together && pick_apart(free, wish, chosen));
    }
    /// Any places of one general-admission section.
    template <class Free>
    [[nodiscard]] bool pick_general(Free const& free, typename GeneralPlaces<A>::Need const& need,
                                    std::span<SeatIndex const> excluded,
                                    std::vector<SeatIndex>& chosen) {
        return generals_.pick(free, need, excluded, chosen);
    }
    /// The most places that the wish could get as one block, or of one general section.
    template <class Free>
    [[nodiscard]] std::uint32_t largest(Free& free, Wish const& wish) const {
        return std::max(LongestBlock(free, wish).find(), generals_.largest(free, wish));
    }

    /// Every place within the wish's filter, free or not; stops when `visit` says false.
    template <class Visit>
    void visit_places(Wish const& wish, Visit visit) const {
        for (RowGeometry const& row : geometry_.rows()) {
            if (!row_allowed(row, wish)) continue;
            for (std::uint32_t seat = row.first; seat < row.first + row.count; ++seat) {
                bool const fits = wish.accessible > 0 || !geometry_.accessible(seat);
                if (fits && seat_allowed(geometry_, seat, wish) && !visit(seat)) return;
            }
        }
        for (GeneralGeometry const& general : geometry_.generals()) {
            if (!general_in_filter(general, wish)) continue;
            std::uint32_t const first = geometry_.section_first(general.section);
            std::uint32_t const end = first + geometry_.section_places(general.section);
            for (std::uint32_t place = first; place < end; ++place) {
                if (!std::ranges::binary_search(wish.excluded, SeatIndex{place}) && !visit(place))
                    return;
            }
        }
    }
    template <class Visit>
    void visit_general(std::uint32_t section, std::span<SeatIndex const> excluded,
                       Visit visit) const {
        std::uint32_t const first = geometry_.section_first(section);
        std::uint32_t const end = first + geometry_.section_places(section);
        for (std::uint32_t place = first; place < end; ++place) {
            if (!std::ranges::binary_search(excluded, SeatIndex{place}) && !visit(place)) return;
        }
    }

private:
    /// The block after the wish's `pass_over` best ones, none of which shares a seat with another;
    /// if there are not so many, it is counted on from the best.
    template <class Free>
    [[nodiscard]] std::optional<Block> find_after(Free& free, Wish wish) {
        std::vector<SeatIndex> excluded(wish.excluded.begin(), wish.excluded.end());
        std::vector<Block> found;
        for (std::uint32_t i = 0; i <= wish.pass_over; ++i) {
            wish.excluded = excluded;
            auto const next = BestBlock(free, wish).find();
            if (!next) break;
            found.push_back(*next);
            for (std::uint32_t seat = 0; seat < wish.quantity; ++seat)
                excluded.push_back(SeatIndex{next->first + seat});
            std::ranges::sort(excluded);
        }
        if (found.empty()) return std::nullopt;
        return found[wish.pass_over % found.size()];
    }

    /// Rules (3) to (6), for a wish that no row can take together.
    template <class Free>
    [[gnu::noinline]] bool pick_apart(Free& free, Wish const& wish,
                                      std::vector<SeatIndex>& chosen) {
        thread_local SplitScratch<Free> scratch;
        return SplitBlocks<Free>(free, wish, scratch).find(chosen) ||
               find_whole_table(free, wish, chosen) ||
               generals_.pick_one_section(free, wish, chosen);
    }

    Geometry const& geometry_;
    GeneralPlaces<A> generals_;
};

}  // namespace holdfast::inventory
