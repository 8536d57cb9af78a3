// Answer check: every answer that a test gets is one that openapi.json has.
#pragma once

#include <string_view>

namespace holdfast::test {

struct SeenAnswer {
    unsigned status{};
    std::string_view media;
    std::string_view body;
    std::string_view headers;
};

/// Status, media type, headers, and every member of the body. `pattern` is the route's.
void check_answer(std::string_view method, std::string_view pattern, SeenAnswer const& seen);

}  // namespace holdfast::test
