// What the strict JSON reader says of a text.
#pragma once

#include "api/json_reader.hpp"

#include <string>
#include <string_view>

namespace holdfast::api {

inline constexpr JsonOptions with_plan{"/import/plan", std::size_t{1} << 20};

/// Status and code of the refusal; empty if there is none.
inline std::string code_of(std::string_view text, JsonOptions const& options = {}) {
    JsonReader reader;
    auto const root = reader.read_object(text, options);
    return root ? "" : std::to_string(root.error().status) + " " + std::string(root.error().code);
}

}  // namespace holdfast::api
