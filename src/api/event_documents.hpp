// Event documents: the JSON of events, their maps and their states, as API.md "Shapes" fixes it.
//
// Thread safety: pure functions. Cost: the map and the states are linear in the seats.
#pragma once

#include <holdfast/engine/engine.hpp>
#include <holdfast/services/plan_import.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::api {

/// What a list of events says of each: no counts, so no scan.
void append_event_summary(std::string& out, engine::LiveEvent const& event, TimePoint now);
/// The whole event, with its availability.
[[nodiscard]] std::string event_document(engine::LiveEvent const& event, TimePoint now);
/// Geometry, names and prices; it never changes.
[[nodiscard]] std::string map_document(EventSpec const& spec);
/// `states` with every fact up to `number` (sequence.hpp), and perhaps later ones.
[[nodiscard]] std::string state_document(engine::LiveEvent const& event,
                                         engine::SeatStates const& states, std::uint64_t number);
/// The member `general` of such a document.
void append_general(std::string& out, engine::LiveEvent const& event,
                    std::vector<engine::SectionCount> const& counts);
void append_lint_report(std::string& out, services::LintReport const& report);

}  // namespace holdfast::api
