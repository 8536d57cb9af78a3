// WeakOrder: one access of the product's source whose memory order is weakened.
//
// Purpose: proves that an order is needed: with it weakened some suite must find a fault. The
// access is the call that begins on a given line of a given file, so one build holds all of them.
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

enum class Order : std::uint8_t { relaxed, acquire, release, acq_rel };

[[nodiscard]] char const* name_of(Order order);

/// A call with a memory order.
struct Access {
    std::string file;  // below include/holdfast
    unsigned line{};
    Order order{};
    auto operator<=>(Access const&) const = default;
};

struct WeakOrder {
    Access access;
    Order to{};
};

/// Which access is weak from now on; none by default.
void weaken(std::optional<WeakOrder> const& weak);
/// How often the weak access was made since then.
[[nodiscard]] std::uint64_t weak_accesses();
/// The order that an access is to have; remembers the access.
[[nodiscard]] Order weakened(Order order, char const* file, unsigned line);

/// All accesses made so far that are not relaxed.
[[nodiscard]] std::vector<Access> accesses_seen();
/// The weaker orders of an access, one step down each.
[[nodiscard]] std::vector<Order> weaker(Order order);

}  // namespace holdfast::test
