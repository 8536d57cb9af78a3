// Wire: the API's JSON, as far as the bench reads and writes it.
//
// Purpose: the only part that knows field names (API.md, Shapes). Thread safety: pure functions.
// Invariants: a reply is believed only whole: a missing field, a wrong type, an unknown seat or a
// seat twice in one list make it unreadable, and the bench reports that as the server's fault.
#pragma once

#include "loadgen/venue.hpp"

#include <holdfast/base/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::loadgen {

struct Unreadable {
    std::string text;
};
template <class T>
using Readable = ResultOf<T, Unreadable>;

struct HoldReply {
    std::string id, token;  // token only in the 201 of a claim
    std::string state;      // held, confirmed, blocked
    std::string order;      // if confirmed
    Places places;
    std::int64_t total{};
};
struct OrderReply {
    std::string id, state;
    Places places;
    std::vector<Ticket> tickets;  // by id
    std::int64_t total{};
};
struct ProblemReply {
    std::string code;
    std::string order;  // of already-confirmed
};
struct EventReply {
    std::string state;
    std::map<std::string, Counts> sections;
    std::map<std::string, std::uint64_t> capacity;  // as the same answer states it
};

[[nodiscard]] Readable<Venue> read_venue(std::string_view json);
[[nodiscard]] Readable<Snapshot> read_snapshot(std::string_view json, Venue const& venue);
[[nodiscard]] Readable<EventReply> read_event(std::string_view json);
[[nodiscard]] Readable<HoldReply> read_hold(std::string_view json, Venue const& venue);
[[nodiscard]] Readable<OrderReply> read_order(std::string_view json, Venue const& venue);
/// An empty code if the body is no problem document.
[[nodiscard]] ProblemReply read_problem(std::string_view json);

struct PlanFacts {
    std::string format;                   // "pretix" or "seatsio"
    std::vector<std::string> categories;  // keys or names, as `prices` wants them
};
/// What kind of plan a JSON text is, by its own keys.
[[nodiscard]] Readable<PlanFacts> recognise_plan(std::string_view json);

struct EventWish {
    std::string id;
    std::string_view plan;  // JSON text
    PlanFacts facts;
    std::int64_t hold_ttl_s{};
};
/// The body of POST /v1/events.
[[nodiscard]] std::string event_body(EventWish const& wish);
/// The body of POST …/holds: exactly these places (one line for the seats, one for each area).
[[nodiscard]] std::string claim_body(Venue const& venue, Places const& places);
[[nodiscard]] std::string best_body(std::uint32_t quantity);
[[nodiscard]] std::string order_body(std::string_view hold, std::string_view token);

/// 2 bits a seat, seat i in bits 2(i mod 4) of byte i/4, in base64; empty if the text is not that.
[[nodiscard]] std::optional<std::vector<SeatState>> decode_states(std::string_view base64,
                                                                  std::size_t seats);

}  // namespace holdfast::loadgen
