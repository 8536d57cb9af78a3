// Row windows: where in one row N neighbours are free, by word operations.
//
// Purpose: the inner loop of best available. Turns the free bits of a row into the set of first
//   seats of all windows of N usable neighbours, and tells which of them leave a single seat.
// Thread safety: a value of one thread.
// Invariants: bit i of a mask is seat i of the row; bits beyond its end are 0.
// Cost: about ten word operations for each 64 seats and each doubling of N; no allocation for rows
//   of up to 512 seats. For the usual rows the number of words is known when this is compiled, so
//   that theirs stay in registers.
#pragma once

#include <holdfast/inventory/geometry.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace holdfast::inventory {

/// What is known of the windows of any row.
struct RowWindowsFacts {
    static constexpr std::uint32_t no_seat = ~0U;
    /// Free seats or windows next to a seat (itself included) to the left and to the right.
    struct Neighbours {
        std::uint32_t left{no_seat}, right{no_seat};
    };
    /// Whether the windows leave single seats beside them.
    enum class Leaving : std::uint8_t { none, some, all };
};

/// `Words`: 64 seats each, as many as the row needs; 0: any row.
template <std::uint32_t Words>
class RowWindows : public RowWindowsFacts {
public:
    /// A mask over the seats of a row.
    using Word = std::uint64_t;

    RowWindows(Geometry const& geometry, RowGeometry const& row) : geometry_(geometry), row_(row) {
        if constexpr (Words == 0) {
            words_.count = (row.count + 63) / 64;
            if (words_.count > inline_words) long_row_.resize(std::size_t{masks} * words_.count);
        }
    }

    /// Takes the row's part of an event-wide bit array: `word(k)` answers places 64k ... 64k + 63.
    template <class WordOf>
    void load_free(WordOf word) {
        fill(mask(free), word);
        if (!row_.plain) {
            fill(mask(scratch), [this](std::uint32_t k) { return geometry_.for_sale_word(k); });
            for (std::uint32_t i = 0; i < words(); ++i) mask(free)[i] &= mask(scratch)[i];
        }
    }
    void remove(std::uint32_t seat) noexcept {
        std::uint32_t const i = seat - row_.first;
        mask(free)[i / 64] &= ~(Word{1} << (i % 64));
    }
    [[nodiscard]] bool none_free() const noexcept {
        Word seen = 0;
        for (std::uint32_t i = 0; i < words(); ++i) seen |= mask(free)[i];
        return seen == 0;
    }
    [[nodiscard]] Neighbours free_around(std::uint32_t seat) const noexcept {
        return around(mask(free), seat);
    }

    /// Finds the windows of `quantity` neighbours with exactly `accessible` accessible seats.
    void find(std::uint32_t quantity, std::uint32_t accessible) {
        quantity_ = quantity;
        link_neighbours();
        Word* const windows = mask(found);
        for (std::uint32_t i = 0; i < words(); ++i) windows[i] = mask(free)[i];
        if (!row_.plain && accessible == 0) {
            fill(mask(scratch), [this](std::uint32_t k) { return geometry_.accessible_word(k); });
            for (std::uint32_t i = 0; i < words(); ++i) windows[i] &= ~mask(scratch)[i];
        }
        // Windows of twice the length begin where one window begins and another one, linked with
        // the seat before it, follows. The last step lets the two overlap.
        for (std::uint32_t length = 1; length < quantity;) {
            std::uint32_t const step = std::min(length, quantity - length);
            join(windows, step);
            length += step;
        }
        if (accessible > 0) keep_windows_with(accessible);
        if (!row_.plain) keep_whole_groups();
    }
    [[nodiscard]] bool none_found() const noexcept {
        Word seen = 0;
        for (std::uint32_t i = 0; i < words(); ++i) seen |= mask(found)[i];
        return seen == 0;
    }
    /// Leaves only the windows that leave no single seat beside them, unless all of them do.
    [[nodiscard]] Leaving prefer_without_orphans() {
        Word* const good = mask(scratch);
        Word seen = 0;
        Word fewer = 0;
        for (std::uint32_t i = 0; i < words(); ++i) {
            Word const left = mask(links)[i] & ~up(mask(links), i);
            Word const right =
                down(mask(links), i, quantity_) & ~down(mask(links), i, quantity_ + 1);
            good[i] = mask(found)[i] & ~left & ~right;
            seen |= good[i];
            fewer |= mask(found)[i] & ~good[i];
        }
        if (seen == 0) return Leaving::all;
        if (fewer == 0) return Leaving::none;
        for (std::uint32_t i = 0; i < words(); ++i) mask(found)[i] = good[i];
        return Leaving::some;
    }
    /// Whether the usable seats are those of another look, before any were removed.
    [[nodiscard]] bool same_free(RowWindows const& other) const noexcept {
        Word differs = 0;
        for (std::uint32_t i = 0; i < words(); ++i) differs |= mask(free)[i] ^ other.mask(free)[i];
        return differs == 0;
    }
    /// First seats of the windows nearest to `seat` on both sides.
    [[nodiscard]] Neighbours found_around(std::uint32_t seat) const noexcept {
        return around(mask(found), seat);
    }
    /// Calls `visit` with the first seat of each window.
    template <class Visit>
    void for_each_found(Visit visit) const {
        for (std::uint32_t i = 0; i < words(); ++i) {
            for (Word bits = mask(found)[i]; bits != 0; bits &= bits - 1)
                visit(row_.first + 64 * i + static_cast<std::uint32_t>(std::countr_zero(bits)));
        }
    }

private:
    static constexpr std::uint32_t inline_words = Words == 0 ? 8 : Words;
    enum Mask : std::uint32_t { free, links, found, scratch, masks };

