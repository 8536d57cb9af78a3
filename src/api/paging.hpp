// Paging: what the lists have in common: how many items, and a cursor that is none.
//
// Thread safety: pure. Cost: a few comparisons.
#pragma once

#include <holdfast/http/message.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::api {

/// `limit` of the query, 1 ... limits::page_items_max, or its default; nothing if it is anything
/// else.
[[nodiscard]] std::optional<std::uint32_t> page_limit(http::Request const& request);
/// 422 for such a limit.
void write_bad_limit(http::Request const& request, http::Reply& reply);
/// 400 `bad-cursor`.
void write_bad_cursor(http::Request const& request, http::Reply& reply);

}  // namespace holdfast::api
