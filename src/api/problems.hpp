// Problems: the one mapping from "no" to an answer (API.md section 8).
//
// Purpose: every Refusal and every InputError becomes its RFC 9457 document here and nowhere else,
// so that a slug has one status, one title and one meaning.
// Thread safety: pure functions on the caller's Reply. Cost: a few string appends.
#pragma once

#include "api/input_error.hpp"

#include <holdfast/domain/event.hpp>
#include <holdfast/domain/refusal.hpp>
#include <holdfast/http/message.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::api {

struct RefusedSeat {
    SeatIndex seat{};
    SeatReason reason{};
};

/// What the caller knows and the refusal cannot carry; every part may be missing.
struct RefusalDetails {
    EventSpec const* spec{};               // names of seats
    std::span<RefusedSeat const> refused;  // seats-unavailable; else the refusal's own seat
    std::size_t refused_count{};           // told if it is more than `refused` lists
    bool retryable{};                      // seats-unavailable: the same claim may succeed later
    std::string_view section;              // sold-out: if the claim named just one
    std::span<SeatIndex const> seats;      // hold-expired, if the refusal says when
    std::span<SeatIndex const> orphans;    // orphan-seat
    std::span<std::vector<SeatIndex> const> alternatives;  // orphan-seat
    std::optional<std::uint64_t> have;                     // user-limit
};

void write_refusal(http::Reply& reply, http::Request const& request, Refusal const& refusal,
                   RefusalDetails const& details = {});
/// The code whose slug this is.
[[nodiscard]] std::optional<RefusalCode> code_named(std::string_view slug) noexcept;
/// One that was written before and will not be anything else, with its own `members`.
void write_refusal_again(http::Reply& reply, http::Request const& request, RefusalCode code,
                         std::string_view members);
/// 400 malformed or 422 validation, with `errors`.
void write_input_error(http::Reply& reply, http::Request const& request, InputError const& error);
/// 404, the same bytes whether the thing is missing, malformed or somebody else's.
void write_not_found(http::Reply& reply, http::Request const& request);
/// 401 with a challenge; `scheme` is "Hold" or "Bearer". `detail` instead of the usual sentence.
void write_unauthenticated(http::Reply& reply, http::Request const& request,
                           std::string_view scheme, std::string_view detail = {});
/// 422 `unknown-seat`, `duplicate-seat` or `inseparable-group` with names, each cut at 64 bytes.
void write_seat_problem(http::Reply& reply, http::Request const& request, std::string_view slug,
                        std::span<std::string_view const> names,
                        std::string_view detail = "Nothing was changed.");

}  // namespace holdfast::api
