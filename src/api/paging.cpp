#include "api/paging.hpp"

#include "api/problems.hpp"

#include <holdfast/domain/limits.hpp>
#include <holdfast/http/problem.hpp>

#include <charconv>
#include <string_view>

namespace holdfast::api {
namespace {

constexpr std::string_view cursor_prefix = "c_";
constexpr std::string_view hold_prefix = "h_";

}  // namespace

std::string seal_cursor(engine::ServerKey const& key, Paged list, std::uint64_t place) {
    EventId const no_event{static_cast<std::uint32_t>(list)};
    std::string const sealed = key.hold_id({no_event, HoldRef{place}});
    return std::string(cursor_prefix).append(sealed.substr(hold_prefix.size()));
}

std::optional<std::uint64_t> open_cursor(engine::ServerKey const& key, Paged list,
                                         std::string_view cursor) {
    if (!cursor.starts_with(cursor_prefix)) return std::nullopt;
    std::string sealed(hold_prefix);
    sealed.append(cursor.substr(cursor_prefix.size()));
    auto const name = key.parse_hold_id(sealed);
    if (!name || name->event.value() != static_cast<std::uint32_t>(list)) return std::nullopt;
    return name->ref.bits();
}

std::optional<std::uint32_t> page_limit(http::Request const& request) {
    std::string const text = request.query_value("limit");
    if (text.empty()) return limits::page_items_default;
    std::uint32_t limit = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
    bool const whole = error == std::errc{} && end == text.data() + text.size();
    if (!whole || limit < 1 || limit > limits::page_items_max) return std::nullopt;
    return limit;
}

void write_bad_limit(http::Request const& request, http::Reply& reply) {
    write_input_error(reply, request, range_error("/limit", {1, limits::page_items_max}));
}

void write_bad_cursor(http::Request const& request, http::Reply& reply) {
    http::Problem problem;
    problem.status = 400;
    problem.slug = "bad-cursor";
    problem.title = "The cursor is not one of ours";
    http::write_problem(reply, request, problem);
}

}  // namespace holdfast::api
