// Bad requests: SECURITY.md 5 A as bytes of a connection.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// "400 framing": status and code; several answers one after the other. Codes as `errors` has
/// them, else the problem's own.
struct BadRow {
    std::string_view number;
    std::string bytes;
    std::string answers;
};

/// Claims of the event `night`, which has seats A-1-1 to A-1-20.
inline constexpr std::string_view night_claims = "/v1/events/night/holds";

/// A request without a body, or the head of one.
[[nodiscard]] std::string line(std::string_view request_line, std::string_view fields = {});
[[nodiscard]] std::vector<BadRow> bad_requests();

}  // namespace holdfast::test
