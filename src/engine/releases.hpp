// Releases: which holds were given back, so that whoever asks for one is told that.
//
// Purpose: a hold that has ended leaves no trace in the inventory; the last few thousand that were
//   released, by their holder or by staff, are told apart here from those that expired.
// Thread safety: any thread.
// Invariants: a hold is remembered before its places are free, by everybody who journals its end:
//   nobody finds a released hold gone and not remembered, and nobody ever has to take a memory
//   back. Of two in one place the newest wins.
// Cost: a store a release; 32 KB an event.
#pragma once

#include <holdfast/base/published.hpp>
#include <holdfast/domain/ids.hpp>

#include <array>
#include <cstdint>

namespace holdfast::engine {

class Releases {
public:
    void remember(HoldRef ref) noexcept { refs_[place_of(ref)].set(ref.bits()); }
    [[nodiscard]] bool has(HoldRef ref) const noexcept {
        return refs_[place_of(ref)].get() == ref.bits();
    }

private:
    static constexpr std::size_t remembered = 4'096;
    [[nodiscard]] static std::size_t place_of(HoldRef ref) noexcept {
        return (ref.slot().value() + ref.generation() * 31) % remembered;
    }

    std::array<Published<std::uint64_t>, remembered> refs_{};
};

}  // namespace holdfast::engine
