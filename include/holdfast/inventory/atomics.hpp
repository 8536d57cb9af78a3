// StdAtomics: the atomics policy of the product.
//
// Purpose: inventory and timer are written against a policy, so that the very same source runs in
//   the server (std::atomic) and in an explorer of interleavings (an atomic that yields at each
//   access).
// Thread safety: that of std::atomic.
// Cost: none.
#pragma once

#include <atomic>

namespace holdfast::inventory {

struct StdAtomics {
    template <class T>
    using Atomic = std::atomic<T>;
    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr auto acquire = std::memory_order_acquire;
    static constexpr auto release = std::memory_order_release;
    static constexpr auto acq_rel = std::memory_order_acq_rel;
};

}  // namespace holdfast::inventory
