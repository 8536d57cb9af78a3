// Dice: the bench's random numbers. The same seed gives the same numbers on every machine, which
// the standard distributions do not promise.
#pragma once

#include <cstdint>

namespace holdfast::loadgen {

class Dice {
public:
    explicit Dice(std::uint64_t seed) noexcept : state_(seed) {}
    /// splitmix64.
    std::uint64_t next() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
        return mixed ^ (mixed >> 31U);
    }
    /// 0 ... sides - 1; `sides` is small against 2^32, so the bias is too small to matter.
    std::uint32_t below(std::uint32_t sides) noexcept {
        return static_cast<std::uint32_t>(((next() >> 32U) * sides) >> 32U);
    }

private:
    std::uint64_t state_;
};

}  // namespace holdfast::loadgen
