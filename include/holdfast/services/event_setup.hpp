// Event setup: from an accepted EventSpec to seats on sale.
//
// Purpose: puts the event into the catalogue (durable), makes it known, and builds its seats in a
//   job.
// Thread safety: create from any worker thread.
// Cost: one catalogue transaction; building is linear.
// Invariants: the event is known only after the catalogue has it; it opens only when its seats
//   exist, and what readers are to find ready. Without memory for them it is tried again, for some
//   seconds.
#pragma once

#include <holdfast/base/published.hpp>
#include <holdfast/domain/event.hpp>
#include <holdfast/domain/refusal.hpp>
#include <holdfast/engine/engine.hpp>
#include <holdfast/engine/projector.hpp>

#include <functional>
#include <mutex>

namespace holdfast::services {

class EventSetup {
public:
    /// `submit` runs a job on a worker; false = queue full, then the job runs in place.
    /// `prepare_reads`, if any, is called before the seats are built, by who builds them.
    EventSetup(engine::Engine& engine, engine::Projector& projector,
               std::function<bool(std::function<void()>)> submit,
               std::function<void(engine::LiveEvent const&)> prepare_reads = {},
               Milliseconds memory_pause = Milliseconds{20});
    /// already_exists if the slug is in use; read_only if the catalogue or the journal cannot be
    /// written, overloaded if they have no room or time. Its LSN is to be waited for before
    /// anybody is told.
    [[nodiscard]] Result<engine::MadeEvent> create(EventSpec spec);
    /// Seats for which there is no memory now are left to the next start.
    void stop() noexcept { stopping_.set(true); }

private:
    [[nodiscard]] bool submit_build(engine::LiveEvent& event, int tries) noexcept;
    /// `tries`: how often it has been in vain.
    void build(engine::LiveEvent& event, int tries) noexcept;

    engine::Engine& engine_;
    engine::Projector& projector_;
    std::function<bool(std::function<void()>)> submit_;
    std::function<void(engine::LiveEvent const&)> prepare_reads_;
    Milliseconds memory_pause_;
    Published<bool> stopping_{false};
    std::mutex mutex_;  // over the catalogue and the engine, so that both know the same events
};

}  // namespace holdfast::services
