// Split blocks: seats for a party that no row can take together.
//
// Purpose: API.md section 3, rules (3) and (4). Of all ways to seat N with exactly the wanted
//   number of accessible seats, all at one price, the one with the least: people who sit alone;
//   sections (one before several); blocks; clusters of blocks, where blocks in one row or in
//   neighbouring rows of a section are one cluster; single free seats left beside a block; sum of
//   distances. Equal ones: the same choice each time.
// Thread safety: reads only, and a scratch of the calling thread. The claim decides.
// Invariants: people alone, sections and blocks are the least there are. The rest is the least
//   among the 64 nearest rows with usable seats of a section (or of a price, for
//   several sections), or among more rows where the nearest cannot reach those three.
// Cost: one look at each open row; then for the sections that can be the best, rows x seats x N,
//   once more with four times the rows while that is not enough. Only asked when nothing was found
//   together. Allocates until the scratch has grown.
// Bounds: up to `counts_max` combinations of seats and accessible seats; in one slice up to
//   `cells_max` rows x combinations, and up to `steps_max` of these x what one row may give, of
//   rows with usable seats, the nearest: 23,831 rows for a party of ten; for one of 500, 83 rows of
//   a hundred seats. Where no split is found within that, and in haste, it is made of the longest
//   blocks (greedy_split.hpp).
#pragma once

#include <holdfast/inventory/greedy_split.hpp>
#include <holdfast/inventory/split_slices.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace holdfast::inventory {

/// Memory of splits, kept from one to the next.
template <class Free>
struct SplitScratch {
    /// How one row was used on the way to a count.
    struct Step {
        std::uint16_t seats{}, accessible{};
        bool before{};  // the row before was used, too
    };
    using Planes = std::array<std::vector<SplitKey>, 2>;  // the last row was not used, was used

    SplitSlices<Free> slices;
    std::vector<std::uint32_t> part;  // pieces looked at now
    Planes now, next;
    std::vector<Step> steps;
    std::vector<SeatIndex> best;
    RowSplits row;
};

template <class Free>
class SplitBlocks {
public:
    static constexpr std::size_t counts_max = 1'024;
    static constexpr std::size_t cells_max = std::size_t{1} << 18;  // rows x combinations
    static constexpr std::size_t steps_max = std::size_t{1} << 22;  // x counts of one row

    SplitBlocks(Free const& free, Wish const& wish, SplitScratch<Free>& scratch,
                std::size_t rows_at_first = 64, std::size_t counts_most = counts_max)
        : geometry_(free.geometry()),
          free_(free),
          wish_(wish),
          most_{wish.quantity, wish.accessible},
          plane_(std::size_t{wish.quantity + 1} * (wish.accessible + 1)),
          rows_at_first_(rows_at_first),
          counts_most_(counts_most),
          mine_(scratch) {}

    /// Appends the seats of the best split to `chosen`; false: there is none.
    [[nodiscard]] bool find(std::vector<SeatIndex>& chosen) {
        if (wish_.quantity < 2) return false;
        mine_.slices.find(free_, wish_);
        best_ = SplitKey::impossible();
        if (!(wish_.in_haste && find_any()) && !find_best()) return false;
        std::ranges::sort(mine_.best);
        chosen.insert(chosen.end(), mine_.best.begin(), mine_.best.end());
        return true;
    }
    /// Of the split that was found, if it is the best.
    [[nodiscard]] SplitKey const& key() const noexcept { return best_; }

private:
    using Step = typename SplitScratch<Free>::Step;

    [[nodiscard]] bool find_best() {
        bool bounded = plane_ > counts_most_;  // not all there is was looked at
        for (SplitSlice const& slice : mine_.slices.slices()) {
            if (plane_ > counts_most_ || !(slice.bound < best_)) break;
            search(slice);
            bounded = bounded || slice.pieces > rows_most(slice);
        }
        return best_.possible() || (bounded && find_any());
    }
    /// So many rows of the slice may be looked at.
    [[nodiscard]] std::size_t rows_most(SplitSlice const& slice) const noexcept {
        std::size_t longest = 1;
        for (SplitPiece const& piece : mine_.slices.pieces().subspan(slice.first, slice.pieces))
            longest = std::max(longest, piece.seats);
        std::size_t const given = std::min<std::size_t>(longest, wish_.quantity) *
                                  (std::min<std::size_t>(longest, wish_.accessible) + 1);
        return std::min(cells_max / plane_, std::max<std::size_t>(steps_max / plane_ / given, 1));
    }
    [[nodiscard]] bool find_any() {
        mine_.best.clear();
        GreedySplit<Free> greedy(geometry_, mine_.slices, wish_);
        return std::ranges::any_of(mine_.slices.slices(), [&](SplitSlice const& slice) {
            return greedy.find(slice, mine_.best);
        });
    }

    /// The best split of a slice, if it is better than what was found.
    void search(SplitSlice const& slice) {
        constexpr std::uint64_t counted = ~(SplitKey::block - 1);  // without clusters and orphans
        std::size_t const most = std::min(slice.pieces, rows_most(slice));
        for (std::size_t rows = rows_at_first_;; rows *= 4) {
            choose_part(slice, std::min(rows, most));
            SplitKey const key = combine(slice);
            if (key < best_) {
                best_ = key;
                trace();
            }
            bool const least =
                key.possible() && (key.seating & counted) == (slice.bound.seating & counted);
            if (least || mine_.part.size() == most) return;
        }
    }

