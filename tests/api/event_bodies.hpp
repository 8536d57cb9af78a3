// Bodies of POST /v1/events, and what becomes of them.
#pragma once

#include "api/event_body.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

namespace holdfast::api::test {

inline EventBody accepted(std::string const& text) {
    JsonReader reader;
    auto body = decode_event_body(reader, text, {});
    INFO(text);
    if (!body) UNSCOPED_INFO(body.error().pointer << " " << body.error().code);
    REQUIRE(body.has_value());
    return std::move(*body);
}

/// "status pointer code" of the refusal.
inline std::string refusal(std::string const& text, EventBodyRules const& rules = {}) {
    JsonReader reader;
    auto const body = decode_event_body(reader, text, rules);
    if (body) return "accepted";
    return std::to_string(body.error().status) + " " + body.error().pointer + " " +
           std::string{body.error().code};
}

inline std::string const rows = R"("sections":[{"id":"A","rows":[{"label":"1","seats":2}]}])";

/// An event with `members` and a small section.
inline std::string with(std::string const& members) {
    return R"({"name":"N",)" + members + (members.empty() ? "" : ",") + rows + "}";
}

inline std::string with_sections(std::string const& sections) {
    return R"({"name":"N","categories":[{"key":"a","price":5},{"key":"b","price":6}],"sections":)" +
           sections + "}";
}

inline std::string with_policy(std::string const& members) {
    return with(R"("policy":{)" + members + "}");
}

}  // namespace holdfast::api::test
