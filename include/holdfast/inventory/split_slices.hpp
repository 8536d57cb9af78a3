// Split slices: what a split can be made of.
//
// Purpose: the first look of split_blocks.hpp at an event. The usable seats of each row at one
//   price, put together to slices (the rows of one section; of all sections with that price), and
//   for each slice a bound that no split of it falls below.
// Thread safety: a value of one thread; keeps its memory from one search to the next.
// Cost: one look at each open row and each free seat.
#pragma once

#include <holdfast/inventory/row_splits.hpp>
#include <holdfast/inventory/wish.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace holdfast::inventory {

/// The usable seats of one row at one price.
struct SplitPiece {
    std::uint32_t price{};
    std::uint32_t row{};
    std::size_t first_seat{};
    std::size_t seats{};
};
/// Pieces that may be combined: one section or several, at one price.
struct SplitSlice {
    SplitKey bound;  // no split of it is less
    std::size_t first{};
    std::size_t pieces{};
    bool several{};
};

template <class Free>
class SplitSlices {
public:
    void find(Free const& free, Wish const& wish) {
        free_ = &free;
        wish_ = &wish;
        gather();
        cut_into_slices();
    }
    /// The one whose bound is the least first.
    [[nodiscard]] std::span<SplitSlice const> slices() const noexcept { return slices_; }
    /// By price, then in plan order.
    [[nodiscard]] std::span<SplitPiece const> pieces() const noexcept { return pieces_; }
    /// Ascending.
    [[nodiscard]] std::span<std::uint32_t const> seats_of(SplitPiece const& piece) const noexcept {
        return std::span(seats_).subspan(piece.first_seat, piece.seats);
    }
    [[nodiscard]] RowGeometry const& row_of(SplitPiece const& piece) const noexcept {
        return geometry().rows()[piece.row];
    }

private:
    [[nodiscard]] Geometry const& geometry() const noexcept { return free_->geometry(); }
    [[nodiscard]] std::uint32_t price_of(std::uint32_t seat) const noexcept {
        return geometry().price_class_of(geometry().category_of(seat));
    }

    void gather() {
        seats_.clear();
        pieces_.clear();
        for_each_open_row(*free_, *wish_, [this](std::uint32_t index, RowGeometry const& row) {
            std::size_t const first = seats_.size();
            for_each_free(*free_, row, [this](std::uint32_t seat) {
                if (seat_allowed(geometry(), seat, *wish_)) seats_.push_back(seat);
            });
            if (seats_.size() == first) return;
            if (row.category)
                pieces_.push_back({price_of(seats_[first]), index, first, seats_.size() - first});
            else
                add_by_price(index, first);
        });
        std::ranges::sort(pieces_, [](SplitPiece const& a, SplitPiece const& b) {
            return a.price != b.price ? a.price < b.price : a.row < b.row;
        });
    }
    void add_by_price(std::uint32_t row, std::size_t first) {
        auto const start = seats_.begin() + static_cast<std::ptrdiff_t>(first);
        std::sort(start, seats_.end(), [this](std::uint32_t a, std::uint32_t b) {
            return std::pair(price_of(a), a) < std::pair(price_of(b), b);
        });
        for (std::size_t i = first; i < seats_.size(); ++i) {
            std::uint32_t const price = price_of(seats_[i]);
            if (i == first || pieces_.back().price != price) pieces_.push_back({price, row, i, 0});
            ++pieces_.back().seats;
        }
    }

    void cut_into_slices() {
        slices_.clear();
        for (std::size_t first = 0, end = 0; first < pieces_.size(); first = end) {
            auto const same_price = [&] {
                return end < pieces_.size() && pieces_[end].price == pieces_[first].price;
            };
            std::size_t sections = 0;
            for (; same_price(); ++sections) {
                std::size_t const start = end;
                std::uint32_t const section = row_of(pieces_[start]).section;
                while (same_price() && row_of(pieces_[end]).section == section) ++end;
                add_slice(start, end, false);
            }
            if (sections > 1) add_slice(first, end, true);
        }
        std::ranges::sort(slices_, [](SplitSlice const& a, SplitSlice const& b) {
            return a.bound != b.bound ? a.bound < b.bound : a.first < b.first;
        });
    }

    void add_slice(std::size_t first, std::size_t end, bool several) {
        lengths_.assign(wish_->quantity + 1, 0);
        kinds_ = {};
        std::uint32_t nearest = ~0U;
        for (std::size_t i = first; i < end; ++i) {
            nearest = std::min(nearest, row_of(pieces_[i]).nearest);
            count_runs(pieces_[i]);
        }
        bool const enough = kinds_.accessible >= wish_->accessible &&
                            kinds_.seats - kinds_.accessible >= wish_->quantity - wish_->accessible;
        SplitKey bound = least_seating();
        if (!enough || !bound.possible()) return;
        bound.seating += SplitKey::cluster + (several ? SplitKey::several_sections : 0);
        bound.cost = std::uint64_t{nearest} * wish_->quantity;
        slices_.push_back({bound, first, end - first, several});
    }
    void count_runs(SplitPiece const& piece) {
        std::uint32_t length = 0;
        std::uint32_t before = 0;
        auto const end_run = [&] { ++lengths_[std::min(length, wish_->quantity)]; };
        for (std::uint32_t const seat : seats_of(piece)) {
            bool const accessible = geometry().accessible(seat);
            if (wish_->accessible == 0 && accessible) continue;
            ++kinds_.seats;
            kinds_.accessible += accessible ? 1 : 0;
            bool const linked = length > 0 && seat == before + 1 && !geometry().aisle_before(seat);
            if (!linked && length > 0) end_run();
            length = linked ? length + 1 : 1;
            before = seat;
        }
        if (length > 0) end_run();
    }
    /// The fewest people alone, and the fewest blocks with that, that runs of these lengths allow
    /// if any part of a run may be taken: the truth but for groups and accessible seats.
    [[nodiscard]] SplitKey least_seating() const noexcept {
        std::uint64_t const quantity = wish_->quantity;
        std::uint64_t in_company = 0;  // seats in runs of two and more
        for (std::uint64_t length = 2; length <= quantity; ++length)
            in_company += length * lengths_[length];
        if (in_company + lengths_[1] < quantity) return SplitKey::impossible();
        std::uint64_t alone = in_company < quantity ? quantity - in_company : 0;
        bool const pairs_only = in_company == std::uint64_t{2} * lengths_[2];
        if (alone == 0 && pairs_only && quantity % 2 == 1) alone = 1;
        std::uint64_t blocks = alone;
        std::uint64_t left = quantity - alone;
        for (std::uint64_t length = quantity; length >= 2 && left > 0; --length) {
            std::uint64_t const used =
                std::min<std::uint64_t>(lengths_[length], (left + length - 1) / length);
            blocks += used;
            left -= std::min(left, used * length);
        }
        return {alone * SplitKey::alone + blocks * SplitKey::block, 0};
    }

    Free const* free_{};
    Wish const* wish_{};
    std::vector<std::uint32_t> seats_;
    std::vector<SplitPiece> pieces_;
    std::vector<SplitSlice> slices_;
    SplitCount kinds_;                    // of the slice in hand
    std::vector<std::uint32_t> lengths_;  // by length up to the quantity: how many runs have it
};

}  // namespace holdfast::inventory
