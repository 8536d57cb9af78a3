// Event pages: the list of events in pages, with cursors nobody else can make.
//
// Purpose: API.md section 9. A cursor holds the event beside which to go on, the direction and
// whether drafts are in the list, sealed like a hold's id. Thread safety: pure.
// Cost: one sort of the events.
#pragma once

#include <holdfast/base/result.hpp>
#include <holdfast/engine/engine.hpp>
#include <holdfast/engine/server_key.hpp>
#include <holdfast/http/message.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::api {

struct PageRequest {
    std::uint32_t limit{limits::page_items_default};
    std::optional<EventId> beside;  // none: from the start
    bool backwards{};
    bool drafts{};  // staff see them too
};

enum class PageError : std::uint8_t { limit, cursor };
[[noreturn]] void throw_exception_from_error(PageError, boost::source_location const&);

[[nodiscard]] ResultOf<PageRequest, PageError> parse_page_request(http::Request const& request,
                                                                  engine::ServerKey const& key,
                                                                  bool staff);

struct EventPage {
    std::vector<engine::LiveEvent*> items;  // ascending by id
    std::optional<std::string> next;
    std::optional<std::string> previous;
};

[[nodiscard]] EventPage event_page(std::vector<engine::LiveEvent*> events,
                                   PageRequest const& request, engine::ServerKey const& key,
                                   TimePoint now);

}  // namespace holdfast::api
