#include "engine/projector_state.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::engine {
namespace {

using InsertResult = store::StoreResult<std::optional<EventId>>;

constexpr int stopped_code = 9;  // SQLITE_INTERRUPT

}  // namespace

bool Projector::State::submit(std::packaged_task<void()> job) {
    std::lock_guard const lock{mutex};
    if (stopping) return false;
    jobs.push_back(std::move(job));
    work.notify_one();
    return true;
}

Projector::Projector(store::Store& store, journal::Journal& journal, journal::Disk& disk,
                     std::filesystem::path const& data, FindEvent find_event, ServerKey const& key,
                     Milliseconds retry)
    : state_(
          std::make_unique<State>(store, journal, disk, data, std::move(find_event), key, retry)) {}

Projector::Projector(store::Store& store, journal::Journal& journal, journal::Disk& disk,
                     std::filesystem::path const& data, Engine const& engine, ServerKey const& key)
    : Projector(
          store, journal, disk, data,
          [&engine](EventId id) -> EventSpec const* {
              LiveEvent* const event = engine.find(id);
              return event == nullptr ? nullptr : &event->spec();
          },
          key) {}

Projector::~Projector() = default;

void Projector::run() {
    state_->run();
}

void Projector::stop() noexcept {
    std::lock_guard const lock{state_->mutex};
    state_->stopping = true;
    state_->work.notify_one();
}

void Projector::notify() noexcept {
    std::lock_guard const lock{state_->mutex};
    if (state_->idle) state_->work.notify_one();
}

Lsn Projector::applied_lsn() const noexcept {
    return state_->applied.get();
}

bool Projector::degraded() const noexcept {
    return state_->degraded.get();
}

bool Projector::has_failed() const noexcept {
    return state_->has_failed.get();
}

Lsn Projector::store_durable_lsn() const noexcept {
    return state_->store_durable.get();
}

void Projector::request_checkpoint() noexcept {
    std::lock_guard const lock{state_->mutex};
    state_->checkpoint_wanted = true;
    state_->work.notify_one();
}

Projector::CheckpointCounts Projector::checkpoint_counts() const noexcept {
    return {state_->wal_bytes.get(), state_->checkpoint_misses.get()};
}

bool Projector::when_stored(Lsn before, std::function<void()> const& act) {
    bool done = false;
    std::packaged_task<void()> job([this, before, &act, &done] {
        // While it is degraded its next reader may begin anywhere.
        if (state_->degraded.get() || state_->store_durable.get() < before) return;
        act();
        done = true;
    });
    auto finished = job.get_future();
    if (!state_->submit(std::move(job))) return false;
    finished.get();
    return done;
}

bool Projector::wait_applied(Lsn lsn, Milliseconds limit) noexcept {
    State& state = *state_;
    if (state.applied.get() >= lsn) return true;
    std::unique_lock lock{state.mutex};
    ++state.waiters;
    state.wanted = std::max(state.wanted, lsn);
    state.work.notify_one();
    state.changed.wait_for(lock, limit,
                           [&] { return state.applied.get() >= lsn || state.degraded.get(); });
    if (--state.waiters == 0) state.wanted = no_lsn;
    return state.applied.get() >= lsn;
}

InsertResult Projector::insert_event(EventSpec const& spec) {
    InsertResult result = store::StoreError{stopped_code, "the store is being closed"};
    std::packaged_task<void()> job([this, &spec, &result] {
        result = state_->store.insert_event(spec);
        if (state_->store.usable() || state_->degraded.get()) return;
        state_->degrade({result ? "the store is closed" : result.error().message, true});
    });
    auto finished = job.get_future();
    if (state_->submit(std::move(job))) finished.get();
    return result;
}

}  // namespace holdfast::engine
