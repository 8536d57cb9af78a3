// Event sections: the drawn form of an event's places, `categories` and `sections` of its body.
//
// Purpose: rows given as a number of seats or seat by seat, and general-admission sections, become
// a Layout. Thread safety: pure. Cost: linear in the seats.
#pragma once

#include "api/event_body.hpp"
#include "api/json_decoder.hpp"

#include <optional>

namespace holdfast::api {

struct DrawnSections {
    JsonValue sections;
    std::optional<JsonValue> categories;  // none: made from what the sections name, at price 0
};

/// Fills body.spec.layout and body.report, or body.repeated_seats, or fails.
void decode_sections(DrawnSections const& drawn, DecodeState& state, EventBody& body);

}  // namespace holdfast::api
