// Best block: which neighbouring seats a best-available request would get, judged by the hints.
//
// Purpose: API.md section 3, rules (1) and (2). Candidates are N free seats that follow each other
//   in one row, all within the filter, with exactly the wanted number of accessible ones. The least
//   (leaves a single free seat beside it, sum of distances to the focal point, place order) wins.
// Thread safety: any thread; writes only notes on rows. The claim decides.
// Cost: rows that may have free seats, in order of their nearest seat, until no nearer row can win:
//   a few loads for a row that by its notes (row_notes.hpp) cannot win either, a few word
//   operations for each other one. No allocation for rows of up to 512 seats.
#pragma once

#include <holdfast/inventory/free_map.hpp>
#include <holdfast/inventory/places.hpp>
#include <holdfast/inventory/row_windows.hpp>
#include <holdfast/inventory/wish.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::inventory {

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
        if constexpr (has_notes) {
            if (wish_.accessible == 0 && wish_.quantity <= Free::Notes::quantities)
                return find_with_notes();
        }
        for (std::uint32_t word = 0; word < free_.open_row_words(); ++word) {
            for (std::uint64_t bits = free_.open_rows(word); bits != 0; bits &= bits - 1) {
                std::uint32_t const rank = rank_in(word, bits);
                if (cannot_win(geometry_.nearest_of(rank))) return best_;
                visit(rank);
            }
        }
        return best_;
    }

