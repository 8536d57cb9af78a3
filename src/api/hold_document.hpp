// Hold document: the JSON of a hold and of its places, as API.md "Shapes" fixes it.
//
// Thread safety: pure functions on the caller's string. Cost: one append a seat; hot.
#pragma once

#include <holdfast/engine/engine.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::api {

struct HoldDocument {
    EventSpec const& spec;
    engine::HoldView const& hold;
    std::span<SeatIndex const> seats;  // ascending
    TimePoint now{};
    std::string_view id;     // empty: a preview
    std::string_view token;  // only in the answer that made the hold
    // Of a partial claim: the seats asked for that it did not get. Null: no partial claim.
    std::vector<SeatIndex> const* left_out{};
};

[[nodiscard]] std::string_view to_text(engine::BlockKind kind) noexcept;

void append_hold(std::string& out, HoldDocument const& document);

/// `"seats":[…],"general":[…]` of ascending places, as further members of an open object.
void append_places(std::string& out, Layout const& layout, std::span<SeatIndex const> seats);

}  // namespace holdfast::api
