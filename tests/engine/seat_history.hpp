// SeatHistory: the sequential rules of selling a few seats, for the linearizability checker.
#pragma once

#include "tests/support/linear.hpp"

#include <array>
#include <compare>
#include <cstdint>

namespace holdfast::engine::test {

/// One call and what it answered. `hold` is a number the test gives to each hold it wins.
struct SeatOp {
    enum class Kind : std::uint8_t { claim, any, release, extend, confirm, cancel, look } kind{};
    enum class Answer : std::uint8_t { done, refused, gone, sold, busy } answer{};
    std::uint8_t seats{};  // bit mask: wanted (claim), got (any); the one looked at (look)
    std::uint8_t count{};  // any: how many
    std::uint8_t named{};  // bit of the seat that refused a claim; look: 0 free, 1 held, 2 sold
    std::uint8_t hold{};
};

/// What one thread at a time would see.
class SeatRules {
public:
    static constexpr std::size_t seats = 4;
    static constexpr std::size_t holds = 64;

    explicit SeatRules(std::uint8_t seat_count) : count_(seat_count) {}

    [[nodiscard]] bool apply(SeatOp const& op) {
        using Kind = SeatOp::Kind;
        if (op.answer == SeatOp::Answer::busy) return true;  // nothing happened
        switch (op.kind) {
            case Kind::claim:
                if (op.answer == SeatOp::Answer::refused) return (taken() & op.named) != 0;
                return take(op);
            case Kind::any:
                if (op.answer == SeatOp::Answer::refused) return free_count() < op.count;
                return take(op);
            case Kind::look: {
                std::uint8_t const state = seen(op.seats);
                // The word of a sold hold whose order is being changed says `editing`, not what
                // was edited: its places look held meanwhile (Holds::display).
                return state == op.named || (state == 2 && op.named == 1);
            }
            case Kind::extend:
                return op.answer == answer_for(op.hold);
            case Kind::release:
                return op.answer == answer_for(op.hold) &&
                       (op.answer != SeatOp::Answer::done || end(op.hold));
            case Kind::confirm:
                if (op.answer != answer_for(op.hold)) return false;
                if (op.answer == SeatOp::Answer::done) sold_ |= bit(op.hold);
                return true;
            case Kind::cancel:
                return cancel(op);
        }
        return false;
    }
    friend auto operator<=>(SeatRules const&, SeatRules const&) = default;

private:
    [[nodiscard]] static std::uint64_t bit(std::uint8_t hold) { return std::uint64_t{1} << hold; }
    [[nodiscard]] std::uint8_t taken() const {
        std::uint8_t mask = 0;
        for (std::size_t i = 0; i < seats; ++i)
            if (owner_[i] != 0) mask = static_cast<std::uint8_t>(mask | 1U << i);
        return mask;
    }
    [[nodiscard]] int free_count() const {
        int free = 0;
        for (std::size_t i = 0; i < count_; ++i) free += owner_[i] == 0 ? 1 : 0;
        return free;
    }
    [[nodiscard]] bool lives(std::uint8_t hold) const {
        for (std::uint8_t const owner : owner_)
            if (owner == hold) return true;
        return false;
    }
    [[nodiscard]] SeatOp::Answer answer_for(std::uint8_t hold) const {
        if (!lives(hold)) return SeatOp::Answer::gone;
        return (sold_ & bit(hold)) != 0 ? SeatOp::Answer::sold : SeatOp::Answer::done;
    }
    [[nodiscard]] std::uint8_t seen(std::uint8_t seat) const {
        for (std::size_t i = 0; i < seats; ++i)
            if (seat == 1U << i) return owner_[i] == 0 ? 0 : (sold_ & bit(owner_[i])) != 0 ? 2 : 1;
        return 0;
    }
    [[nodiscard]] bool take(SeatOp const& op) {
        if (op.answer != SeatOp::Answer::done || op.seats == 0 || (taken() & op.seats) != 0)
            return false;
        for (std::size_t i = 0; i < seats; ++i)
            if ((op.seats >> i & 1U) != 0) owner_[i] = op.hold;
        return true;
    }
    [[nodiscard]] bool end(std::uint8_t hold) {
        for (std::uint8_t& owner : owner_)
            if (owner == hold) owner = 0;
        return true;
    }
    [[nodiscard]] bool cancel(SeatOp const& op) {
        bool const is_sold = answer_for(op.hold) == SeatOp::Answer::sold;
        if (op.answer == SeatOp::Answer::gone) return !is_sold;
        return op.answer == SeatOp::Answer::done && is_sold && end(op.hold);
    }

    std::uint8_t count_;
    std::array<std::uint8_t, seats> owner_{};
    std::uint64_t sold_{0};
};

}  // namespace holdfast::engine::test