private:
    static constexpr bool has_notes = requires(Free& free) { free.notes(); };

    /// First the rows where a block may leave no single seat; if there is none, the others.
    [[nodiscard]] std::optional<Block> find_with_notes() {
        std::uint32_t const quantity = wish_.quantity;
        auto const& notes = free_.notes();
        // What is left out of a row changes which of its seats are single.
        heeds_singles_ = wish_.prevent_orphans && wish_.excluded.empty();
        if (visit_most_promising()) return best_;
        for (std::uint32_t word = 0; word < notes.words(); ++word) {
            std::uint64_t bits = notes.open(word) & ~notes.none(word, quantity);
            if (heeds_singles_) bits &= ~notes.singles(word, quantity);
            for (; bits != 0; bits &= bits - 1) {
                std::uint32_t const rank = rank_in(word, bits);
                if (cannot_win(geometry_.nearest_of(rank))) return best_;
                std::uint32_t const frees = notes.frees(rank);
                if (!cannot_win(notes.bound(rank, quantity, frees))) visit(rank, frees);
            }
        }
        if (!heeds_singles_ || (best_ && !best_->orphans)) return best_;
        for (std::uint32_t word = 0; word < notes.words(); ++word) {
            std::uint64_t bits = notes.open(word) & notes.singles(word, quantity);
            for (; bits != 0; bits &= bits - 1) {
                std::uint32_t const rank = rank_in(word, bits);
                if (costs_more(geometry_.nearest_of(rank))) return best_;
                std::uint32_t const frees = notes.frees(rank);
                if (!costs_more(notes.bound(rank, quantity, frees))) visit(rank, frees);
            }
        }
        return best_;
    }
    /// Visits the few rows with the least bounds, in that order. True: no other row can win. So a
    /// search mostly looks at two rows: the one from which the last claim took, whose bound is out
    /// of date, and the best one.
    [[nodiscard]] bool visit_most_promising() {
        struct Promise {
            std::uint32_t distance{~0U}, rank{}, frees{};
        };
        std::array<Promise, 4> least;
        std::uint32_t const quantity = wish_.quantity;
        auto const& notes = free_.notes();
        bool all_seen = false;
        for (std::uint32_t word = 0; word < notes.words() && !all_seen; ++word) {
            std::uint64_t bits = notes.open(word) & ~notes.none(word, quantity);
            if (heeds_singles_) bits &= ~notes.singles(word, quantity);
            for (; bits != 0; bits &= bits - 1) {
                std::uint32_t const rank = rank_in(word, bits);
                std::uint32_t const nearest = geometry_.nearest_of(rank);
                all_seen = nearest > least.back().distance;
                if (all_seen) break;
                std::uint32_t const frees = notes.frees(rank);
                std::uint32_t const bound = std::max(nearest, notes.bound(rank, quantity, frees));
                if (bound >= least.back().distance) continue;
                std::size_t at = least.size() - 1;
                for (; at > 0 && bound < least[at - 1].distance; --at) least[at] = least[at - 1];
                least[at] = {bound, rank, frees};
            }
        }
        for (Promise const& row : least) {
            if (row.distance == ~0U || cannot_win(row.distance)) return best_ && !best_->orphans;
            visit(row.rank, row.frees);
        }
        return cannot_win(least.back().distance);
    }
    [[nodiscard]] static std::uint32_t rank_in(std::uint32_t word, std::uint64_t bits) noexcept {
        return 64 * word + static_cast<std::uint32_t>(std::countr_zero(bits));
    }

    /// Any window whose seats are on average this far away costs more than what was found.
    [[nodiscard]] bool costs_more(std::uint32_t distance) const noexcept {
        return best_ && std::uint64_t{distance} * wish_.quantity > best_->cost;
    }
    [[nodiscard]] bool cannot_win(std::uint32_t distance) const noexcept {
        return costs_more(distance) && !best_->orphans;
    }

    /// `search` with what suits the row's length.
    void visit(std::uint32_t rank) {
        RowGeometry const& row = geometry_.rows()[geometry_.rows_by_distance().data()[rank]];
        if (row.count < wish_.quantity || !row_allowed(row, wish_)) return;
        if (row.count <= 64) return search(RowWindows<1>(geometry_, row), row);
        if (row.count <= 128) return search(RowWindows<2>(geometry_, row), row);
        search(RowWindows<0>(geometry_, row), row);
    }
    template <class Windows>
    void search(Windows windows, RowGeometry const& row) {
        if (!load(windows, row)) return;
        if (row.bending) {
            auto const near = windows.free_around(row.closest);
            auto const distance = [this](std::uint32_t seat) {
                return seat != RowWindowsFacts::no_seat ? geometry_.distance(seat) : ~0U;
            };
            if (cannot_win(std::min(distance(near.left), distance(near.right)))) return;
        }
        leave_out(windows, geometry_, row, wish_);
        windows.find(wish_.quantity, wish_.accessible);
        static_cast<void>(consider_found(windows, row));
    }
    /// The same with notes; `frees`: of the row, read before.
    void visit(std::uint32_t rank, std::uint32_t frees)
        requires has_notes
    {
        RowGeometry const& row = geometry_.rows()[geometry_.rows_by_distance().data()[rank]];
        if (!row_allowed(row, wish_)) return;
        if (row.count < wish_.quantity) return free_.notes().mark_none(rank, wish_.quantity);
        if (row.count <= 64) return search(RowWindows<1>(geometry_, row), row, frees);
        if (row.count <= 128) return search(RowWindows<2>(geometry_, row), row, frees);
        search(RowWindows<0>(geometry_, row), row, frees);
    }
    template <class Windows>
    void search(Windows windows, RowGeometry const& row, std::uint32_t frees) {
        if (!load(windows, row)) return;
        bool const whole = !leave_out(windows, geometry_, row, wish_);
        windows.find(wish_.quantity, 0);
        auto const found = consider_found(windows, row);
        if (!whole) return;  // notes are of rows without a filter
        free_.notes().note_bound(row.rank, wish_.quantity, frees, found.cost);
        if (found.none) {
            note_none<Windows>(row);
        } else if (found.orphans && heeds_singles_ && row.category) {
            note_single(row, windows);
        }
    }
    /// False: nothing is free.
    template <class Windows>
    [[nodiscard]] bool load(Windows& windows, RowGeometry const& row) {
        windows.load_free([this](std::uint32_t word) { return free_.hint_word(word); });
        if (!windows.none_free()) return true;
        free_.close_row(row);
        return false;
    }
    template <class Windows>
    [[gnu::noinline]] void note_none(RowGeometry const& row) {
        free_.notes().mark_none(row.rank, wish_.quantity);
        Windows again(geometry_, row);
        again.load_free([this](std::uint32_t word) { return free_.hint_word(word); });
        again.find(wish_.quantity, 0);
        if (!again.none_found()) free_.notes().forget(row.rank, Free::Notes::less);
    }
    template <class Windows>
    [[gnu::noinline]] void note_single(RowGeometry const& row, Windows const& seen) {
        free_.notes().mark_single(row.rank, wish_.quantity);
        Windows again(geometry_, row);
        again.load_free([this](std::uint32_t word) { return free_.hint_word_in_order(word); });
        if (!again.same_free(seen)) free_.notes().forget(row.rank, Free::Notes::single);
    }

    /// Of the windows that were found in a row.
    struct Found {
        bool none{};
        bool orphans{};      // all of them leave a single seat
        std::uint64_t cost;  // no window costs less
    };
    template <class Windows>
    Found consider_found(Windows& windows, RowGeometry const& row) {
        if (windows.none_found()) return {true, false, no_cost};
        if (!row.bending) {
            Found found{false, false, no_cost};
            auto const least = [&](std::uint32_t first) {
                found.cost = std::min(found.cost, cost_of(first));
            };
            windows.for_each_found(least);
            found.orphans = prefer(windows) == Leaving::all;
            windows.for_each_found(
                [&](std::uint32_t first) { consider({found.orphans, cost_of(first), first}); });
            return found;
        }
        std::uint32_t const start = best_start(row);
        auto near = nearest_found(windows, start);
        std::uint64_t const cost = near.cost;
        Leaving const leaving = prefer(windows);
        if (leaving == Leaving::some) near = nearest_found(windows, start);
        near.orphans = leaving == Leaving::all;
        consider(near);
        return {false, near.orphans, cost};
    }
    using Leaving = RowWindowsFacts::Leaving;
    [[nodiscard]] Leaving prefer(auto& windows) const {
        return wish_.prevent_orphans ? windows.prefer_without_orphans() : Leaving::none;
    }
    /// The cheaper one of the nearest windows on either side of the best start.
    [[nodiscard]] Block nearest_found(auto const& windows, std::uint32_t start) const {
        auto const near = windows.found_around(start);
        constexpr auto no_seat = RowWindowsFacts::no_seat;
        std::uint64_t const left = near.left != no_seat ? cost_of(near.left) : no_cost;
        std::uint64_t const right = near.right != no_seat ? cost_of(near.right) : no_cost;
        return {false, std::min(left, right), right < left ? near.right : near.left};
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

    static constexpr std::uint64_t no_cost = ~std::uint64_t{0} >> 16;  // more than any window's

    Free& free_;
    Geometry const& geometry_;
    Wish const& wish_;
    std::optional<Block> best_;
    bool heeds_singles_{};
};

}  // namespace holdfast::inventory
