// JSON span: where a value stands in a text that is known to be JSON.
//
// Purpose: the SAX parser does not say where a value begins; it says how many keys and values came
// before it, and this finds the place again. Thread safety: pure. Cost: one pass over the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::api {

struct JsonSpan {
    std::size_t start{};
    std::size_t length{};
};

/// The value before which `tokens_before` keys and values stand, each container counted once at
/// its opening. The text must be valid JSON and have such a value.
[[nodiscard]] JsonSpan find_json_value(std::string_view text, std::uint64_t tokens_before) noexcept;

}  // namespace holdfast::api
