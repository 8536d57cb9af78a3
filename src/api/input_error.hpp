// InputError: what a body, a path or a query said wrong.
//
// Purpose: one value from the reader and the decoders to the problem document (api/problems.hpp).
// Thread safety: values. Cost: one short string, only when there is something wrong.
#pragma once

#include <holdfast/base/result.hpp>

#include <string>
#include <string_view>

namespace holdfast::api {

struct InputError {
    unsigned status{422};   // 400: cannot be read; 422: read, but the values are wrong
    std::string pointer;    // JSON pointer of the offender; empty: the whole body
    std::string_view code;  // a literal: "type", "range", "unknown-field", "duplicate-key", …
};

/// needed by result::value(), which production code never calls; throws std::logic_error.
[[noreturn]] void throw_exception_from_error(InputError const&, boost::source_location const&);

template <class T>
using Input = ResultOf<T, InputError>;

}  // namespace holdfast::api
