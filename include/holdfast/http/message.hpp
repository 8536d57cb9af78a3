// Request and Reply: one HTTP exchange without sockets.
//
// Purpose: what a handler sees and fills. Handlers are plain functions, testable without a server.
// Thread safety: a Request and its Reply belong to one thread at a time.
// Invariants: the views of a Request point into the session's buffer (io handlers) or into the
//   worker's copy, and live as long as the handler runs.
// Cost: a Reply keeps its capacity from request to request: no allocation in the steady state.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/http/lease.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::http {

class Stream;  // stream.hpp

enum class Method : std::uint8_t { get, head, post, put, patch, del, options, other };
[[nodiscard]] std::string_view to_string(Method method) noexcept;

struct Field {
    std::string_view name;   // as sent
    std::string_view value;  // without outer white space
    /// In any letter case.
    [[nodiscard]] bool is(std::string_view wanted) const noexcept;
};

struct Request {
    Method method{};
    std::string_view path;   // decoded once is up to the router; this is as sent, without the query
    std::string_view query;  // without '?', as sent
    std::span<Field const> fields;
    std::string_view body;
    TimePoint received_at{};                       // the one clock reading of this request
    std::string_view request_id;                   // X-Request-Id if acceptable, else made
    std::string_view route;                        // pattern of a route of this path, else empty
    std::array<std::string_view, 4> parameters{};  // values of the {…} parts of the route, in order
    std::optional<std::string_view> idempotency_key{};  // the field of that name, as sent
    bool loopback_peer{};
    /// What the route's `at_hand` found, for its handler; null: nothing, or the handler runs on a
    /// worker.
    std::shared_ptr<void const> found{};
    /// Who asks: an IPv4 address as ::ffff:a.b.c.d, an IPv6 address cut to its /64.
    std::array<std::uint8_t, 16> peer{};

    /// First field of that name (any letter case), empty if absent.
    [[nodiscard]] std::string_view field(std::string_view name) const noexcept;
    /// Value of `key=` in the query, percent-decoded; empty if absent. A `%` that begins no escape
    /// stands for itself, and so does `+`.
    [[nodiscard]] std::string query_value(std::string_view key) const;
};

struct Reply {
    unsigned status{200};
    std::string_view content_type{"application/json"};  // a literal
    std::string body;
    /// If not empty, sent instead of `body`: bytes that live as long as the process, so nobody need
    /// copy them.
    std::string_view constant_body;
    /// If not null, sent instead of `body`: bytes that many replies share.
    std::shared_ptr<std::string const> shared_body{};
    std::string headers;  // further header lines, each with its CR LF
    Lsn lsn{};            // a success of a mutation waits until this is durable
    /// The handler has done what this tells of, and no `lsn` says so (backups, new events): without
    /// memory to answer, the connection ends instead of a 503.
    bool happened{};
    bool close{};  // close the connection after this reply
    /// What follows the body, without an end; the connection takes no further request.
    std::shared_ptr<Stream> stream{};
    /// Further header lines, of a route's admission; handlers leave them alone.
    std::string admission_headers{};
    Lease lease{};  // given back when this reply may leave
    /// The client was told to come later: its connection is not read for a moment.
    bool rests{};

    /// Makes it a fresh 200 and keeps the capacity.
    void reset() noexcept;
    /// What is sent: `constant_body`, `shared_body` or `body`.
    [[nodiscard]] std::string_view content() const noexcept {
        if (!constant_body.empty()) return constant_body;
        return shared_body == nullptr ? body : *shared_body;
    }
    /// Appends `name: value CR LF` to headers; the value must hold no control characters.
    void add_header(std::string_view name, std::string_view value);
};

}  // namespace holdfast::http