    [[nodiscard, gnu::always_inline]] std::uint32_t words() const noexcept {
        if constexpr (Words == 0)
            return words_.count;
        else
            return Words;
    }
    [[nodiscard, gnu::always_inline]] Word* mask(Mask which) noexcept {
        if constexpr (Words == 0) {
            if (!long_row_.empty()) return &long_row_[which * words()];
        }
        return short_row_[which];
    }
    [[nodiscard, gnu::always_inline]] Word const* mask(Mask which) const noexcept {
        if constexpr (Words == 0) {
            if (!long_row_.empty()) return &long_row_[which * words()];
        }
        return short_row_[which];
    }

    template <class WordOf>
    void fill(Word* out, WordOf word) const {
        std::uint32_t const base = row_.first / 64;
        std::uint32_t const shift = row_.first % 64;
        std::uint32_t const last = (row_.first + row_.count - 1) / 64;
        Word low = word(base);
        for (std::uint32_t i = 0; i < words(); ++i) {
            Word const high = base + i + 1 <= last ? word(base + i + 1) : 0;
            out[i] = shift == 0 ? low : low >> shift | high << (64 - shift);
            low = high;
        }
        if (row_.count % 64 != 0) out[words() - 1] &= (Word{1} << (row_.count % 64)) - 1;
    }

    /// Word i of the mask moved so that bit s holds what bit s + by held.
    [[nodiscard]] Word down(Word const* bits, std::uint32_t i, std::uint32_t by) const noexcept {
        std::uint32_t const word = i + by / 64;
        Word const low = word < words() ? bits[word] : 0;
        Word const high = word + 1 < words() ? bits[word + 1] : 0;
        return by % 64 == 0 ? low : low >> (by % 64) | high << (64 - by % 64);
    }
    /// Word i of the mask moved so that bit s holds what bit s - 1 held.
    [[nodiscard]] static Word up(Word const* bits, std::uint32_t i) noexcept {
        return bits[i] << 1 | (i == 0 ? 0 : bits[i - 1] >> 63);
    }

    /// links: the seat is free, and so is its neighbour on the left.
    void link_neighbours() {
        Word* const out = mask(links);
        Word const* const usable = mask(free);
        if (row_.plain) {
            for (std::uint32_t i = 0; i < words(); ++i) out[i] = usable[i] & up(usable, i);
            return;
        }
        fill(mask(scratch), [this](std::uint32_t k) { return geometry_.aisle_before_word(k); });
        for (std::uint32_t i = 0; i < words(); ++i)
            out[i] = usable[i] & up(usable, i) & ~mask(scratch)[i];
    }

    /// In place: word i reads only words that are not written yet.
    void join(Word* windows, std::uint32_t step) noexcept {
        std::uint32_t const word = step / 64;
        std::uint32_t const shift = step % 64;
        Word const* const linked = mask(links);
        for (std::uint32_t i = 0; i < words(); ++i) {
            Word const low = i + word < words() ? windows[i + word] & linked[i + word] : 0;
            Word const high =
                i + word + 1 < words() ? windows[i + word + 1] & linked[i + word + 1] : 0;
            windows[i] &= shift == 0 ? low : low >> shift | high << (64 - shift);
        }
    }

    void keep_windows_with(std::uint32_t accessible) {
        for_each_found([this, accessible](std::uint32_t seat) {
            std::uint32_t count = 0;
            for (std::uint32_t i = 0; i < quantity_; ++i)
                count += geometry_.accessible(seat + i) ? 1 : 0;
            std::uint32_t const bit = seat - row_.first;
            if (count != accessible) mask(found)[bit / 64] &= ~(Word{1} << (bit % 64));
        });
    }

    /// A window neither begins in the middle of a group nor ends there.
    void keep_whole_groups() {
        Word const* const joined = mask(scratch);
        fill(mask(scratch), [this](std::uint32_t k) { return geometry_.joined_word(k); });
        for (std::uint32_t i = 0; i < words(); ++i)
            mask(found)[i] &= ~joined[i] & ~down(joined, i, quantity_);
    }

    /// All words are looked at, without a branch that depends on them: where the nearest one is
    /// cannot be foreseen.
    [[nodiscard]] Neighbours around(Word const* bits, std::uint32_t seat) const noexcept {
        Neighbours neighbours;
        std::uint32_t const at = seat - row_.first;
        for (std::uint32_t i = 0; i < words(); ++i) {
            Word const upto = i < at / 64 ? ~Word{0} : ~Word{0} >> (63 - at % 64);
            Word const left = i <= at / 64 ? bits[i] & upto : 0;
            std::uint32_t const nearest =
                row_.first + 64 * i + 63 - static_cast<std::uint32_t>(std::countl_zero(left));
            neighbours.left = left != 0 ? nearest : neighbours.left;
        }
        for (std::uint32_t i = words(); i-- > 0;) {
            Word const from = i > at / 64 ? ~Word{0} : ~Word{0} << (at % 64);
            Word const right = i >= at / 64 ? bits[i] & from : 0;
            std::uint32_t const nearest =
                row_.first + 64 * i + static_cast<std::uint32_t>(std::countr_zero(right));
            neighbours.right = right != 0 ? nearest : neighbours.right;
        }
        return neighbours;
    }

    Geometry const& geometry_;
    RowGeometry const& row_;
    std::uint32_t quantity_{};
    Word short_row_[masks][inline_words];  // filled as it is used
    // Of any row:
    struct Count {
        std::uint32_t count{};
    };
    struct Nothing {};
    [[no_unique_address]] std::conditional_t<Words == 0, Count, Nothing> words_;
    [[no_unique_address]] std::conditional_t<Words == 0, std::vector<Word>, Nothing> long_row_;
};

}  // namespace holdfast::inventory
