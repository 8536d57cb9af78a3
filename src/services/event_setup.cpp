#include <holdfast/base/log.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/services/event_setup.hpp>

#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <utility>

namespace holdfast::services {
namespace {

constexpr int tries_max = 250;  // 5 s

Refusal catalogue_is_read_only() {
    return {.code = RefusalCode::read_only, .read_only_reason = ReadOnlyReason::catalogue};
}

}  // namespace

EventSetup::EventSetup(engine::Engine& engine, engine::Projector& projector,
                       std::function<bool(std::function<void()>)> submit,
                       std::function<void(engine::LiveEvent const&)> prepare_reads,
                       Milliseconds memory_pause)
    : engine_(engine),
      projector_(projector),
      submit_(std::move(submit)),
      prepare_reads_(std::move(prepare_reads)),
      memory_pause_(memory_pause) {}

Result<engine::MadeEvent> EventSetup::create(EventSpec spec) {
    engine::MadeEvent made;
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
        // What the catalogue has the engine must know, so all that needs memory comes before.
        auto const prepared = engine_.prepare(spec);
        if (!prepared) return prepared.error();
        auto const id = projector_.insert_event(spec);
        if (!id && id.error().kind == store::StoreError::Kind::busy)
            return Refusal{.code = RefusalCode::overloaded};
        if (!id) {
            log::error("the catalogue cannot be written",
                       {{"event", spec.slug}, {"error", id.error().message}});
            return catalogue_is_read_only();
        }
        if (!*id) return Refusal{.code = RefusalCode::already_exists};
        made = engine_.add(**prepared, **id);
        if (made.event == nullptr) {
            // Somebody has changed the file: its next number is one that the engine has.
            log::error("the catalogue is not the one that is on sale",
                       {{"event", static_cast<std::int64_t>((**id).value())}});
            return catalogue_is_read_only();
        }
    }
    if (!submit_build(*made.event, 0)) build(*made.event, 0);
    return made;
}

/// False: it is to be done here and now.
bool EventSetup::submit_build(engine::LiveEvent& event, int tries) noexcept {
    try {
        // Small enough for a function that needs no memory.
        return submit_([this, id = event.spec().id, tries] { build(*engine_.find(id), tries); });
    } catch (std::bad_alloc const&) {
        return false;
    }
}

/// Only who asks first waits longer without it; the sale needs none of it.
void EventSetup::try_prepare_reads(engine::LiveEvent const& event) const noexcept {
    try {
        if (prepare_reads_ != nullptr) prepare_reads_(event);
    } catch (std::bad_alloc const&) {
        log::warn("no memory for what readers of an event are to find ready",
                  {{"event", event.spec().slug}});
    }
}

void EventSetup::build(engine::LiveEvent& event, int tries) noexcept {
    try_prepare_reads(event);
    for (; tries < tries_max; ++tries) {
        try {
            return engine_.build(event, {});
        } catch (std::bad_alloc const&) {
            log::error("no memory for the seats of an event; it is tried again",
                       {{"event", event.spec().slug}});
        }
        if (stopping_.get()) break;
        std::this_thread::sleep_for(memory_pause_);
        // Behind what others wait for, if there is a queue.
        if (submit_build(event, tries + 1)) return;
    }
    log::error("no memory for the seats of an event: the next start makes them",
               {{"event", event.spec().slug}});
}

}  // namespace holdfast::services
