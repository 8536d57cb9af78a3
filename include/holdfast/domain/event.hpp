// Event: one sale, as the catalogue keeps it.
//
// Thread safety: values; an EventSpec that is published is const.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/layout.hpp>
#include <holdfast/domain/limits.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

/// Life of an event. `scheduled` and `open` (and `closed` by time) are computed from the clock and
/// the sale times, so that a late timer never keeps a sale shut.
enum class EventState : std::uint8_t {
    draft = 1,
    preparing,
    scheduled,
    open,
    paused,
    closed,
    cancelled,
};
[[nodiscard]] std::string_view to_string(EventState state) noexcept;
/// Nothing of it can be claimed any more.
[[nodiscard]] constexpr bool is_over(EventState state) noexcept {
    return state == EventState::closed || state == EventState::cancelled;
}

/// What of an event's life is decided by people and journaled (EVENT records); the rest is
/// computed.
enum class LifeStep : std::uint8_t { drafted = 1, published, paused, closed, cancelled };

enum class OrphanRule : std::uint8_t { off, lenient, strict };
[[nodiscard]] std::string_view to_string(OrphanRule rule) noexcept;

/// Whoever names one that no order can be paid by yet (wallet, external) is refused by the api.
struct PaymentMethods {
    bool none{true};
    bool wallet{false};
    bool external{false};
    friend bool operator==(PaymentMethods const&, PaymentMethods const&) = default;
};

struct EventPolicy {
    Milliseconds hold_ttl{limits::hold_ttl_default};
    Milliseconds hold_max_life{limits::hold_life_default};
    std::uint32_t max_extensions{1};
    std::uint32_t max_per_order{10};
    std::optional<std::uint32_t> max_per_user;             // places, held and sold
    std::optional<std::uint32_t> max_open_holds_per_user;  // held, not sold
    /// Places times seconds that an account may hold without buying, in the whole sale.
    std::optional<std::uint32_t> hold_seconds_budget;
    /// How long an account must leave a place to others that it held and did not buy; 0: not.
    std::chrono::seconds rehold_cooldown{0};
    OrphanRule orphan_rule{OrphanRule::lenient};
    /// The orphan rule rests in a section of which less than this share, in percent, is free.
    std::uint32_t orphan_endgame_pct{limits::orphan_endgame_pct_default};
    bool guest{true};
    bool honour_open_holds{true};
    PaymentMethods payment_methods;
    friend bool operator==(EventPolicy const&, EventPolicy const&) = default;
};

/// A sale time: the instant, and the zone offset it was written with.
struct ZonedTime {
    TimePoint at{};
    std::int32_t offset_minutes{};
    friend bool operator==(ZonedTime const&, ZonedTime const&) = default;
};

struct EventSpec {
    EventId id{};      // set by the catalogue
    std::string slug;  // [a-z0-9][a-z0-9-]{0,63}
    std::string name;
    std::string venue;
    std::string time_zone{"UTC"};  // IANA name
    std::optional<ZonedTime> starts_at;
    std::optional<ZonedTime> opens_at;  // none: open as soon as published and ready
    std::optional<ZonedTime> closes_at;
    std::string currency{"EUR"};
    bool publish{};
    EventPolicy policy;
    Layout layout;
    TimePoint created_at{};
    /// Hashes of the request with an Idempotency-Key that made it (engine/marks.hpp).
    std::optional<std::array<std::uint64_t, 4>> made_by{};
};

/// `[a-z0-9][a-z0-9-]{0,63}`
[[nodiscard]] bool is_slug(std::string_view text) noexcept;

}  // namespace holdfast
