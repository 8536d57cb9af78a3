#include "app/restart_grace.hpp"

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

}  // namespace holdfast::app
