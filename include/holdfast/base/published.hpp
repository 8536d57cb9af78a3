// Published<T>: one small value that one thread sets and others read.
//
// Purpose: life states, modes and watermarks outside the lock-free modules, so that <atomic> stays
//   in few places. Readers that see a value also see what was written before it was set.
// Thread safety: any thread may get; set by any thread, last one wins. T is at most 8 bytes.
// Cost: a plain load or store on x86.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace holdfast {

template <class T>
class Published {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);

    // A pointer is kept as a number: GCC calls std::atomic<T*>::load, and inlines this.
    using Kept = std::conditional_t<std::is_pointer_v<T>, std::uintptr_t, T>;

public:
    constexpr Published() noexcept : value_(Kept{}) {}
    explicit Published(T value) noexcept : value_(std::bit_cast<Kept>(value)) {}
    // acquire: pairs with the release in set() and replace().
    [[nodiscard]] T get() const noexcept {
        return std::bit_cast<T>(value_.load(std::memory_order_acquire));
    }
    void set(T value) noexcept {
        value_.store(std::bit_cast<Kept>(value), std::memory_order_release);
    }
    /// Sets `next` only if the value is still `expected`; tells whether it was.
    bool replace(T expected, T next) noexcept {
        auto kept = std::bit_cast<Kept>(expected);
        return value_.compare_exchange_strong(kept, std::bit_cast<Kept>(next),
                                              std::memory_order_acq_rel);
    }

private:
    std::atomic<Kept> value_;
};

}  // namespace holdfast
