// Fetch: one HTTP/1.1 request and its reply, for our own command line.
//
// Purpose: what `holdfast import` and the setup of `holdfast bench` need of a client, no more:
//   plain http, replies with a Content-Length.
// Thread safety: free functions on values; each call blocks its caller for `timeout` at most.
// Invariants: a reply is returned whole or not at all; a reply that breaks HTTP is an error.
// Cost: fetch() makes one connection a call.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/base/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::loadgen {

/// What went wrong, as one line for a person.
struct FetchError {
    std::string text;
};

struct Url {
    std::string host;    // a name, an IPv4 address, or an IPv6 address without its brackets
    std::uint16_t port;  // 80 if the URL names none
    std::string prefix;  // path without the last slash, often empty
    friend bool operator==(Url const&, Url const&) = default;
};

/// http://host[:port][/prefix]. Other schemes, user names, queries and fragments are refused.
[[nodiscard]] ResultOf<Url, FetchError> parse_url(std::string_view text);
/// What parse_url() reads as `url`.
[[nodiscard]] std::string to_text(Url const& url);

/// The string of the first `"name":"…"` in what a holdfast server answered, whose ids, tokens and
/// states have no escapes; empty if there is none.
[[nodiscard]] std::string text_of(std::string_view json, std::string_view name);

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Reply {
    unsigned status{};
    Fields fields;  // names in lower case
    std::string body;
    /// Value of the first field of that (lower-case) name, else empty.
    [[nodiscard]] std::string_view field(std::string_view name) const noexcept;
};

struct Query {
    std::string method{"GET"};
    std::string target;  // "/v1/events"; the URL's prefix goes before it
    Fields fields;       // Host and Content-Length are added
    std::string body;
};

inline constexpr Milliseconds fetch_timeout_default{30'000};

[[nodiscard]] ResultOf<Reply, FetchError> fetch(std::string_view url, Query const& query,
                                                Milliseconds timeout = fetch_timeout_default);

}  // namespace holdfast::loadgen
