// Event body: POST /v1/events from JSON to an EventSpec.
//
// Purpose: the allow-list of API.md "Shapes" in both forms, drawn sections and an imported plan.
// Thread safety: pure, but for the caller's reader. Cost: linear in the seats; run it on a worker.
#pragma once

#include "api/json_reader.hpp"

#include <holdfast/domain/event.hpp>
#include <holdfast/services/plan_import.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::api {

struct EventBody {
    EventSpec spec;               // without id and created_at; without layout if something is wrong
    services::LintReport report;  // of drawn sections: counts, and categories without a price
    std::vector<std::string> repeated_seats;  // names that drawn sections give twice
    [[nodiscard]] bool usable() const noexcept {
        return report.error_count == 0 && repeated_seats.empty();
    }
};

struct EventBodyRules {
    Milliseconds hold_ttl_min{limits::hold_ttl_lowest};  // config key hold.ttl_min_s
};

[[nodiscard]] Input<EventBody> decode_event_body(JsonReader& reader, std::string_view text,
                                                 EventBodyRules const& rules);

/// The id an event gets from its name: lower-case letters and digits of ASCII, hyphens between.
[[nodiscard]] std::string slug_from_name(std::string_view name);

/// Text that people read or compare: no control characters.
[[nodiscard]] bool is_clean_text(std::string_view text) noexcept;

}  // namespace holdfast::api
