// Best block: which neighbouring seats a best-available request would get, judged by the hints.
//
// Purpose: API.md section 3, rules (1) and (2). Candidates are N free seats that follow each other
//   in one row, all within the filter, with exactly the wanted number of accessible ones. The least
//   (leaves a single free seat beside it, sum of distances to the focal point, place order) wins.
// Thread safety: reads only; any thread. The claim decides.
// Cost: rows that may have free seats, in order of their nearest seat, until no nearer row can win;
//   a few word operations for each. No allocation.
#pragma once

#include <holdfast/inventory/places.hpp>
#include <holdfast/inventory/row_windows.hpp>
#include <holdfast/inventory/wish.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::inventory {

/// The places that a scan of the truth saw free, in the shape of hints.
class FreeMap {
public:
    explicit FreeMap(Geometry const& geometry)
        : geometry_(geometry),
          words_((geometry.place_count() + 63) / 64),
          open_rows_((geometry.rows().size() + 63) / 64) {}
    void add(std::uint32_t place) {
        words_[place / 64] |= std::uint64_t{1} << (place % 64);
        if (place >= geometry_.labelled_count()) return;
        std::uint32_t const rank = geometry_.rows()[geometry_.row_of(place)].rank;
        open_rows_[rank / 64] |= std::uint64_t{1} << (rank % 64);
    }
    [[nodiscard]] Geometry const& geometry() const noexcept { return geometry_; }
    [[nodiscard]] std::uint64_t hint_word(std::uint32_t word) const noexcept {
        return words_[word];
    }
    [[nodiscard]] bool hinted(std::uint32_t place) const noexcept {
        return (words_[place / 64] >> (place % 64) & 1U) != 0;
    }
    [[nodiscard]] std::uint64_t open_rows(std::uint32_t word) const noexcept {
        return open_rows_[word];
    }
    [[nodiscard]] std::uint32_t open_row_words() const noexcept {
        return static_cast<std::uint32_t>(open_rows_.size());
    }
    void close_row(RowGeometry const&) noexcept {}

private:
    Geometry const& geometry_;
    std::vector<std::uint64_t> words_;
    std::vector<std::uint64_t> open_rows_;
};

/// A block that could be taken; the least is the best.
struct Block {
    bool orphans{};
    std::uint64_t cost{};
    std::uint32_t first{};
    friend auto operator<=>(Block const&, Block const&) = default;
};

/// `Free` says which places look free: Places (hints) or a FreeMap (a scan).
template <class Free>
class BestBlock {
public:
    BestBlock(Free& free, Wish const& wish)
        : free_(free), geometry_(free.geometry()), wish_(wish) {}

    [[nodiscard]] std::optional<Block> find() {
        for (std::uint32_t word = 0; word < free_.open_row_words(); ++word) {
            for (std::uint64_t bits = free_.open_rows(word); bits != 0; bits &= bits - 1) {
                std::uint32_t const rank =
                    64 * word + static_cast<std::uint32_t>(std::countr_zero(bits));
                RowGeometry const& row = geometry_.rows()[geometry_.rows_by_distance()[rank]];
                if (cannot_win(row.nearest)) return best_;
                if (row.count >= wish_.quantity && row_allowed(row, wish_)) search(row);
            }
        }
        return best_;
    }

    /// Length of the longest block of seats the wish could take, whatever its quantity.
    [[nodiscard]] std::uint32_t largest() {
        std::uint32_t most = 0;
        for (RowGeometry const& row : geometry_.rows()) {
            if (!row_allowed(row, wish_)) continue;
            std::uint32_t length = 0;
            for (std::uint32_t seat = row.first; seat < row.first + row.count; ++seat) {
                bool const counts = free_.hinted(seat) && seat_allowed(geometry_, seat, wish_) &&
                                    (wish_.accessible > 0 || !geometry_.accessible(seat));
                if (!counts)
                    length = 0;
                else
                    length = geometry_.aisle_before(seat) ? 1 : length + 1;
                most = std::max(most, length);
            }
        }
        return most;
    }

private:
    /// No window with a seat this near or farther can beat what was found.
    [[nodiscard]] bool cannot_win(std::uint32_t nearest) const noexcept {
        return best_ && !best_->orphans && std::uint64_t{nearest} * wish_.quantity > best_->cost;
    }

    void search(RowGeometry const& row) {
        RowWindows windows(geometry_, row);
        windows.load_free([this](std::uint32_t word) { return free_.hint_word(word); });
        if (windows.none_free()) {
            free_.close_row(row);
            return;
        }
        if (row.bending) {
            auto const near = windows.free_around(row.closest);
            std::uint32_t const left = near.left ? geometry_.distance(*near.left) : ~0U;
            std::uint32_t const right = near.right ? geometry_.distance(*near.right) : ~0U;
            if (cannot_win(std::min(left, right))) return;
        }
        leave_out(windows, row);
        windows.find(wish_.quantity, wish_.accessible);
        if (windows.none_found()) return;
        bool const orphans = wish_.prevent_orphans && windows.prefer_without_orphans();
        if (!row.bending) {
            windows.for_each_found(
                [&](std::uint32_t first) { consider({orphans, cost_of(first), first}); });
            return;
        }
        auto const near = windows.found_around(best_start(row));
        for (auto const& first : {near.left, near.right})
            if (first) consider({orphans, cost_of(*first), *first});
    }

    /// Takes out what the wish does not allow in an allowed row.
    void leave_out(RowWindows& windows, RowGeometry const& row) {
        std::uint32_t const end = row.first + row.count;
        if (!wish_.categories.empty() && !row.category) {
            for (std::uint32_t seat = row.first; seat < end; ++seat)
                if (!seat_allowed(geometry_, seat, wish_)) windows.remove(seat);
            return;
        }
        auto seat = std::ranges::lower_bound(wish_.excluded, SeatIndex{row.first});
        for (; seat != wish_.excluded.end() && seat->value() < end; ++seat)
            windows.remove(seat->value());
    }

    [[nodiscard]] std::uint64_t cost_of(std::uint32_t first) const noexcept {
        std::uint64_t cost = 0;
        for (std::uint32_t i = 0; i < wish_.quantity; ++i) cost += geometry_.distance(first + i);
        return cost;
    }

    /// The first of the cheapest windows of a convex row, free or not. The costs have one valley,
    /// so of the windows there are the nearest one on either side is the best; on its floor, where
    /// costs are equal, the left one comes first as it should.
    [[nodiscard]] std::uint32_t best_start(RowGeometry const& row) const noexcept {
        std::uint32_t const quantity = wish_.quantity;
        std::uint32_t const last = row.first + row.count - quantity;
        std::uint32_t const middle = row.closest - std::min(row.closest - row.first, quantity / 2);
        std::uint32_t start = std::min(middle, last);
        while (start < last && geometry_.distance(start + quantity) < geometry_.distance(start))
            ++start;
        while (start > row.first &&
               geometry_.distance(start - 1) <= geometry_.distance(start - 1 + quantity))
            --start;
        return start;
    }

    void consider(Block const& block) {
        if (!best_ || block < *best_) best_ = block;
    }

    Free& free_;
    Geometry const& geometry_;
    Wish const& wish_;
    std::optional<Block> best_;
};

}  // namespace holdfast::inventory
