// openapi.json is what the code does: its routes, its problems, its bounds; and it is well made.
#include "api/problems.hpp"
#include "api/schema_tables.hpp"
#include "http/fault.hpp"
#include "tests/api/calm_backups.hpp"
#include "tests/api/openapi_document.hpp"
#include "tests/api/source_words.hpp"
#include "tests/api/stage.hpp"

#include <holdfast/api/routes.hpp>

#include <map>

namespace holdfast::test {
namespace {

namespace json = boost::json;

std::string name_of(http::Route const& route) {
    return std::string(http::to_string(route.method)) + " " + route.pattern;
}

SourceWords names_of(std::vector<http::Route> const& routes) {
    SourceWords names;
    for (http::Route const& route : routes) names.insert(name_of(route));
    return names;
}

/// Routes of a server that can make backups.
struct Listeners {
    Listeners() { stage.context->backups = &backups; }
    std::vector<http::Route> open() { return api::public_routes(*stage.context); }
    std::vector<http::Route> admin() { return api::admin_routes(*stage.context); }
    CalmBackups backups;
    Stage stage;
};

/// "4 KiB"
std::string size_text(std::size_t bytes) {
    constexpr std::size_t kibi = 1'024;
    constexpr std::size_t mebi = kibi * kibi;
    bool const large = bytes % mebi == 0;
    return std::to_string(bytes / (large ? mebi : kibi)) + (large ? " MiB" : " KiB");
}

/// Code and status of every problem in the document.
std::map<std::string, std::int64_t> documented_problems() {
    std::map<std::string, std::int64_t> problems;
    for (auto const& [name, schema] : openapi().at("components").at("schemas").as_object()) {
        std::string_view const key = name;
        if (!key.starts_with(api::problem_prefix)) continue;
        auto const& members = schema.at("properties");
        CHECK(std::string_view(members.at("code").at("const").as_string()) ==
              key.substr(api::problem_prefix.size()));
        problems.emplace(key.substr(api::problem_prefix.size()),
                         members.at("status").at("const").as_int64());
    }
    return problems;
}

http::Request some_request() {
    http::Request request;
    request.path = "/v1/events/demo/holds";
    request.request_id = "r-1";
    request.received_at = TimePoint{Milliseconds{1'800'000'000'000}};
    return request;
}

/// The reply is a problem, and what the document says of its code. Its code.
std::string check_problem(http::Reply const& reply) {
    CAPTURE(reply.body);
    json::value const body = json::parse(reply.body);
    std::string const code(body.at("code").as_string());
    auto const& known = openapi().at("components").at("schemas").as_object();
    auto const* const schema = known.if_contains(std::string(api::problem_prefix) + code);
    REQUIRE(schema != nullptr);
    CHECK(lines(schemas().faults(*schema, body, true)) == "");
    CHECK(body.at("status").to_number<unsigned>() == reply.status);
    return code;
}

/// A refusal with everything that its document can say.
http::Reply refused(RefusalCode code, EventSpec const& spec) {
    Refusal refusal;
    refusal.code = code;
    refusal.seat = SeatIndex{1};
    refusal.seat_reason = SeatReason::cooling_down;
    refusal.from = static_cast<std::uint8_t>(EventState::draft);
    refusal.to = place_state(HeldAs::sold);
    refusal.number = 3;
    refusal.at = TimePoint{Milliseconds{1'800'000'060'000}};
    std::vector<SeatIndex> const seats{SeatIndex{0}, SeatIndex{2}};
    std::vector<std::vector<SeatIndex>> const alternatives{seats};
    api::RefusalDetails details;
    details.spec = &spec;
    if (code == RefusalCode::seats_unavailable) details.refused_count = 2'000;
    details.seats = details.orphans = seats;
    details.alternatives = alternatives;
    http::Reply reply;
    api::write_refusal(reply, some_request(), refusal, details);
    return reply;
}

/// What stands in quotes behind each `before` in the sources of a folder.
SourceWords quoted_behind(std::string_view folder, std::string_view before) {
    SourceWords words;
    for (auto const& [file, text] : sources_of(folder))
        for (std::string const& word : parts_between(text, before, "\"")) words.insert(word);
    return words;
}

}  // namespace

TEST_CASE("the document has every request and no other", "[reference]") {
    Listeners listeners;
    auto const open = names_of(listeners.open());
    auto const admin = names_of(listeners.admin());
    SourceWords told;
    for (Operation const& one : operations()) {
        CAPTURE(one.name());
        told.insert(one.name());
        CHECK(admin.contains(one.name()));
        // A request with servers of its own is the admin listener's alone.
        CHECK(open.contains(one.name()) != one.described.contains("servers"));
    }
    CHECK(told == admin);
    CHECK(std::includes(admin.begin(), admin.end(), open.begin(), open.end()));
}

TEST_CASE("a request has a body in the document if it may have one", "[reference]") {
    Listeners listeners;
    std::string const too_large(
        component("schemas", "problem-content-too-large").at("description").as_string());
    for (http::Route const& route : listeners.admin()) {
        CAPTURE(route.pattern);
        auto const one = operation(http::to_string(route.method), route.pattern);
        auto const* const body = one.described.if_contains("requestBody");
        REQUIRE((body != nullptr) == (route.body_bytes_max > 0));
        if (body == nullptr) continue;
        CHECK(body->at("description").as_string() ==
              "At most " + size_text(route.body_bytes_max) + ".");
        CHECK(too_large.find(" " + size_text(route.body_bytes_max)) != std::string::npos);
    }
}

TEST_CASE("a request has the query parameters in the document that its route takes",
          "[reference]") {
    Listeners listeners;
    for (http::Route const& route : listeners.admin()) {
        CAPTURE(route.pattern);
        auto const one = operation(http::to_string(route.method), route.pattern);
        SourceWords told;
        auto const* const parameters = one.described.if_contains("parameters");
        for (json::value const& given :
             parameters != nullptr ? parameters->as_array() : json::array{}) {
            json::object const& parameter = schemas().resolve(given);
            if (parameter.at("in").as_string() == "query")
                told.emplace(parameter.at("name").as_string());
        }
        CHECK(told == SourceWords(route.query.begin(), route.query.end()));
    }
}

TEST_CASE("the document has every problem and no other", "[reference]") {
    EventSpec const spec = sample_event();
    std::map<std::string, std::int64_t> made;
    auto const take = [&made](http::Reply const& reply) {
        auto const [at, fresh] = made.emplace(check_problem(reply), reply.status);
        CHECK(at->second == reply.status);
    };
    for (unsigned code = 0; code <= static_cast<unsigned>(RefusalCode::durability_lost); ++code)
        take(refused(static_cast<RefusalCode>(code), spec));
    for (unsigned fault = 1; fault <= static_cast<unsigned>(http::Fault::version); ++fault) {
        http::Reply reply;
        http::write_fault(reply, some_request(), static_cast<http::Fault>(fault));
        take(reply);
    }
    for (unsigned const status : {400U, 422U}) {
        http::Reply reply;
        api::write_input_error(reply, some_request(),
                               {status, "/seats", status == 400 ? "too-deep" : "range"});
        take(reply);
    }
    for (std::string_view const slug : {"unknown-seat", "duplicate-seat", "inseparable-group"}) {
        http::Reply reply;
        std::string_view const name = "A-1-1";
        api::write_seat_problem(reply, some_request(), slug, {&name, 1});
        take(reply);
    }
    // These are written where they come up; reference_answers_test.cpp and rate_limits_test.cpp ask
    // for them.
    made.insert({{"bad-cursor", 400}, {"not-ready", 503}, {"rate-limited", 429}});
    // app gives them to api as they are.
    for (int const status : {409, 422, 503})
        for (std::string const& slug :
             quoted_behind("app", "refusal(" + std::to_string(status) + ", \""))
            made.emplace(slug, status);
    CHECK(made == documented_problems());
    for (std::string_view const folder : {"api", "http"})
        for (std::string const& slug : quoted_behind(folder, "slug = \"")) {
            CAPTURE(slug);
            CHECK(made.contains(slug));
        }
}

}  // namespace holdfast::test
