// Paging: what the lists have in common: how many items, and cursors.
//
// Invariants: a cursor is made like a hold's id, opaque, and nobody without the key can make one;
//   it is of one list, and no hold's id is a cursor nor a cursor a hold's id.
// Thread safety: pure. Cost: a few comparisons; a cursor one AES block.
#pragma once

#include <holdfast/engine/server_key.hpp>
#include <holdfast/http/message.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::api {

/// The number that stands for the event in a cursor; no event has it.
enum class Paged : std::uint32_t {
    orders = 0xFFFF'FFFF,
    events = 0xFFFF'FFFE,
    blocks = 0xFFFF'FFFD
};

/// `place`: where the next page begins, as the list understands it.
[[nodiscard]] std::string seal_cursor(engine::ServerKey const& key, Paged list,
                                      std::uint64_t place);
/// Nothing: no cursor of this list.
[[nodiscard]] std::optional<std::uint64_t> open_cursor(engine::ServerKey const& key, Paged list,
                                                       std::string_view cursor);

/// What the query of a list may say.
[[nodiscard]] inline std::vector<std::string_view> page_query_names() {
    return {"limit", "after"};
}
/// `limit` of the query, 1 ... limits::page_items_max, or its default; nothing if it is anything
/// else.
[[nodiscard]] std::optional<std::uint32_t> page_limit(http::Request const& request);
/// 422 for such a limit.
void write_bad_limit(http::Request const& request, http::Reply& reply);
/// 400 `bad-cursor`.
void write_bad_cursor(http::Request const& request, http::Reply& reply);

}  // namespace holdfast::api
