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

/// The same of a head that `guard` has accepted, at the begin of `request`: if it is plain the
/// guard itself names the parts. The same bytes have the same answer each time.
[[nodiscard]] bool name_head(Guard const& guard, std::string_view request, FieldArray& fields,
                             Request& named);

}  // namespace holdfast::http
