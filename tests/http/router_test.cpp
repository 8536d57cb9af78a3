#include <holdfast/http/router.hpp>

#include <catch2/catch.hpp>

using namespace holdfast;
using namespace holdfast::http;

namespace {

Route route(Method method, std::string pattern) {
    return Route{method, std::move(pattern), RunsOn::io, [](Request const&, Reply&) {}, {}, 0};
}

Router sample() {
    std::vector<Route> routes;
    routes.push_back(route(Method::get, "/"));
    routes.push_back(route(Method::get, "/v1/events"));
    routes.push_back(route(Method::post, "/v1/events"));
    routes.push_back(route(Method::get, "/v1/events/{event}"));
    routes.push_back(route(Method::post, "/v1/events/{event}/holds"));
    routes.push_back(route(Method::post, "/v1/events/{event}/publish"));
    routes.push_back(route(Method::get, "/v1/holds/{hold}"));
    routes.push_back(route(Method::del, "/v1/holds/{hold}"));
    routes.push_back(route(Method::post, "/v1/holds/reset"));
    routes.push_back(route(Method::post, "/v1/a/{b}/c/{d}/e/{f}"));
    routes.push_back(route(Method::get, "/v1/a/x/c/{d}/z"));
    return Router{std::move(routes)};
}

struct Asked {
    Match match;
    Request request;
};

Asked ask(Router const& router, Method method, std::string_view path) {
    Asked asked;
    asked.request.method = method;
    asked.request.path = path;
    asked.match = router.match(asked.request);
    return asked;
}

}  // namespace

TEST_CASE("a route is found by method and path and fills its parameters") {
    Router const router = sample();
    CHECK(ask(router, Method::get, "/").match.route->pattern == "/");
    Asked const claim = ask(router, Method::post, "/v1/events/demo/holds");
    REQUIRE(claim.match.route != nullptr);
    CHECK(claim.match.status == 200);
    CHECK(claim.request.route == "/v1/events/{event}/holds");
    CHECK(claim.request.parameters[0] == "demo");
    Asked const many = ask(router, Method::post, "/v1/a/1/c/2/e/3%2f");
    REQUIRE(many.match.route != nullptr);
    CHECK(many.request.parameters[0] == "1");
    CHECK(many.request.parameters[1] == "2");
    CHECK(many.request.parameters[2] == "3%2f");
}

TEST_CASE("a literal part wins over a parameter, and a dead end goes back to the parameter") {
    Router const router = sample();
    CHECK(ask(router, Method::post, "/v1/holds/reset").match.route->pattern == "/v1/holds/reset");
    Asked const other_method = ask(router, Method::get, "/v1/holds/reset");
    REQUIRE(other_method.match.route != nullptr);
    CHECK(other_method.match.route->pattern == "/v1/holds/{hold}");
    CHECK(other_method.request.parameters[0] == "reset");
    Asked const back = ask(router, Method::post, "/v1/a/x/c/2/e/3");
    REQUIRE(back.match.route != nullptr);
    CHECK(back.request.parameters[0] == "x");
    CHECK(back.request.parameters[1] == "2");
    CHECK(back.request.parameters[2] == "3");
}

TEST_CASE("HEAD is the GET route") {
    Router const router = sample();
    CHECK(ask(router, Method::head, "/v1/events").match.route->method == Method::get);
    CHECK(ask(router, Method::head, "/v1/events/demo/holds").match.status == 405);
}

TEST_CASE("a known path with another method is 405 with every method it allows") {
    Router const router = sample();
    Asked const put = ask(router, Method::put, "/v1/events");
    CHECK(put.match.route == nullptr);
    CHECK(put.match.status == 405);
    CHECK(put.match.allow == "GET, HEAD, POST, OPTIONS");
    CHECK(ask(router, Method::other, "/v1/holds/h_1").match.allow == "GET, HEAD, DELETE, OPTIONS");
    // Both patterns fit this path, so both count.
    CHECK(ask(router, Method::put, "/v1/holds/reset").match.allow ==
          "GET, HEAD, POST, DELETE, OPTIONS");
}

TEST_CASE("OPTIONS is 204 with Allow on a known path and 404 elsewhere") {
    Router const router = sample();
    Asked const known = ask(router, Method::options, "/v1/events/demo/publish");
    CHECK(known.match.status == 204);
    CHECK(known.match.allow == "POST, OPTIONS");
    CHECK(ask(router, Method::options, "/nowhere").match.status == 404);
}

TEST_CASE("anything else is 404") {
    Router const router = sample();
    std::string_view const path = GENERATE(
        as<std::string_view>{}, "/v1", "/v1/", "/v1/events/", "/v1//events", "//v1/events",
        "/v1/events//holds", "/v1/holds/", "/V1/events", "/v1/events/a/b/c/d/e/f/g/h/i/j/k/l",
        "/v1/events/demo/holds/", "/../v1/events", "/v1/events;x", "*", "", "v1/events");
    CAPTURE(path);
    CHECK(ask(router, Method::get, path).match.status == 404);
    CHECK(ask(router, Method::get, path).match.route == nullptr);
}

TEST_CASE("a moved router keeps its routes") {
    Router first = sample();
    Router const second = std::move(first);
    CHECK(ask(second, Method::get, "/v1/events").match.route != nullptr);
    CHECK(second.routes().size() == 11);
}
