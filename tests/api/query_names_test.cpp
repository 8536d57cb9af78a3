#include "api/query_names.hpp"

#include "tests/api/stage.hpp"

#include <holdfast/api/routes.hpp>

#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

/// Sends a route that query, with any values for the parts of its path.
http::Reply send(http::Route const& route, std::string const& query) {
    http::Request request;
    request.method = route.method;
    request.path = "/here";
    request.query = query;
    request.request_id = "r-1";
    request.parameters.fill("x");
    http::Reply reply;
    route.handler(request, reply);
    return reply;
}

void check_refused(http::Route const& route, std::string const& query, std::string const& error) {
    INFO(http::to_string(route.method) << ' ' << route.pattern << '?' << query);
    http::Reply const reply = send(route, query);
    CHECK(reply.status == 422);
    CHECK_THAT(reply.body, Catch::Contains("\"code\":\"validation\""));
    CHECK_THAT(reply.body, Catch::Contains(error));
}

}  // namespace

TEST_CASE("every route refuses a query name it does not take, and one that stands twice",
          "[api][query]") {
    Stage stage;
    stage.context->public_counts = [] { return http::ServerCounts{}; };
    std::size_t with_names = 0;
    for (bool const admin : {false, true}) {
        auto const routes =
            admin ? api::admin_routes(*stage.context) : api::public_routes(*stage.context);
        CHECK(routes.size() > 20);
        for (http::Route const& route : routes) {
            std::string const unknown = R"({"pointer":"/dryrun","code":"unknown-parameter"})";
            check_refused(route, "dryrun=true", unknown);
            check_refused(route, "dryrun", unknown);
            check_refused(route, "&dryrun=", unknown);
            check_refused(route, "=1", R"({"pointer":"/","code":"unknown-parameter"})");
            for (std::string_view const name : route.query) {
                std::string const once{name};
                check_refused(route, once + "=1&dryrun=2", unknown);
                check_refused(route, once + "=1&" + once + "=1",
                              R"({"pointer":"/)" + once + R"(","code":"duplicate-parameter"})");
                ++with_names;
            }
        }
    }
    // dry_run, limit and after of three lists, after of a stream.
    CHECK(with_names == 2 * 8);
}

TEST_CASE("a query of known names, or an empty one, changes nothing", "[api][query]") {
    Stage stage;
    for (std::string const query : {"", "?", "?limit=1", "?limit=1&", "?after=&limit=2", "?limit="})
        CHECK(stage.get(demo_blocks + query, staff).status == 200);
    CHECK(stage.get("/healthz?").status == 200);
    auto const long_name = stage.get("/healthz?" + std::string(1'000, 'n') + "=1");
    CHECK(long_name.status == 422);
    CHECK(long_name.error() == "/" + std::string(64, 'n') + " unknown-parameter");
    // What would change something does not.
    auto const hold = stage.post("/v1/events/demo/holds?preview=true", R"({"seats":["A-1-1"]})");
    CHECK(hold.status == 422);
    CHECK(stage.seat_is_free("A-1-1"));
}

}  // namespace holdfast::test
