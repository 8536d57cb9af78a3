#include "tests/api/answer_check.hpp"

#include "tests/api/openapi_document.hpp"

#include <sstream>

namespace holdfast::test {
namespace {

void check_headers(boost::json::object const& response, SeenAnswer const& seen) {
    auto const* const told = response.if_contains("headers");
    auto const known = told != nullptr ? told->as_object() : boost::json::object{};
    std::set<std::string> sent;
    std::istringstream in{std::string(seen.headers)};
    for (std::string line; std::getline(in, line);) sent.insert(line.substr(0, line.find(':')));
    for (std::string const& name : sent) {
        CAPTURE(name);
        CHECK(known.contains(name));
    }
    for (auto const& [name, header] : known) {
        auto const* const needed = schemas().resolve(header).if_contains("required");
        if (needed == nullptr) continue;
        CAPTURE(name);
        CHECK(sent.contains(std::string(std::string_view(name))));
    }
}

}  // namespace

void check_answer(std::string_view method, std::string_view pattern, SeenAnswer const& seen) {
    constexpr std::size_t shown = 1'000;
    CAPTURE(method, pattern, seen.status, seen.body.substr(0, shown), seen.headers);
    auto const& responses = operation(method, pattern).described.at("responses").as_object();
    auto const* const own = responses.if_contains(std::to_string(seen.status));
    REQUIRE(own != nullptr);
    auto const& response = schemas().resolve(*own);
    check_headers(response, seen);
    auto const* const content = response.if_contains("content");
    if (content == nullptr) {
        CHECK(seen.body.empty());
        return;
    }
    auto const* const media = content->as_object().if_contains(seen.media);
    REQUIRE(media != nullptr);
    bool const is_json = seen.media.find("json") != std::string_view::npos;
    auto const body = is_json ? boost::json::parse(seen.body) : boost::json::value(seen.body);
    bool const whole_document = pattern == "/openapi.json";
    CHECK(lines(schemas().faults(media->at("schema"), body, !whole_document)) == "");
}

}  // namespace holdfast::test
