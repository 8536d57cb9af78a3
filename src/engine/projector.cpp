#include "engine/projection.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/base/log.hpp>
#include <holdfast/base/published.hpp>
#include <holdfast/engine/projector.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::engine {
namespace {

using namespace std::chrono_literals;
using InsertResult = store::StoreResult<std::optional<EventId>>;

constexpr std::uint64_t batch_records_max = 5'000;
constexpr auto batch_time_max = 50ms;
// Read in pieces, so that a batch can end by time as well.
constexpr std::size_t piece_records = 500;
constexpr std::uint64_t wal_bytes_max = 64U << 20;
constexpr std::uint64_t wal_bytes_rest = 1U << 20;
constexpr auto rest_after = 1s;
constexpr std::uint64_t wal_bytes_retry = 16U << 20;
constexpr int checkpoint_misses_alarm = 3;
constexpr int stopped_code = 9;  // SQLITE_INTERRUPT

struct InsertJob {
    EventSpec const* spec;  // of the caller, who waits
    std::promise<InsertResult> result;
};

}  // namespace

struct Projector::State {
    State(store::Store& the_store, journal::Journal& the_journal, journal::Disk& disk,
          std::filesystem::path const& data, FindEvent find_event, ServerKey const& key)
        : store(the_store),
          journal(the_journal),
          // From the first record, though the store is further: only the CLAIM records know the
          // seats of the holds that are still open. No segment is ever deleted in this version;
          // up to applied_lsn the records feed nothing but the map of holds.
          reader(data, disk, no_lsn),
          projection(the_store, std::move(find_event), key),
          applied(the_store.identity().applied_lsn) {}

    void run();
    [[nodiscard]] bool wait();
    [[nodiscard]] std::uint64_t backlog() const noexcept;
    [[nodiscard]] bool urgent() const noexcept;
    void run_jobs();
    void apply_batch();
    [[nodiscard]] bool read_batch(std::uint32_t& chain);
    void rest();
    void checkpoint();
    void degrade(std::string_view why);
    void publish(Lsn lsn);

    store::Store& store;
    journal::Journal& journal;
    // Of the store thread alone.
    journal::TailReader reader;
    Projection projection;
    Lsn position{};  // read so far
    std::uint64_t checkpoint_at{wal_bytes_max};
    int checkpoint_misses{};
    // Any thread may read.
    Published<Lsn> applied;
    Published<bool> degraded{false};

    std::mutex mutex;
    std::condition_variable work;     // the store thread waits here
    std::condition_variable changed;  // wait_applied waits here
    // Under the mutex.
    std::deque<InsertJob> jobs;
    bool idle{};  // the store thread waits for notify()
    bool stopping{};
    unsigned waiters{};
    Lsn wanted{};  // the newest LSN that a waiter needs
};

/// Records that can be applied now. None once SQLite has failed.
std::uint64_t Projector::State::backlog() const noexcept {
    if (degraded.get()) return 0;
    Lsn const durable = journal.durable_lsn();
    return durable > position ? durable.value() - position.value() : 0;
}

/// Somebody waits, so that a batch must not be collected any longer. Under the mutex.
bool Projector::State::urgent() const noexcept {
    if (stopping) return true;
    if (!jobs.empty()) return true;
    return waiters != 0 && wanted > applied.get();
}

/// Blocks until there is work; false: stop() was called and everything is done.
bool Projector::State::wait() {
    std::unique_lock lock{mutex};
    // notify() takes the mutex after durable_lsn has moved, so no move falls between a look at the
    // backlog and the sleep.
    idle = true;
    auto const has_work = [this] { return stopping || !jobs.empty() || backlog() != 0; };
    if (!work.wait_for(lock, rest_after, has_work)) {
        lock.unlock();
        rest();
        lock.lock();
        work.wait(lock, has_work);
    }
    idle = false;
    bool const collects = backlog() != 0 && backlog() < batch_records_max;
    if (collects) work.wait_for(lock, batch_time_max, [this] { return urgent(); });
    return !stopping || !jobs.empty() || backlog() != 0;
}

