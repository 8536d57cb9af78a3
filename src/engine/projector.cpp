#include "engine/projector_state.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::engine {
namespace {

using InsertResult = store::StoreResult<std::optional<EventId>>;

using ErrorKind = store::StoreError::Kind;

/// An event on its way to the store thread. Whoever waits may give up before its turn has come, but
/// not during it: what the catalogue has the engine must have.
struct Insertion {
    explicit Insertion(EventSpec const& the_spec) : spec(the_spec) {}
    std::optional<EventSpec> spec;
    InsertResult result{store::StoreError{ErrorKind::busy, "the store has no time for it"}};
    Published<int> turn{0};  // 1: begun, 2: given up
};

}  // namespace

Submitted Projector::State::submit(std::packaged_task<void()> job) {
    std::lock_guard const lock{mutex};
    if (stopping) return Submitted::stopping;
    if (jobs.size() >= limits::store_jobs_max) return Submitted::full;
    jobs.push_back(std::move(job));
    work.notify_one();
    return Submitted::yes;
}

Projector::Projector(store::Store& store, journal::Journal& journal, journal::Disk& disk,
                     std::filesystem::path const& data, FindSpec find_spec, ServerKey const& key,
                     Milliseconds retry)
    : state_(
          std::make_unique<State>(store, journal, disk, data, std::move(find_spec), key, retry)) {}

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

void Projector::stop(Milliseconds patience) noexcept {
    skip_check();
    std::lock_guard const lock{state_->mutex};
    state_->stopping = true;
    state_->stop_at = std::chrono::steady_clock::now() + patience;
    state_->work.notify_one();
}

void Projector::skip_check() noexcept {
    state_->store.skip_check();
}

void Projector::notify() noexcept {
    std::lock_guard const lock{state_->mutex};
    if (state_->idle) state_->work.notify_one();
}

Lsn Projector::applied_lsn() const noexcept {
    return state_->applied.get();
}

std::uint64_t Projector::times_gone_back() const noexcept {
    return state_->times_gone_back.get();
}

bool Projector::degraded() const noexcept {
    return state_->degraded.get();
}

bool Projector::in_doubt() const noexcept {
    return state_->in_doubt.get();
}

Lsn Projector::store_durable_lsn() const noexcept {
    return state_->store_durable.get();
}

void Projector::request_checkpoint() noexcept {
    std::lock_guard const lock{state_->mutex};
    state_->checkpoint_wanted = true;
    state_->work.notify_one();
}

bool Projector::wait_stored(Lsn lsn, Milliseconds limit) noexcept {
    State& state = *state_;
    std::unique_lock lock{state.mutex};
    state.changed.wait_for(
        lock, limit, [&] { return state.store_durable.get() >= lsn || state.degraded.get(); });
    return state.store_durable.get() >= lsn;
}

void Projector::hold_checkpoints(bool held) noexcept {
    State& state = *state_;
    std::lock_guard const lock{state.mutex};
    state.checkpoints_held = held;
    if (held || !std::exchange(state.checkpoint_missed, false)) return;
    state.checkpoint_wanted = true;
    state.work.notify_one();
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
    if (state_->submit(std::move(job)) != Submitted::yes) return false;
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

InsertResult Projector::insert_event(EventSpec const& spec, Milliseconds limit) {
    auto const insertion = std::make_shared<Insertion>(spec);
    std::packaged_task<void()> job([this, insertion] {
        if (!insertion->turn.replace(0, 1)) return;
        InsertResult& result = insertion->result;
        state_->with_memory([&] {
            result = state_->store.insert_event(*insertion->spec);
            if (!result) state_->note_doubt();  // also while nothing is followed
            if (state_->store.usable() || !state_->following) return;
            state_->degrade({result ? "the store is closed" : result.error().message, true});
        });
    });
    auto finished = job.get_future();
    Submitted const submitted = state_->submit(std::move(job));
    if (submitted == Submitted::stopping)
        return store::StoreError{ErrorKind::stopped, "the store is being closed"};
    if (submitted == Submitted::full) return std::move(insertion->result);
    bool const late = finished.wait_for(limit) != std::future_status::ready;
    if (late && insertion->turn.replace(0, 2)) {
        insertion->spec.reset();  // its turn may not come for long, and it has megabytes
        return std::move(insertion->result);
    }
    finished.get();
    return std::move(insertion->result);
}

}  // namespace holdfast::engine
