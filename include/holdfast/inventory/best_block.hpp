// Best block: which neighbouring seats a best-available request would get, judged by the hints.
//
// Purpose: API.md section 3, rules 1 to 4. Candidates are N free seats that follow each other in
//   one row, all within the filter, with exactly the wanted number of accessible seats; the least
//   (leaves a single free seat beside it, sum of distances to the focal point, place order) wins.
// Thread safety: reads only; any thread. The claim decides.
// Cost: rows in order of their nearest seat, until no nearer row can win. No allocation.
#pragma once

#include <holdfast/inventory/places.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::inventory {

/// What is wanted. Empty lists allow everything; lists need not be sorted.
struct Wish {
    std::uint32_t quantity{};
    std::uint32_t accessible{};
    bool prevent_orphans{true};
    std::span<SectionIndex const> sections;
    std::span<CategoryIndex const> categories;
    std::optional<std::uint32_t> zone;
    std::span<SeatIndex const>
        excluded;  // ascending: places chosen by other lines of the same claim
};

[[nodiscard]] inline bool row_allowed(RowGeometry const& row, Wish const& wish) noexcept {
    if (wish.zone && row.zone != wish.zone) return false;
    if (!wish.sections.empty() &&
        std::ranges::find(wish.sections, SectionIndex{row.section}) == wish.sections.end())
        return false;
    return wish.categories.empty() || !row.category ||
           std::ranges::find(wish.categories, CategoryIndex{*row.category}) !=
               wish.categories.end();
}

/// Whether the wish may take this seat of an allowed row, free or not.
[[nodiscard]] inline bool seat_allowed(Geometry const& geometry, std::uint32_t seat,
                                       Wish const& wish) noexcept {
    if (!geometry.for_sale(seat)) return false;
    if (!wish.categories.empty() &&
        std::ranges::find(wish.categories, CategoryIndex{geometry.category_of(seat)}) ==
            wish.categories.end())
        return false;
    return wish.excluded.empty() || !std::ranges::binary_search(wish.excluded, SeatIndex{seat});
}

/// The places that a scan of the truth saw free, in the shape of hints.
class FreeMap {
public:
    explicit FreeMap(Geometry const& geometry)
        : geometry_(geometry), words_((geometry.place_count() + 63) / 64) {}
    void add(std::uint32_t place) { words_[place / 64] |= std::uint64_t{1} << (place % 64); }
    [[nodiscard]] Geometry const& geometry() const noexcept { return geometry_; }
    [[nodiscard]] std::uint64_t hint_word(std::uint32_t word) const noexcept {
        return words_[word];
    }
    [[nodiscard]] bool hinted(std::uint32_t place) const noexcept {
        return (words_[place / 64] >> (place % 64) & 1U) != 0;
    }

private:
    Geometry const& geometry_;
    std::vector<std::uint64_t> words_;
};

/// `Free` says which places look free: Places (hints) or a FreeMap (a scan).
template <class Free>
class BestBlock {
public:
    BestBlock(Free const& free, Wish const& wish)
        : free_(free), geometry_(free.geometry()), wish_(wish) {}

    /// First seat of the best block.
    [[nodiscard]] std::optional<std::uint32_t> find() {
        for (std::uint32_t const index : geometry_.rows_by_distance()) {
            RowGeometry const& row = geometry_.rows()[index];
            std::uint64_t const bound = std::uint64_t{row.nearest} * wish_.quantity;
            if (found_ && !best_.orphans && bound > best_.cost) break;
            if (row.count >= wish_.quantity && row_allowed(row, wish_)) search(row);
        }
        if (!found_) return std::nullopt;
        return best_.first;
    }

    /// Length of the longest block of seats the wish could take, whatever its quantity.
    [[nodiscard]] std::uint32_t largest() {
        std::uint32_t most = 0;
        for (RowGeometry const& row : geometry_.rows()) {
            if (!row_allowed(row, wish_)) continue;
            for_each_run(row, [&](std::uint32_t begin, std::uint32_t end) {
                std::uint32_t length = 0;
                for (std::uint32_t seat = begin; seat < end; ++seat) {
                    bool const counts = wish_.accessible > 0 || !geometry_.accessible(seat);
                    length = counts ? length + 1 : 0;
                    most = std::max(most, length);
                }
            });
        }
        return most;
    }

private:
    struct Candidate {
        bool orphans{};
        std::uint64_t cost{};
        std::uint32_t first{};
        friend auto operator<=>(Candidate const&, Candidate const&) = default;
    };

    [[nodiscard]] bool usable(std::uint32_t seat) const noexcept {
        return free_.hinted(seat) && seat_allowed(geometry_, seat, wish_);
    }

    [[nodiscard]] bool any_hint(RowGeometry const& row) const noexcept {
        std::uint32_t const last = row.first + row.count - 1;
        for (std::uint32_t word = row.first / 64; word <= last / 64; ++word) {
            std::uint64_t bits = free_.hint_word(word);
            if (word == row.first / 64) bits &= ~std::uint64_t{0} << (row.first % 64);
            if (word == last / 64) bits &= ~std::uint64_t{0} >> (63 - last % 64);
            if (bits != 0) return true;
        }
        return false;
    }

    /// Calls `visit(begin, end)` for each run of usable seats that no aisle breaks.
    template <class Visit>
    void for_each_run(RowGeometry const& row, Visit visit) const {
        std::uint32_t const end = row.first + row.count;
        std::uint32_t begin = row.first;
        for (std::uint32_t seat = row.first; seat < end; ++seat) {
            bool const ends = !usable(seat);
            if (ends || geometry_.aisle_before(seat)) {
                if (begin < seat) visit(begin, seat);
                begin = ends ? seat + 1 : seat;
            }
        }
        if (begin < end) visit(begin, end);
    }

    void search(RowGeometry const& row) {
        if (!any_hint(row)) return;
        for_each_run(row, [this](std::uint32_t begin, std::uint32_t end) { slide(begin, end); });
    }

    /// All windows of the wanted quantity inside one free run.
    void slide(std::uint32_t begin, std::uint32_t end) {
        std::uint32_t const quantity = wish_.quantity;
        if (end - begin < quantity) return;
        std::uint64_t cost = 0;
        std::uint32_t accessible = 0;
        for (std::uint32_t seat = begin; seat < end; ++seat) {
            cost += geometry_.distance(seat);
            accessible += geometry_.accessible(seat) ? 1 : 0;
            if (seat - begin + 1 < quantity) continue;
            std::uint32_t const first = seat + 1 - quantity;
            if (accessible == wish_.accessible) {
                bool const orphans = first - begin == 1 || end - seat == 2;
                consider({orphans && wish_.prevent_orphans, cost, first});
            }
            cost -= geometry_.distance(first);
            accessible -= geometry_.accessible(first) ? 1 : 0;
        }
    }

    void consider(Candidate const& candidate) {
        if (!found_ || candidate < best_) best_ = candidate;
        found_ = true;
    }

    Free const& free_;
    Geometry const& geometry_;
    Wish const& wish_;
    Candidate best_;
    bool found_{};
};

}  // namespace holdfast::inventory
