// Bad bodies: SECURITY.md 5 B as bodies of a claim, or of an event made by staff.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

struct BadBody {
    std::string_view number;
    std::string body;
    std::string answer;  // "422 range"
    bool staff{};        // POST /v1/events with the operator's token; else a guest's claim
    std::string type{"application/json"};
};

[[nodiscard]] std::vector<BadBody> bad_bodies();

}  // namespace holdfast::test
