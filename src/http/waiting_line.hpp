// WaitingLine: sessions of one io thread whose replies wait for the disk, and the flag by which
// the journal thread learns that somebody waits.
//
// Purpose: one wake-up per group commit and io thread, none if nobody waits, and never a lost one.
// Thread safety: claim_wake from any thread; everything else from the io thread.
// Invariants: if a session is in the line, the flag is `armed`, or a wake-up is on its way that
// will look at the line.
#pragma once

#include <holdfast/base/assert.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace holdfast::http {

class WaitingList;

/// Base of what can stand in one line at a time.
struct Waiting {
    WaitingList const* waits_in{};
    Waiting* next_waiting{};
    Waiting* previous_waiting{};
};

/// First come, first out. A server that stops closes those who wait or rest in any order, and there
/// may be a hundred thousand: whoever leaves from the middle is not looked for.
class WaitingList {
public:
    WaitingList() = default;
    WaitingList(WaitingList const&) = delete;
    WaitingList& operator=(WaitingList const&) = delete;

    [[nodiscard]] Waiting* first() const noexcept { return first_; }
    void push(Waiting& entry) noexcept {
        HOLDFAST_ASSERT(entry.waits_in == nullptr);
        entry.waits_in = this;
        entry.next_waiting = nullptr;
        entry.previous_waiting = last_;
        (first_ == nullptr ? first_ : last_->next_waiting) = &entry;
        last_ = &entry;
    }
    void pop() noexcept { remove(*first_); }
    /// Nothing for one that stands nowhere: whoever is resumed was popped before, and if it throws
    /// then, its close() removes it once more.
    void remove(Waiting& entry) noexcept {
        if (entry.waits_in == nullptr) return;
        HOLDFAST_ASSERT(entry.waits_in == this);
        (first_ == &entry ? first_ : entry.previous_waiting->next_waiting) = entry.next_waiting;
        (last_ == &entry ? last_ : entry.next_waiting->previous_waiting) = entry.previous_waiting;
        entry.next_waiting = entry.previous_waiting = nullptr;
        entry.waits_in = nullptr;
    }

private:
    Waiting* first_{};
    Waiting* last_{};
};

/// The atomics are an argument so that the model test runs this very source.
template <template <class> class Atomic>
class WakeFlag {
public:
    /// Call before looking at durable_lsn a last time. After it, either that look sees the new
    /// durable_lsn or the journal thread sees the flag and posts a wake-up: both sides do a
    /// read-modify-write of the same word, so one of the two comes second and, being acquire and
    /// release, sees what the other side wrote before (store-load order without a fence).
    void arm() noexcept {
        // relaxed: only this thread arms. `armed` or `posted` means that a wake-up will come
        // for every durable_lsn from now on.
        if (flag_.load(std::memory_order_relaxed) == none) {
            flag_.exchange(armed, std::memory_order_acq_rel);
        }
    }
    /// By the journal thread, after durable_lsn moved: true if it must post a wake-up.
    [[nodiscard]] bool claim_wake() noexcept {
        // A compare_exchange that fails is only a load and would break the argument of arm(), so
        // a read-modify-write that changes nothing comes first.
        if (flag_.fetch_or(0, std::memory_order_acq_rel) != armed) return false;
        std::uint8_t expected = armed;
        return flag_.compare_exchange_strong(expected, posted, std::memory_order_acq_rel,
                                             std::memory_order_acquire);
    }
    /// By the wake-up on the io thread, before it looks at durable_lsn.
    void take_wake() noexcept { flag_.exchange(none, std::memory_order_acq_rel); }

private:
    static constexpr std::uint8_t none = 0;
    static constexpr std::uint8_t armed = 1;
    static constexpr std::uint8_t posted = 2;
    Atomic<std::uint8_t> flag_{none};
};

class WaitingLine : public WaitingList, public WakeFlag<std::atomic> {};

}  // namespace holdfast::http
