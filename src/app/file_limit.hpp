// File limit: how many connections and streams so many file descriptors are enough for.
//
// Purpose: where the hard limit is too low, fewer are admitted: a crowd must not take what journal
//   and store need. Thread safety: pure functions.
#pragma once

#include <cstdint>

namespace holdfast::app {

/// Connections that the admin listener admits beside those of the public one.
[[nodiscard]] std::uint32_t admin_connections(std::uint32_t connections_max) noexcept;

struct Admitted {
    std::uint32_t connections{};
    std::uint32_t streams{};
    bool operator==(Admitted const&) const = default;
};

/// Descriptors that all of these need, those of journal, store and log among them.
[[nodiscard]] std::uint64_t descriptors_wanted(Admitted const& wanted) noexcept;

/// What is admitted of `wanted`: all, or what leaves journal, store and log 256 descriptors, or of
/// less than 512 half. Streams give way first, down to a quarter of the rest; one connection stays.
[[nodiscard]] Admitted admitted_with(std::uint64_t descriptors, Admitted const& wanted) noexcept;

}  // namespace holdfast::app
