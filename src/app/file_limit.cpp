#include "app/file_limit.hpp"

#include <holdfast/domain/limits.hpp>

#include <algorithm>

namespace holdfast::app {
namespace {

constexpr std::uint64_t files_of_ours = 256;

/// The most for which the admin listener's have room within `descriptors`, too.
constexpr std::uint64_t connections_within(std::uint64_t descriptors) noexcept {
    constexpr std::uint64_t of_admin = limits::admin_connections_max;
    return descriptors >= 2 * of_admin ? descriptors - of_admin : descriptors / 2;
}

}  // namespace

std::uint32_t admin_connections(std::uint32_t connections_max) noexcept {
    return std::min(connections_max, limits::admin_connections_max);
}

std::uint64_t descriptors_wanted(Admitted const& wanted) noexcept {
    return std::uint64_t{wanted.connections} + admin_connections(wanted.connections) +
           wanted.streams + files_of_ours;
}

Admitted admitted_with(std::uint64_t descriptors, Admitted const& wanted) noexcept {
    if (descriptors >= descriptors_wanted(wanted)) return wanted;
    std::uint64_t const room = descriptors - std::min(files_of_ours, descriptors / 2);
    std::uint64_t const beside_streams = room - std::min<std::uint64_t>(room, wanted.streams);
    std::uint64_t const within = connections_within(std::max(beside_streams, room / 4 * 3));
    auto const connections = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(wanted.connections, std::max<std::uint64_t>(within, 1)));
    std::uint64_t const taken = std::uint64_t{connections} + admin_connections(connections);
    std::uint64_t const left = room - std::min(room, taken);
    return {connections, static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted.streams, left))};
}

}  // namespace holdfast::app