void Projector::State::run() {
    while (wait()) {
        run_jobs();
        apply_batch();
        if (!degraded.get() && store.wal_bytes() >= checkpoint_at) checkpoint();
    }
    if (!degraded.get()) checkpoint();
}

void Projector::State::run_jobs() {
    std::deque<InsertJob> taken;
    {
        std::lock_guard const lock{mutex};
        taken.swap(jobs);
    }
    for (InsertJob& job : taken) {
        InsertResult result = store.insert_event(*job.spec);
        if (!store.usable()) degrade(result ? "the store is closed" : result.error().message);
        job.result.set_value(std::move(result));  // from here on the caller's spec may be gone
    }
}

void Projector::State::apply_batch() {
    if (backlog() == 0) return;
    std::uint32_t chain = 0;
    bool done = read_batch(chain);
    if (done) {
        done = projection.commit(position, chain);
        if (!done) degrade(*projection.failure());
    }
    if (done) publish(position);
}

/// Hands records to the projection until the batch is full or the backlog is gone.
bool Projector::State::read_batch(std::uint32_t& chain) {
    Lsn const until = journal.durable_lsn();
    Lsn const first = position;
    auto const deadline = std::chrono::steady_clock::now() + batch_time_max;
    do {
        auto const read = reader.read(until, piece_records, projection);
        if (!read) {
            degrade(projection.failure() ? *projection.failure() : read.error().message);
            store.roll_back();
            return false;
        }
        HOLDFAST_ASSERT(read->last > position);
        position = read->last;
        chain = read->chain;
    } while (position < until && position.value() - first.value() < batch_records_max &&
             std::chrono::steady_clock::now() < deadline);
    return true;
}

/// Nothing has happened for a while: a good time for a checkpoint, whose syncs slow the journal's.
void Projector::State::rest() {
    if (degraded.get()) return;
    if (store.wal_bytes() >= wal_bytes_rest) checkpoint();
}

void Projector::State::checkpoint() {
    std::uint64_t const bytes = store.wal_bytes();
    auto const moved = store.checkpoint();
    if (!moved) {
        degrade(moved.error().message);
    } else if (*moved) {
        checkpoint_at = wal_bytes_max;
        checkpoint_misses = 0;
    } else {
        checkpoint_at = bytes + wal_bytes_retry;
        if (++checkpoint_misses != checkpoint_misses_alarm) return;
        log::warn("readers keep the store's WAL from being moved into its file",
                  {{"wal_bytes", static_cast<std::int64_t>(bytes)}});
    }
}

void Projector::State::degrade(std::string_view why) {
    if (degraded.get()) return;
    log::error("the store follows the journal no longer; sales go on, restart to mend it",
               {{"why", why}, {"applied_lsn", static_cast<std::int64_t>(applied.get().value())}});
    std::lock_guard const lock{mutex};
    degraded.set(true);
    changed.notify_all();
}

void Projector::State::publish(Lsn lsn) {
    // While a start reads what is applied already, the position is behind.
    if (lsn <= applied.get()) return;
    std::lock_guard const lock{mutex};
    applied.set(lsn);
    changed.notify_all();
}

Projector::Projector(store::Store& store, journal::Journal& journal, journal::Disk& disk,
                     std::filesystem::path const& data, FindEvent find_event, ServerKey const& key)
    : state_(std::make_unique<State>(store, journal, disk, data, std::move(find_event), key)) {}

Projector::Projector(store::Store& store, journal::Journal& journal, journal::Disk& disk,
                     std::filesystem::path const& data, Engine const& engine, ServerKey const& key)
    : Projector(
          store, journal, disk, data,
          [&engine](EventId id) -> EventSpec const* {
              LiveEvent const* const event = engine.find(id);
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
    InsertJob job{&spec, {}};
    auto result = job.result.get_future();
    {
        std::lock_guard const lock{state_->mutex};
        if (state_->stopping) return store::StoreError{stopped_code, "the store is being closed"};
        state_->jobs.push_back(std::move(job));
        state_->work.notify_one();
    }
    return result.get();
}

}  // namespace holdfast::engine
