// What a hold looks like from outside.
//
// Purpose: every verb on holds answers with it. Thread safety: any thread. Cost: a few steps a
//   place. Here and not in a source file: a claim copies the answer at once, and would read back in
//   larger pieces what a call had just stored in small ones, which a processor has to wait for.
#pragma once

#include "engine/engine_core.hpp"

#include <algorithm>
#include <span>

namespace holdfast::engine {

[[nodiscard]] inline std::int64_t total_price(Sale const& sale, std::span<SeatIndex const> seats) {
    Layout const& layout = sale.spec().layout;
    inventory::Geometry const& geometry = sale.inventory().geometry;
    std::span<Category const> const categories = layout.categories();
    std::uint32_t const labelled = geometry.labelled_count();
    std::int64_t total = 0;
    for (SeatIndex const seat : seats) {
        // Of a labelled seat the category by the inventory's list, which lies closer together.
        total += seat.value() < labelled
                     ? categories.data()[geometry.category_of(seat.value())].price
                     : layout.price_of(seat);
    }
    return total;
}

/// All are neighbours in one row, or places of one general section.
[[nodiscard]] inline bool sit_together(inventory::Geometry const& geometry,
                                       std::span<SeatIndex const> seats) {
    if (seats.empty()) return true;
    if (seats.front().value() >= geometry.labelled_count())
        return geometry.section_of(seats.front().value()) ==
               geometry.section_of(seats.back().value());
    inventory::RowGeometry const& row = geometry.rows()[geometry.row_of(seats.front().value())];
    for (std::size_t i = 1; i < seats.size(); ++i) {
        std::uint32_t const seat = seats[i].value();
        if (seat != seats[i - 1].value() + 1 || seat >= row.first + row.count) return false;
        if (geometry.aisle_before(seat)) return false;
    }
    return true;
}

/// `look` is of `hold`, `seats` its places. The LSN stays.
inline void view_into(HoldView& view, Sale const& sale, HoldName const& hold,
                      inventory::HoldLook const& look, std::span<SeatIndex const> seats) {
    Holder const holder(look.holder);
    view.name = hold;
    view.state = look.word.state() == inventory::State::sold ? HoldState::confirmed
                 : holder.is_block()                         ? HoldState::blocked
                                                             : HoldState::held;
    view.block = holder.kind() == HolderKind::staff_not_for_sale ? BlockKind::not_for_sale
                                                                 : BlockKind::blocked;
    view.created_at = look.asked;
    view.expires_at = look.expires_at;
    std::uint32_t const allowed = holder.is_block() ? 0 : sale.spec().policy.max_extensions;
    view.extensions_left = allowed - std::min(allowed, holder.extensions());
    view.order = look.order;
    view.together = sit_together(sale.inventory().geometry, seats);
    view.total = total_price(sale, seats);
}
[[nodiscard]] inline HoldView view_of(Sale const& sale, HoldName const& hold,
                                      inventory::HoldLook const& look,
                                      std::span<SeatIndex const> seats) {
    HoldView view;
    view_into(view, sale, hold, look, seats);
    return view;
}

}  // namespace holdfast::engine
