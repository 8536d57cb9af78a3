// HoldWord: the one word that decides about a hold, and the pure functions on it.
//
// Purpose: {generation: 40, state: 4, x: 20}. x is a version while the hold lives (every change of
//   a live hold raises it, so a CAS made from an older look fails), and the index of the refusing
//   seat after a claim was lost.
// Thread safety: values.
// Invariants: the generation never goes back; generation 0 was never held.
// Cost: shifts and masks.
#pragma once

#include <holdfast/domain/ids.hpp>

#include <cstdint>

namespace holdfast::inventory {

/// `pending` is neither free nor taken; `dead` is free; all others are taken. The cause of an end
/// is part of the state, so that whoever finishes it journals the same cause.
enum class State : std::uint8_t {
    dead = 0,
    pending,
    won,
    held,
    editing,
    confirming,
    sold,
    ending_released,
    ending_expired,
    ending_staff,
};

class HoldWord {
public:
    static constexpr unsigned x_bits = 20;
    static constexpr unsigned state_bits = 4;
    static constexpr std::uint32_t x_max = (1U << x_bits) - 1;

    constexpr HoldWord() = default;
    explicit constexpr HoldWord(std::uint64_t bits) noexcept : bits_(bits) {}
    constexpr HoldWord(std::uint64_t generation, State state, std::uint32_t x) noexcept
        : bits_((generation << (x_bits + state_bits)) |
                (static_cast<std::uint64_t>(state) << x_bits) | x) {}

    [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
    [[nodiscard]] constexpr std::uint64_t generation() const noexcept {
        return bits_ >> (x_bits + state_bits);
    }
    [[nodiscard]] constexpr State state() const noexcept {
        return static_cast<State>((bits_ >> x_bits) & ((1U << state_bits) - 1));
    }
    [[nodiscard]] constexpr std::uint32_t x() const noexcept {
        return static_cast<std::uint32_t>(bits_ & x_max);
    }
    /// The same hold and x in another state.
    [[nodiscard]] constexpr HoldWord in(State state) const noexcept {
        return {generation(), state, x()};
    }
    /// The same hold in `state` one version later. Only below x_max.
    [[nodiscard]] constexpr HoldWord next_version(State state) const noexcept {
        return {generation(), state, x() + 1};
    }
    friend constexpr bool operator==(HoldWord, HoldWord) noexcept = default;

private:
    std::uint64_t bits_{};
};

[[nodiscard]] constexpr bool is_ending(State state) noexcept {
    return state >= State::ending_released;
}
[[nodiscard]] constexpr bool is_taken(State state) noexcept {
    return state != State::dead && state != State::pending;
}
/// Whether a seat whose owner reference is `ref` is free, given the word of ref's slot.
[[nodiscard]] constexpr bool is_free(HoldRef ref, HoldWord word) noexcept {
    return ref == HoldRef{} || word.generation() != ref.generation() || word.state() == State::dead;
}
/// Whether the word is that of the hold that `ref` names, in any state.
[[nodiscard]] constexpr bool names(HoldRef ref, HoldWord word) noexcept {
    return word.generation() == ref.generation();
}

}  // namespace holdfast::inventory
