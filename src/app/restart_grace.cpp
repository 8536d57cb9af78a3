#include "app/restart_grace.hpp"

#include <holdfast/engine/engine.hpp>

#include <algorithm>

namespace holdfast::app {

bool raise_deadlines(std::map<EventId, engine::RestoredEvent>& events, TimePoint at) {
    bool raised = false;
    for (auto& [event, restored] : events) {
        for (engine::RestoredHold& hold : restored.holds) {
            bool const live = hold.order == OrderId{} && hold.expires_at != no_deadline;
            if (!live || hold.expires_at >= at) continue;
            hold.expires_at = at;
            raised = true;
        }
    }
    return raised;
}

std::string why_names_may_repeat(std::uint64_t first_generation,
                                 std::map<EventId, engine::RestoredEvent> const& events) {
    if (first_generation == engine::first_generation(TimePoint::max()))
        return "the clock is, or once was, decades ahead: the names of holds are no longer told "
               "apart by the time of the start";
    std::uint64_t newest = 0;
    for (auto const& [event, restored] : events)
        for (std::uint64_t const generation : restored.generations)
            newest = std::max(newest, generation);
    if (newest < first_generation) return {};
    return "the clock is behind the names of holds that were made before this start";
}

}  // namespace holdfast::app
