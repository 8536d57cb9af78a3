// General places: which free-looking places of a general-admission section to try.
//
// Purpose: the choice of any N places of one section, and API.md section 3, rule (6): one section
//   that can take a whole party.
// Thread safety: any thread. The claim decides.
// Cost: a few words of hints; at worst those of the section. No allocation.
#pragma once

#include <holdfast/inventory/places.hpp>
#include <holdfast/inventory/wish.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace holdfast::inventory {

template <class A>
class GeneralPlaces {
public:
    explicit GeneralPlaces(Geometry const& geometry)
        : geometry_(geometry),
          cursors_(std::make_unique<typename A::template Atomic<std::uint32_t>[]>(
              geometry.section_count())) {}

    struct Need {
        std::uint32_t section{};
        std::uint32_t count{};
    };
    /// Appends ascending places to `chosen`, or answers false. From where the last search stopped,
    /// so that searches do not collide at the front. `Free` as in BestBlock.
    template <class Free>
    [[nodiscard]] bool pick(Free const& free, Need const& need, std::span<SeatIndex const> excluded,
                            std::vector<SeatIndex>& chosen) {
        std::uint32_t const count = need.count;
        std::uint32_t const first = geometry_.section_first(need.section);
        std::uint32_t const places = geometry_.section_places(need.section);
        std::size_t const before = chosen.size();
        // relaxed: only where to start looking.
        std::uint32_t offset = cursors_[need.section].load(A::relaxed) % places;
        for (std::uint32_t seen = 0; seen < places && chosen.size() - before < count;) {
            std::uint32_t const place = first + offset;
            std::uint32_t const bits_left = std::min(64 - place % 64, places - offset);
            std::uint64_t const word = free.hint_word(place / 64) >> (place % 64);
            if (word == 0) {  // nothing in the rest of this word
                seen += bits_left;
                offset = offset + bits_left == places ? 0 : offset + bits_left;
                continue;
            }
            if ((word & 1) != 0 && !std::ranges::binary_search(excluded, SeatIndex{place}))
                chosen.push_back(SeatIndex{place});
            ++seen;
            offset = offset + 1 == places ? 0 : offset + 1;
        }
        if (chosen.size() - before < count) {
            chosen.resize(before);
            return false;
        }
        cursors_[need.section].store(offset, A::relaxed);  // relaxed: as the load
        std::sort(chosen.begin() + static_cast<std::ptrdiff_t>(before), chosen.end());
        return true;
    }

    /// All places from the first section in plan order that the wish allows and that can take it.
    template <class Free>
    [[nodiscard]] bool pick_one_section(Free const& free, Wish const& wish,
                                        std::vector<SeatIndex>& chosen) {
        return std::ranges::any_of(geometry_.generals(), [&](GeneralGeometry const& general) {
            return general_allowed(general, wish) &&
                   pick(free, {general.section, wish.quantity}, wish.excluded, chosen);
        });
    }

    /// The most places that look free in one section that the wish allows.
    template <class Free>
    [[nodiscard]] std::uint32_t largest(Free const& free, Wish const& wish) const {
        std::uint32_t most = 0;
        for (GeneralGeometry const& general : geometry_.generals()) {
            if (!general_allowed(general, wish)) continue;
            std::uint32_t const first = geometry_.section_first(general.section);
            std::uint32_t const end = first + geometry_.section_places(general.section);
            std::uint32_t count = count_free(free, first, end);
            auto excluded = std::ranges::lower_bound(wish.excluded, SeatIndex{first});
            for (; excluded != wish.excluded.end() && excluded->value() < end; ++excluded)
                count -= free.hinted(excluded->value()) ? 1 : 0;
            most = std::max(most, count);
        }
        return most;
    }

private:
    template <class Free>
    [[nodiscard]] static std::uint32_t count_free(Free const& free, std::uint32_t first,
                                                  std::uint32_t end) {
        std::uint32_t count = 0;
        for (std::uint32_t word = first / 64; 64 * word < end; ++word) {
            std::uint64_t bits = free.hint_word(word);
            if (word == first / 64) bits &= ~std::uint64_t{0} << (first % 64);
            if (end - 64 * word < 64) bits &= (std::uint64_t{1} << (end % 64)) - 1;
            count += static_cast<std::uint32_t>(std::popcount(bits));
        }
        return count;
    }

    Geometry const& geometry_;
    std::unique_ptr<typename A::template Atomic<std::uint32_t>[]> cursors_;
};

}  // namespace holdfast::inventory
