#include <holdfast/base/log.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/services/event_setup.hpp>

#include <memory>
#include <utility>

namespace holdfast::services {

EventSetup::EventSetup(engine::Engine& engine, engine::Projector& projector,
                       std::function<bool(std::function<void()>)> submit)
    : engine_(engine), projector_(projector), submit_(std::move(submit)) {}

Result<engine::LiveEvent*> EventSetup::create(EventSpec spec) {
    engine::LiveEvent* event{};
    {
        // One at a time: what the catalogue accepts the engine must be able to take, or the next
        // start would find an event too many.
        std::lock_guard const lock(mutex_);
        if (engine_.find(spec.slug) != nullptr) {
            return Refusal{.code = RefusalCode::already_exists};
        }
        if (engine_.events().size() >= limits::events_max) {
            return Refusal{.code = RefusalCode::overloaded};
        }
        auto const id = projector_.insert_event(spec);
        if (!id && id.error().kind == store::StoreError::Kind::busy)
            return Refusal{.code = RefusalCode::overloaded};
        if (!id) {
            log::error("the catalogue cannot be written",
                       {{"event", spec.slug}, {"error", id.error().message}});
            return Refusal{.code = RefusalCode::read_only};
        }
        if (!*id) return Refusal{.code = RefusalCode::already_exists};
        spec.id = **id;
        event = engine_.add(std::make_shared<EventSpec const>(std::move(spec)));
        if (event == nullptr) {
            // Somebody has changed the file: its next number is one that the engine has.
            log::error("the catalogue is not the one that is on sale",
                       {{"event", static_cast<std::int64_t>((**id).value())}});
            return Refusal{.code = RefusalCode::read_only};
        }
    }
    std::function<void()> const job = [this, event] { engine_.build(*event, {}); };
    if (!submit_(job)) job();
    return event;
}

}  // namespace holdfast::services