    [[nodiscard]] RowGeometry const& row_of(std::uint32_t piece) const noexcept {
        return mine_.slices.row_of(mine_.slices.pieces()[piece]);
    }
    [[nodiscard]] std::span<std::uint32_t const> seats_of(std::uint32_t piece) const noexcept {
        return mine_.slices.seats_of(mine_.slices.pieces()[piece]);
    }

    /// The nearest `rows` pieces of the slice, in plan order.
    void choose_part(SplitSlice const& slice, std::size_t rows) {
        auto& part = mine_.part;
        part.resize(slice.pieces);
        for (std::size_t i = 0; i < slice.pieces; ++i)
            part[i] = static_cast<std::uint32_t>(slice.first + i);
        if (part.size() <= rows) return;
        auto const nearer = [this](std::uint32_t a, std::uint32_t b) {
            return row_of(a).rank < row_of(b).rank;
        };
        auto const middle = part.begin() + static_cast<std::ptrdiff_t>(rows);
        std::ranges::nth_element(part, middle, nearer);
        part.erase(middle, part.end());
        std::ranges::sort(part);
    }

    /// Combines the rows of the part; the key of the best split.
    [[nodiscard]] SplitKey combine(SplitSlice const& slice) {
        for (auto& plane : mine_.now) plane.assign(plane_, SplitKey::impossible());
        mine_.now[0][0] = {};
        mine_.steps.assign(mine_.part.size() * 2 * plane_, {});
        for (std::size_t i = 0; i < mine_.part.size(); ++i) add_row(i);
        SplitKey best = std::min(mine_.now[0][plane_ - 1], mine_.now[1][plane_ - 1]);
        if (best.possible() && slice.several) best.seating += SplitKey::several_sections;
        return best;
    }

    /// Whether the row of this piece touches that of the one before it in the part.
    [[nodiscard]] bool touches(std::size_t index) const noexcept {
        if (index == 0) return false;
        RowGeometry const& before = row_of(mine_.part[index - 1]);
        RowGeometry const& row = row_of(mine_.part[index]);
        return row.first == before.first + before.count && row.section == before.section;
    }

    void add_row(std::size_t index) {
        auto const usable = seats_of(mine_.part[index]);
        auto const accessible = std::ranges::count_if(
            usable, [this](std::uint32_t seat) { return geometry_.accessible(seat); });
        SplitCount const most{std::min(most_.seats, static_cast<std::uint32_t>(usable.size())),
                              std::min(most_.accessible, static_cast<std::uint32_t>(accessible))};
        mine_.row.measure(geometry_, usable, most, wish_.prevent_orphans);
        bool const touching = touches(index);
        Step* const steps = &mine_.steps[index * 2 * plane_];
        for (auto& plane : mine_.next) plane.assign(plane_, SplitKey::impossible());
        for (SplitCount count; count.seats <= most_.seats; ++count.seats) {
            for (count.accessible = 0; count.accessible <= most_.accessible; ++count.accessible) {
                for (bool const used : {false, true}) {
                    SplitKey const& key = mine_.now[used ? 1 : 0][at(count)];
                    if (!key.possible()) continue;
                    offer(0, count, key, {0, 0, used}, steps);
                    std::uint64_t const cluster = touching && used ? 0 : SplitKey::cluster;
                    take_from_row(count, key + SplitKey{cluster, 0}, used, most, steps);
                }
            }
        }
        std::swap(mine_.now, mine_.next);
    }
    void take_from_row(SplitCount const& count, SplitKey const& key, bool used,
                       SplitCount const& most, Step* steps) {
        std::uint32_t const seats = std::min(most.seats, most_.seats - count.seats);
        std::uint32_t const accessible =
            std::min(most.accessible, most_.accessible - count.accessible);
        for (SplitCount more{1, 0}; more.seats <= seats; ++more.seats) {
            for (more.accessible = 0; more.accessible <= accessible; ++more.accessible) {
                SplitKey const& best = mine_.row.best(more);
                if (!best.possible()) continue;
                SplitCount const sum{count.seats + more.seats, count.accessible + more.accessible};
                offer(1, sum, key + best,
                      {static_cast<std::uint16_t>(more.seats),
                       static_cast<std::uint16_t>(more.accessible), used},
                      steps);
            }
        }
    }
    void offer(std::size_t used, SplitCount const& count, SplitKey const& key, Step const& step,
               Step* steps) {
        SplitKey& best = mine_.next[used][at(count)];
        if (!(key < best)) return;
        best = key;
        steps[used * plane_ + at(count)] = step;
    }
    [[nodiscard]] std::size_t at(SplitCount const& count) const noexcept {
        return std::size_t{count.seats} * (most_.accessible + 1) + count.accessible;
    }

    /// Puts the seats of the split that combine() found into mine_.best.
    void trace() {
        mine_.best.clear();
        SplitCount left = most_;
        bool used = mine_.now[1][plane_ - 1] < mine_.now[0][plane_ - 1];
        for (std::size_t index = mine_.part.size(); index-- > 0;) {
            Step const step = mine_.steps[(2 * index + (used ? 1 : 0)) * plane_ + at(left)];
            if (used) {
                SplitCount const taken{step.seats, step.accessible};
                mine_.row.trace(geometry_, seats_of(mine_.part[index]), taken,
                                wish_.prevent_orphans, mine_.best);
                left.seats -= taken.seats;
                left.accessible -= taken.accessible;
            }
            used = step.before;
        }
    }

    Geometry const& geometry_;
    Free const& free_;
    Wish const& wish_;
    SplitCount most_;
    std::size_t plane_;
    std::size_t rows_at_first_;
    std::size_t counts_most_;
    SplitScratch<Free>& mine_;
    SplitKey best_{};
};

}  // namespace holdfast::inventory
