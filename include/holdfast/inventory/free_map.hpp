// FreeMap: what one scan of the truth saw free.
//
// Purpose: to choose from the truth as one chooses from the hints; it has the face of Places as
//   far as searches use that.
// Thread safety: a value of one thread. Cost: one bit a place and one a row.
#pragma once

#include <holdfast/inventory/geometry.hpp>

#include <cstdint>
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
    void close_row(RowGeometry const&) noexcept {}  // nothing is noted of one scan

private:
    Geometry const& geometry_;
    std::vector<std::uint64_t> words_;
    std::vector<std::uint64_t> open_rows_;
};

}  // namespace holdfast::inventory
