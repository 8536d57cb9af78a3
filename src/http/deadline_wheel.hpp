// DeadlineWheel: the deadlines of all sessions of one io thread.
//
// Purpose: one coarse timer a thread instead of one asynchronous timer a request. Setting a later
// deadline only writes a field: the entry is looked at when its old place comes round.
// Thread safety: one thread. Invariants: nothing expires early, also what is set while the wheel is
// behind the time; at most one tick late.
// Cost: O(1) a call; a tick costs the entries of one slot.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace holdfast::http {

using Tick = std::uint64_t;
inline constexpr Tick no_tick = ~Tick{0};
inline constexpr std::chrono::milliseconds tick_length{100};

/// Time in ticks. A deadline is counted from the time at which it is set and never from the wheel's
/// now(): a thread that stood still (SIGSTOP, a machine that slept) accepts connections before the
/// wheel has caught up, and they would expire unread when it does.
class TickClock {
public:
    using Time = std::chrono::steady_clock::time_point;
    explicit TickClock(Time start) noexcept : start_(start) {}
    [[nodiscard]] Tick at(Time now) const noexcept {
        return static_cast<Tick>((now - start_) / tick_length);
    }
    /// The tick before which `timeout` has surely passed, counted from `now`.
    [[nodiscard]] Tick after(Time now, std::chrono::milliseconds timeout) const noexcept {
        // The tick under way may be nearly over, so one more.
        auto const ticks = (timeout.count() + tick_length.count() - 1) / tick_length.count();
        return at(now) + static_cast<Tick>(ticks) + 1;
    }

private:
    Time start_;
};

/// Base of what can have a deadline; linked into at most one slot.
struct Timed {
    Timed* previous{};
    Timed* next{};
    Tick place{};  // the tick whose slot holds it
    Tick deadline{no_tick};
};

class DeadlineWheel {
public:
    DeadlineWheel() noexcept {
        for (Timed& slot : slots_) slot.previous = slot.next = &slot;
    }
    DeadlineWheel(DeadlineWheel const&) = delete;
    DeadlineWheel& operator=(DeadlineWheel const&) = delete;

    [[nodiscard]] Tick now() const noexcept { return now_; }

    void set(Timed& entry, Tick deadline) noexcept {
        entry.deadline = deadline;
        Tick const place = place_of(deadline);
        if (entry.next != nullptr && entry.place <= place) return;
        remove_links(entry);
        link(entry, place);
    }
    /// It never expires until it is set again.
    void clear(Timed& entry) noexcept { entry.deadline = no_tick; }
    /// Before the entry goes away.
    void remove(Timed& entry) noexcept {
        entry.deadline = no_tick;
        remove_links(entry);
    }

    /// Moves on to `now` and calls expired(entry) for each whose deadline has passed; the entry is
    /// no longer in the wheel then.
    template <class Expired>
    void advance(Tick now, Expired expired) {
        while (now_ < now) {
            ++now_;
            Timed due;
            take_slot(slots_[now_ % slots_.size()], due);
            while (due.next != &due) {
                Timed& entry = *due.next;
                remove_links(entry);
                if (entry.deadline <= now_) {
                    entry.deadline = no_tick;
                    expired(entry);
                } else if (entry.deadline != no_tick) {
                    link(entry, place_of(entry.deadline));
                }
            }
        }
    }

private:
    [[nodiscard]] Tick place_of(Tick deadline) const noexcept {
        Tick const farthest = now_ + slots_.size() - 1;
        Tick const nearest = now_ + 1;
        if (deadline < nearest) return nearest;
        return deadline < farthest ? deadline : farthest;
    }
    void link(Timed& entry, Tick place) noexcept {
        Timed& slot = slots_[place % slots_.size()];
        entry.place = place;
        entry.previous = &slot;
        entry.next = slot.next;
        slot.next->previous = &entry;
        slot.next = &entry;
    }
    static void remove_links(Timed& entry) noexcept {
        if (entry.next == nullptr) return;
        entry.previous->next = entry.next;
        entry.next->previous = entry.previous;
        entry.next = entry.previous = nullptr;
    }
    static void take_slot(Timed& slot, Timed& into) noexcept {
        into.previous = into.next = &into;
        if (slot.next == &slot) return;
        into.next = slot.next;
        into.previous = slot.previous;
        into.next->previous = into.previous->next = &into;
        slot.previous = slot.next = &slot;
    }

    Tick now_{};
    std::array<Timed, 256> slots_;
};

}  // namespace holdfast::http
