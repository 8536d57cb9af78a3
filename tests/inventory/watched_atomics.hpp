// WatchedAtomics: plain variables of one thread that tell of each load.
//
// Purpose: to count what a call looks at, and to let something happen in the middle of it.
// Thread safety: one thread.
#pragma once

#include <holdfast/inventory/atomics.hpp>

#include <cstdint>
#include <functional>
#include <utility>

namespace holdfast::inventory::test {

struct WatchedAtomics {
    static inline std::uint64_t loads = 0;
    /// Called before each load, but not for those that it makes itself.
    static inline std::function<void()> at_load;
    using Order = std::memory_order;
    static constexpr auto relaxed = StdAtomics::relaxed;
    static constexpr auto acquire = StdAtomics::acquire;
    static constexpr auto release = StdAtomics::release;
    static constexpr auto acq_rel = StdAtomics::acq_rel;

    template <class T>
    class Atomic {
    public:
        Atomic(T value = T{}) : value_(value) {}
        T load(Order) const {
            ++loads;
            if (at_load) {
                auto const call = std::exchange(at_load, nullptr);
                call();
                at_load = call;
            }
            return value_;
        }
        void store(T value, Order) { value_ = value; }
        T exchange(T value, Order) { return std::exchange(value_, value); }
        T fetch_add(T by, Order) { return std::exchange(value_, static_cast<T>(value_ + by)); }
        T fetch_or(T bits, Order) { return std::exchange(value_, static_cast<T>(value_ | bits)); }
        T fetch_and(T bits, Order) { return std::exchange(value_, static_cast<T>(value_ & bits)); }
        bool compare_exchange_strong(T& expected, T wanted, Order, Order) {
            T const before = std::exchange(value_, value_ == expected ? wanted : value_);
            return before == std::exchange(expected, before);
        }
        bool compare_exchange_weak(T& expected, T wanted, Order good, Order bad) {
            return compare_exchange_strong(expected, wanted, good, bad);
        }

    private:
        T value_;
    };
};

}  // namespace holdfast::inventory::test
