// Beast's parser, run over a head that the guard accepted.
//
// Purpose: a second reader of every head that is not plain (guard.hpp), and the one that names its
// parts. Beast never sees a body. Thread safety: pure. Cost: no allocation.
#pragma once

#include "http/guard.hpp"

#include <string_view>

namespace holdfast::http {

/// Fills method, path, query and fields of the request with views into `head`, which runs to
/// behind the empty line. False: Beast refuses what the guard let through.
[[nodiscard]] bool parse_head(std::string_view head, FieldArray& fields, Request& request);

}  // namespace holdfast::http
