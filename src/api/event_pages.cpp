#include "api/event_pages.hpp"

#include "api/paging.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace holdfast::api {
namespace {

constexpr std::uint64_t backwards_bit = std::uint64_t{1} << 32U;
constexpr std::uint64_t drafts_bit = std::uint64_t{1} << 33U;

std::string seal(PageRequest const& request, engine::ServerKey const& key) {
    std::uint64_t bits = request.beside->value();
    if (request.backwards) bits |= backwards_bit;
    if (request.drafts) bits |= drafts_bit;
    return seal_cursor(key, Paged::events, bits);
}

bool open(std::string_view cursor, engine::ServerKey const& key, PageRequest& request) {
    auto const place = open_cursor(key, Paged::events, cursor);
    if (!place) return false;
    auto const bits = *place;
    // A cursor of another list of the same events would leave some out.
    if (((bits & drafts_bit) != 0) != request.drafts) return false;
    request.backwards = (bits & backwards_bit) != 0;
    request.beside = EventId{static_cast<std::uint32_t>(bits)};
    return true;
}

EventId id_of(engine::LiveEvent const* event) {
    return event->spec().id;
}

}  // namespace

void throw_exception_from_error(PageError error, boost::source_location const& where) {
    throw std::logic_error("value() of a refused page, error " +
                           std::to_string(static_cast<int>(error)) + ", in " + where.file_name());
}

ResultOf<PageRequest, PageError> parse_page_request(http::Request const& request,
                                                    engine::ServerKey const& key, bool staff) {
    PageRequest page;
    page.drafts = staff;
    auto const limit = page_limit(request);
    if (!limit) return PageError::limit;
    page.limit = *limit;
    auto const cursor = request.query_value("after");
    if (!cursor.empty() && !open(cursor, key, page)) return PageError::cursor;
    return page;
}

EventPage event_page(std::vector<engine::LiveEvent*> events, PageRequest const& request,
                     engine::ServerKey const& key, TimePoint now) {
    if (!request.drafts) {
        std::erase_if(events, [now](engine::LiveEvent const* event) {
            return event->state(now) == EventState::draft;
        });
    }
    std::ranges::sort(events, {}, id_of);
    auto first = events.begin();
    auto last = events.end();
    if (request.beside && request.backwards) {
        last = std::ranges::lower_bound(events, *request.beside, {}, id_of);
        if (last - first > request.limit) first = last - request.limit;
    } else {
        if (request.beside) first = std::ranges::upper_bound(events, *request.beside, {}, id_of);
        if (last - first > request.limit) last = first + request.limit;
    }
    EventPage page{{first, last}, {}, {}};
    if (page.items.empty()) return page;
    auto beside = request;
    if (last != events.end()) {
        beside.beside = id_of(page.items.back());
        beside.backwards = false;
        page.next = seal(beside, key);
    }
    if (first != events.begin()) {
        beside.beside = id_of(page.items.front());
        beside.backwards = true;
        page.previous = seal(beside, key);
    }
    return page;
}

}  // namespace holdfast::api
