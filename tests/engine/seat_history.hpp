// SeatHistory: the sequential rules of selling a few seats, for the linearizability checker.
//
// A change of a list happens at two instants: at the first its hold has the new list, and what it
// has parted with is nobody's yet but not free either; at the second (`part`) that is free. No seat
// is free in between, and nobody is told that both happen at once.
#pragma once

#include "tests/support/linear.hpp"

#include <array>
#include <bit>
#include <compare>
#include <cstdint>

namespace holdfast::engine::test {

/// One call and what it answered. `hold` is a number the test gives to each hold it wins.
struct SeatOp {
    enum class Kind : std::uint8_t {
        claim,
        any,
        release,
        extend,
        confirm,
        cancel,
        look,
        exchange,    // an open hold has `seats` from now on
        give_back,   // an open hold has `seats` no longer
        refund,      // a sold hold has `seats` no longer
        reseat,      // a sold hold's ticket of seat `count` (a bit) is of `seats` from now on
        candidates,  // the first `count` that are free of `named`, in some order
        part,        // what change number `change` dropped is free
    } kind{};
    enum class Answer : std::uint8_t { done, refused, gone, sold, busy } answer{};
    std::uint8_t seats{};  // bit mask: wanted (claim), got (any); the one looked at (look)
    std::uint8_t count{};  // any, candidates: how many
    // Bit of the seat that refused a claim; candidates: bit mask; look: 0 free, 1 held, 2 sold.
    std::uint8_t named{};
    std::uint8_t hold{};
    std::uint8_t change{};  // a number the test gives to each change of a list, from 1
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
                return std::popcount(static_cast<unsigned>(op.seats)) == op.count && take(op);
            case Kind::candidates:
                if (op.answer == SeatOp::Answer::refused)
                    return std::popcount(static_cast<unsigned>(op.named & ~taken())) < op.count;
                return (op.seats & ~op.named) == 0 &&
                       std::popcount(static_cast<unsigned>(op.seats)) == op.count && take(op);
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
            case Kind::exchange:
            case Kind::give_back:
            case Kind::refund:
            case Kind::reseat:
                return change(op);
            case Kind::part:
                return (changed_ & bit(op.change)) != 0 &&
                       end(static_cast<std::uint8_t>(parted + op.change));
        }
        return false;
    }
    friend auto operator<=>(SeatRules const&, SeatRules const&) = default;

private:
    static constexpr std::uint8_t parted = 128;  // plus a change's number: the owner of its drops

    [[nodiscard]] static std::uint64_t bit(std::uint8_t hold) {
        return std::uint64_t{1} << hold % holds;
    }
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
            if (seat == 1U << i)
                return owner_[i] == 0                                        ? 0
                       : owner_[i] < parted && (sold_ & bit(owner_[i])) != 0 ? 2
                                                                             : 1;
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
    [[nodiscard]] std::uint8_t seats_of(std::uint8_t hold) const {
        std::uint8_t mask = 0;
        for (std::size_t i = 0; i < seats; ++i)
            if (owner_[i] == hold) mask = static_cast<std::uint8_t>(mask | 1U << i);
        return mask;
    }
    [[nodiscard]] bool change(SeatOp const& op) {
        bool const of_order = op.kind == SeatOp::Kind::refund || op.kind == SeatOp::Kind::reseat;
        SeatOp::Answer const found = answer_for(op.hold);
        std::uint8_t const has = seats_of(op.hold);
        bool const gives = op.kind == SeatOp::Kind::give_back || op.kind == SeatOp::Kind::refund;
        bool const may = found == (of_order ? SeatOp::Answer::sold : SeatOp::Answer::done);
        bool const all_there = (op.seats & ~has) == 0;
        switch (op.answer) {
            case SeatOp::Answer::done:
                if (!may || (gives && !all_there)) return false;
                if (op.kind == SeatOp::Kind::exchange) return move(op, op.seats);
                if (gives) return move(op, static_cast<std::uint8_t>(has & ~op.seats));
                return (has & op.count) != 0 &&
                       move(op, static_cast<std::uint8_t>((has & ~op.count) | op.seats));
            case SeatOp::Answer::refused:
                if (gives) return may && !all_there;
                if (op.kind == SeatOp::Kind::reseat) return may && (taken() & op.named) != 0;
                return may && (taken() & op.named & ~has) != 0;
            case SeatOp::Answer::gone:
                if (op.kind == SeatOp::Kind::reseat) return !may || (has & op.count) == 0;
                return of_order ? !may || !all_there : found == op.answer;
            default:
                return !of_order && found == op.answer;
        }
    }
    [[nodiscard]] bool move(SeatOp const& op, std::uint8_t wanted) {
        for (std::size_t i = 0; i < seats; ++i) {
            bool const wants = (wanted >> i & 1U) != 0;
            if (wants && owner_[i] != 0 && owner_[i] != op.hold) return false;
            if (!wants && owner_[i] == op.hold)
                owner_[i] = static_cast<std::uint8_t>(parted + op.change);
            if (wants) owner_[i] = op.hold;
        }
        changed_ |= bit(op.change);
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
    std::uint64_t changed_{0};  // changes of lists that came to their first instant
};

}  // namespace holdfast::engine::test
