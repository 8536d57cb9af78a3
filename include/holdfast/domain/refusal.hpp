// Why the business says no. One closed list, one HTTP mapping (api/problems).
//
// Thread safety: values.
// Cost: trivially copyable, 56 bytes.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/domain/ids.hpp>

#include <cstdint>

namespace holdfast {

/// The name of each is its problem slug in API.md section 8, with underscores.
enum class RefusalCode : std::uint8_t {
    not_found,  // missing, or not yours
    unauthenticated,
    forbidden,
    sale_not_open,             // `at` = opens_at, no_deadline if unknown
    sale_closed,               // `at` = closed_at
    seats_unavailable,         // `seat`, `seat_reason`
    inseparable_group,         // `seat` = one of the seats that go together only
    orphan_seat,               // `seat` = a single free seat that the claim would leave
    sold_out,                  // `number` = places left that fit the filter
    best_available_not_found,  // `number` = largest block of free neighbours
    user_limit,                // `limit`, `number` = how many are allowed, `have`
    hold_budget,        // `at` = when to try again; of a cool-down also `seat`, `seat_reason`
    extension_refused,  // `extension_reason`
    hold_expired,       // `at` = when
    already_confirmed,  // `order`
    already_released,
    already_exists,
    illegal_transition,    // `from`, `to`: EventState numbers, or place_state() of a hold
    in_flight,             // another request with the same key is being answered
    idempotency_mismatch,  // the key belongs to another request
    busy,                  // lost a race too often; the same call may succeed
    overloaded,            // journal buffer or queue full
    read_only,             // `read_only_reason`; nothing happened
    durability_lost,       // result unknown until restart
};

enum class SeatReason : std::uint8_t { none, held, sold, blocked, not_for_sale, cooling_down };
/// What a user_limit counts: places of one order, places of an account, its holds not bought yet.
enum class LimitKind : std::uint8_t { order, places, open_holds };
/// What keeps a server from acknowledging: of read_only.
enum class ReadOnlyReason : std::uint8_t { none, space, journal_full, journal_failed, catalogue };
enum class ExtensionReason : std::uint8_t { none, used_up, max_life };

/// What `from` and `to` say of a hold or place instead of an event.
enum class HeldAs : std::uint8_t { held = 1, sold = 2, blocked = 3 };
inline constexpr std::uint8_t held_as_base = 16;  // above every EventState
[[nodiscard]] constexpr std::uint8_t place_state(HeldAs state) noexcept {
    return static_cast<std::uint8_t>(held_as_base + static_cast<std::uint8_t>(state));
}

struct Refusal {
    RefusalCode code{};
    SeatReason seat_reason{};
    ExtensionReason extension_reason{};
    LimitKind limit{};
    std::uint8_t from{};
    std::uint8_t to{};
    std::uint8_t line{};  // of a claim: the one that is refused, from 0
    ReadOnlyReason read_only_reason{};
    SeatIndex seat{};
    std::uint32_t number{};
    std::uint32_t have{};
    TimePoint at{};
    OrderId order{};
};

/// needed by result::value(), which production code never calls; throws std::logic_error.
[[noreturn]] void throw_exception_from_error(Refusal const&, boost::source_location const&);

template <class T, class E = Refusal>
using Result = ResultOf<T, E>;

}  // namespace holdfast
