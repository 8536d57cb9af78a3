// RelacyAtomics: the atomics policy of the race detector relacy, which simulates the memory model
// of C++11: a load may give an old value wherever the orders of the accesses allow it.
//
// Purpose: runs the product's own source, in which the order of any one access can be weakened
// while the program runs (weak_order.hpp). Must be the first include of a file: relacy redefines
// words of the language, which are put back here. Thread safety: relacy's threads are fibers.
#pragma once

#include <relacy/relacy.hpp>
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
#define errno (*__errno_location())
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

#include "tests/memory_model/weak_order.hpp"

#include <source_location>
#include <type_traits>

namespace holdfast::test {

/// relacy traces every allocation of a simulation and takes what was made before or after it for an
/// error. What is proved here is the order of accesses: all memory comes from the heap.
class UntracedMemory : rl::context {
public:
    static void use() {
        int& untraced = rl::ctx().*(&UntracedMemory::disable_alloc_);
        if (untraced == 0) untraced = 1;
    }
};

/// Lets a thread go on for some accesses: relacy alone would switch at nearly every one, and so
/// hardly ever let one thread stall while another finishes what it does.
class Burst {
public:
    Burst() : stays_(length > 1 && rl::rand(length) != 0) {
        if (stays_) rl::ctx().disable_preemption();
    }
    ~Burst() {
        if (stays_) rl::ctx().enable_preemption();
    }
    Burst(Burst const&) = delete;
    Burst& operator=(Burst const&) = delete;

    /// Accesses in a row, on average. Chosen anew for each execution.
    static void choose() {
        static constexpr unsigned lengths[] = {1, 4, 16, 40};
        length = lengths[rl::rand(4)];
    }

private:
    static inline unsigned length = 1;
    bool stays_;
};

/// Looks at what happens to the shared words, at once and as they really are.
class Witness {
public:
    virtual ~Witness() = default;
    virtual void stored(void const* cell, std::uint64_t value) = 0;
    virtual void exchanged(void const* cell, std::uint64_t before, std::uint64_t after) = 0;
    static inline Witness* present = nullptr;
};

struct RelacyAtomics {
    static constexpr Order relaxed = Order::relaxed;
    static constexpr Order acquire = Order::acquire;
    static constexpr Order release = Order::release;
    static constexpr Order acq_rel = Order::acq_rel;
    using Where = std::source_location;

    template <class T>
    class Atomic {
    public:
        Atomic(T value = T{}) : value_(value) {}

        T load(Order order, Where where = Where::current()) const {
            Burst const burst;
            return as_const().load(in_relacy(order, where), info(where));
        }
        void store(T value, Order order, Where where = Where::current()) {
            Burst const burst;
            value_.store(value, in_relacy(order, where), info(where));
            if (Witness::present != nullptr) Witness::present->stored(this, bits(value));
        }
        T exchange(T value, Order order, Where where = Where::current()) {
            Burst const burst;
            return value_.exchange(value, in_relacy(order, where), info(where));
        }
        T fetch_add(T by, Order order, Where where = Where::current()) {
            Burst const burst;
            return value_.fetch_add(by, in_relacy(order, where), info(where));
        }
        T fetch_or(T bits, Order order, Where where = Where::current()) {
            Burst const burst;
            return value_.fetch_or(bits, in_relacy(order, where), info(where));
        }
        T fetch_and(T bits, Order order, Where where = Where::current()) {
            Burst const burst;
            return value_.fetch_and(bits, in_relacy(order, where), info(where));
        }
        bool compare_exchange_strong(T& expected, T wanted, Order good, Order bad,
                                     Where where = Where::current()) {
            Burst const burst;
            T const before = expected;
            bool const done =
                value_.compare_exchange_strong(expected, wanted, in_relacy(good, where),
                                               info(where), in_relacy(bad, where), info(where));
            if (done && Witness::present != nullptr)
                Witness::present->exchanged(this, bits(before), bits(wanted));
            return done;
        }
        bool compare_exchange_weak(T& expected, T wanted, Order good, Order bad,
                                   Where where = Where::current()) {
            Burst const burst;
            return value_.compare_exchange_weak(expected, wanted, in_relacy(good, where),
                                                info(where), in_relacy(bad, where), info(where));
        }

        /// The newest value, for witnesses.
        [[nodiscard]] T peek() const { return value_.debug_value(); }

    private:
        [[nodiscard]] static std::uint64_t bits(T value) {
            if constexpr (std::is_pointer_v<T>)
                return reinterpret_cast<std::uintptr_t>(value);
            else
                return static_cast<std::uint64_t>(value);
        }
        [[nodiscard]] static rl::debug_info info(Where const& where) {
            return {where.function_name(), where.file_name(), where.line()};
        }
        [[nodiscard]] static rl::memory_order in_relacy(Order order, Where const& where) {
            switch (weakened(order, where.file_name(), where.line())) {
                case Order::relaxed:
                    return rl::mo_relaxed;
                case Order::acquire:
                    return rl::mo_acquire;
                case Order::release:
                    return rl::mo_release;
                case Order::acq_rel:
                    break;
            }
            return rl::mo_acq_rel;
        }
        [[nodiscard]] rl::atomic<T> const& as_const() const { return value_; }
        rl::atomic<T> value_;
    };
};

}  // namespace holdfast::test
