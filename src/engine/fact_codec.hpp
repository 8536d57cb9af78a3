// In-place decoders: the same as decode_* of the face, into a fact that is used again, so that
// replaying millions of records does not allocate a seat list for each.
#pragma once

#include <holdfast/engine/facts.hpp>

#include <cstddef>
#include <span>

namespace holdfast::engine {

// False: the payload is not exactly one fact of that kind, and `fact` holds nothing of use.
[[nodiscard]] bool decode_into(std::span<std::byte const> payload, ClaimFact& fact);
[[nodiscard]] bool decode_into(std::span<std::byte const> payload, EditFact& fact);
[[nodiscard]] bool decode_into(std::span<std::byte const> payload, EndFact& fact);
[[nodiscard]] bool decode_into(std::span<std::byte const> payload, OrderFact& fact);
[[nodiscard]] bool decode_into(std::span<std::byte const> payload, CancelFact& fact);
[[nodiscard]] bool decode_into(std::span<std::byte const> payload, EventFact& fact);
[[nodiscard]] bool decode_into(std::span<std::byte const> payload, ClockFact& fact);

}  // namespace holdfast::engine
