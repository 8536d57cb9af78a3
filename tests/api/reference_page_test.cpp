// The page at /docs: whole, without anything from outside, and never more than text from the
// document.
#include "api/reference_page.hpp"

#include "api/html_text.hpp"
#include "api/reference_calls.hpp"
#include "tests/api/openapi_document.hpp"
#include "tests/api/stage.hpp"

namespace holdfast::test {
namespace {

namespace json = boost::json;

/// Means something in text and in an attribute, and nothing in a JSON pointer.
constexpr std::string_view markup = "<b>\"'&";

/// The document with markup in every text, and in the names of what the page shows.
json::value marked_up(json::value const& value, std::string_view key) {
    if (auto const* const text = value.if_string()) {
        bool const word = key == "x-credentials" || key == "type";
        std::string const marked = std::string(*text) + std::string(markup);
        return word ? value : json::value(std::string_view(marked));
    }
    if (auto const* const array = value.if_array()) {
        json::array made;
        for (json::value const& item : *array) made.push_back(marked_up(item, ""));
        return made;
    }
    auto const* const object = value.if_object();
    if (object == nullptr) return value;
    bool const names = key == "schemas" || key == "responses" || key == "parameters" ||
                       key == "properties" || key == "examples" || key == "headers" ||
                       key == "paths" || key == "securitySchemes";
    json::object made;
    for (auto const& [name, member] : *object) {
        std::string marked(std::string_view{name});
        if (names) marked.append(markup);
        made[marked] = marked_up(member, name);
    }
    return made;
}

}  // namespace

TEST_CASE("the page has every request and every problem, and nothing from outside", "[reference]") {
    std::string const page = api::reference_page(api::openapi_document());
    auto const has = [&page](std::string const& text) {
        return page.find(text) != std::string::npos;
    };
    for (Operation const& one : operations()) {
        CAPTURE(one.name());
        CHECK(has("<h3 id=\"" + one.id() + "\">"));
        CHECK(has("href=\"#" + one.id() + "\">"));
    }
    for (auto const& [key, schema] : openapi().at("components").at("schemas").as_object())
        CHECK(has("<h3 id=\"schema-" + std::string(std::string_view(key)) + "\">"));
    // Every link within the page has its place.
    for (std::size_t at = 0; (at = page.find("href=\"#", at)) != std::string::npos;) {
        at += 7;
        std::string const target = page.substr(at, page.find('"', at) - at);
        CAPTURE(target);
        CHECK(has("id=\"" + target + "\""));
    }
    CHECK(has("curl -X POST http://localhost:8080/v1/events/demo/holds"));
    CHECK(has("curl -N http://localhost:8080/v1/events/demo/stream"));
    CHECK_FALSE(has("<script"));
    CHECK_FALSE(has("src="));
    CHECK_FALSE(has("style="));
}

TEST_CASE("a text of the document is text on the page, wherever it stands", "[reference]") {
    json::value const document = marked_up(openapi(), "");
    std::string const page = api::reference_page(json::serialize(document));
    CHECK(page.find("&lt;b&gt;&quot;&#39;&amp;") != std::string::npos);
    CHECK(page.find("<b>") == std::string::npos);
    CHECK(page.find("&gt;\"'") == std::string::npos);
    CHECK(page.find("&quot;'") == std::string::npos);
}

TEST_CASE("the document and its page are made once and never copied", "[reference]") {
    std::vector<http::Route> routes;
    api::add_reference_routes(routes);
    REQUIRE(routes.size() == 3);
    routes.pop_back();  // leads to the page
    for (http::Route const& route : routes) {
        CAPTURE(route.pattern);
        http::Request request;
        request.path = route.pattern;
        http::Reply first;
        http::Reply second;
        route.handler(request, first);
        route.handler(request, second);
        CHECK(first.body.empty());
        CHECK(first.content().size() > 50'000);
        CHECK(first.content().data() == second.content().data());
        bool const same = first.content() == api::openapi_document();
        CHECK(same == (route.pattern == "/openapi.json"));
    }
}

TEST_CASE("every problem leads to its place on the page", "[reference]") {
    std::string const page = api::reference_page(api::openapi_document());
    Stage stage;
    std::size_t problems = 0;
    for (auto const& schema : openapi().at("components").at("schemas").as_object()) {
        std::string const name{std::string_view(schema.key())};
        if (!name.starts_with("problem-")) continue;
        CAPTURE(name);
        auto const answer = stage.get("/problems/" + name.substr(8));
        CHECK(answer.status == 302);
        CHECK(answer.header("Location") == "/docs#schema-" + name);
        CHECK(page.find("id=\"schema-" + name + "\"") != std::string::npos);
        ++problems;
    }
    CHECK(problems > 30);
    for (std::string const other :
         {"Problem", "sold", "sold-out%0d%0aX:1", "sold-out/", "..", "%22"})
        CHECK(stage.get("/problems/" + other).status == 404);
}

TEST_CASE("the little Markdown of the document becomes HTML", "[reference]") {
    std::string text;
    api::append_prose(text, "a <b> & `\"c\"`\n\n* one\n* two");
    CHECK(text ==
          "<p>a &lt;b&gt; &amp; <code>&quot;c&quot;</code></p>\n"
          "<ul><li>one</li><li>two</li></ul>\n");
    text.clear();
    api::append_link(text, "a\"b", "<c>");
    CHECK(text == "<a href=\"#a&quot;b\">&lt;c&gt;</a>");
}

TEST_CASE("JSON for people breaks lines only where it is long", "[reference]") {
    std::string text;
    api::append_pretty(text, json::parse(R"({"a":[1,2],"b":{}})"));
    CHECK(text == R"({"a":[1,2],"b":{}})");
    text.clear();
    std::string const word(60, 'x');
    api::append_pretty(text, json::parse(R"({"a":[")" + word + R"(",1],"b":")" + word + R"("})"));
    CHECK(text == "{\n  \"a\": [\"" + word + "\",1],\n  \"b\": \"" + word + "\"\n}");
}

TEST_CASE("a call is shown with the credentials of its example, else with the first",
          "[reference]") {
    auto const request = json::parse(R"({"security":[{},{"operator":[]}]})").as_object();
    auto const guarded = json::parse(R"({"security":[{"hold":[]},{"operator":[]}]})").as_object();
    auto const by_staff = json::parse(R"({"x-credentials":"operator","value":{}})").as_object();
    auto const plain = json::parse(R"({"value":{}})").as_object();
    CHECK(api::call_credentials(request, nullptr) == "");
    CHECK(api::call_credentials(request, &plain) == "");
    CHECK(api::call_credentials(request, &by_staff) == "operator");
    CHECK(api::call_credentials(guarded, nullptr) == "hold");
    CHECK(api::call_credentials(guarded, &plain) == "hold");
    api::ReferenceDocument const document(api::openapi_document());
    auto const line = [&document](std::string_view path, std::string_view example) {
        Operation const& one = operation("POST", path);
        auto const& media = one.described.at("requestBody").at("content").at("application/json");
        auto const& shown = media.at("examples").at(example).as_object();
        return api::curl_line(document, {one.method, one.path, one.described, &shown});
    };
    auto const has = [](std::string const& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(has(line("/v1/events/{event}/holds", "lines"), "authorization: Bearer $operator_token"));
    CHECK_FALSE(has(line("/v1/events/{event}/holds", "best"), "authorization"));
    CHECK(has(line("/v1/orders", "short"), "authorization: Hold $token"));
    CHECK_FALSE(has(line("/v1/orders", "guest"), "authorization"));
}

}  // namespace holdfast::test
