// InputError: what a body, a path or a query said wrong.
//
// Purpose: one value from the reader and the decoders to the problem document (api/problems.hpp).
// Thread safety: values. Cost: one short string, only when there is something wrong.
#pragma once

#include <holdfast/base/result.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::api {

struct IntegerRange {
    std::int64_t min{};
    std::int64_t max{};
};

struct InputError {
    unsigned status{422};   // 400: cannot be read; 422: read, but the values are wrong
    std::string pointer;    // JSON pointer of the offender; empty: the whole body
    std::string_view code;  // a literal: "type", "range", "unknown-field", "duplicate-key", …
    /// Further members of the error, JSON, each `,"name":value`: the bounds of a `range`, the
    /// words of a `value`, the offset of what cannot be read.
    std::string more{};
    /// Pointer of a member that nobody knows, where one is missing: most likely misspelt.
    std::string unknown{};
};

/// `,"min":1,"max":10`, and `,"of":"items"` if it is not the value itself that is bounded.
[[nodiscard]] std::string bounds_text(IntegerRange range, std::string_view of = {});
/// 422 `range` with the bounds.
[[nodiscard]] InputError range_error(std::string pointer, IntegerRange range,
                                     std::string_view of = {});

/// 422 `value` with the words that are known.
[[nodiscard]] InputError value_error(std::string pointer, std::span<std::string_view const> known);

/// needed by result::value(), which production code never calls; throws std::logic_error.
[[noreturn]] void throw_exception_from_error(InputError const&, boost::source_location const&);

template <class T>
using Input = ResultOf<T, InputError>;

}  // namespace holdfast::api
