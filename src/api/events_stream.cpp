// GET /v1/events/{event}/stream: the changes of the places, as server-sent events.
#include "api/events.hpp"
#include "api/paging.hpp"
#include "api/problems.hpp"

#include <holdfast/api/seat_streams.hpp>
#include <holdfast/http/problem.hpp>

#include <charconv>
#include <functional>
#include <optional>
#include <string>

namespace holdfast::api {
namespace {

using http::Reply;
using http::Request;

constexpr unsigned retry_least_ms = 1'000;
constexpr unsigned retry_spread_ms = 4'000;
constexpr unsigned full_retry_s = 10;

/// Where the client wants to go on; nothing: it says something else.
struct After {
    bool valid{true};
    std::optional<std::uint64_t> number;
};

After after_of(Request const& request) {
    // A browser that comes back sends the field and still has the query in its address.
    std::string const in_query = request.query_value("after");
    std::string_view const in_field = request.field("Last-Event-ID");
    std::string_view const text = in_field.empty() ? in_query : in_field;
    if (text.empty()) return {};
    std::uint64_t number{};
    char const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, number);
    if (stop != end || error != std::errc{}) return {false, {}};
    return {true, number};
}

void refuse_stream(Request const& request, Reply& reply, SeatStreams::Refused refused) {
    if (refused == SeatStreams::Refused::all)
        return write_refusal(reply, request, Refusal{.code = RefusalCode::busy});
    http::Problem problem;
    problem.status = 429;
    problem.slug = "rate-limited";
    problem.title = "Too many requests";
    problem.detail = "Your network has too many streams open; close one before the next.";
    problem.retryable = true;
    problem.retry_after_s = full_retry_s;
    http::write_problem(reply, request, problem);
}

void stream_event(Context const& context, Request const& request, Reply& reply) {
    auto const* const event = find_event(context, request, reply);
    if (event == nullptr) return;
    After const after = after_of(request);
    if (!after.valid) return write_bad_cursor(request, reply);
    auto opened = context.streams->open(*event, {network_of(request.peer), request.loopback_peer},
                                        after.number);
    if (opened.stream == nullptr) return refuse_stream(request, reply, opened.refused);
    reply.content_type = "text/event-stream";
    reply.add_header("X-Accel-Buffering", "no");  // a proxy hands on what it has
    // Those whom a stop of the server has cut off come back spread over some seconds.
    auto const spread = std::hash<std::string_view>{}(request.request_id) % retry_spread_ms;
    reply.body.append("retry: ").append(std::to_string(retry_least_ms + spread)).append("\n\n");
    reply.stream = std::move(opened.stream);
}

}  // namespace

void add_event_stream_route(std::vector<http::Route>& routes, Context& context) {
    routes.push_back({http::Method::get,
                      "/v1/events/{event}/stream",
                      http::RunsOn::io,
                      [&context](Request const& request, Reply& reply) {
                          stream_event(context, request, reply);
                      },
                      "Watch the places of an event: deltas as server-sent events",
                      0,
                      {"after"}});
}

}  // namespace holdfast::api
