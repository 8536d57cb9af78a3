// The store thread: follows the journal, makes checkpoints, and mends what can be mended.
#include "engine/projector_state.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/base/log.hpp>
#include <holdfast/journal/base_file.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::engine {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t batch_records_max = 5'000;
constexpr auto batch_time_max = 50ms;
// Far behind, nobody's wait depends on one batch, and a page that many records touch (their ids are
// random) is written once a batch: half as much again in orders a second.
constexpr std::uint64_t catch_up_records_max = 50'000;
constexpr auto catch_up_time_max = 400ms;
// Read in pieces, so that a batch can end by time as well.
constexpr std::size_t piece_records = 500;
constexpr std::uint64_t wal_bytes_max = 64U << 20;
constexpr std::uint64_t wal_bytes_rest = 1U << 20;
constexpr auto rest_after = 1s;
constexpr std::uint64_t wal_bytes_retry = 16U << 20;
constexpr std::uint64_t checkpoint_misses_alarm = 3;
constexpr Milliseconds retry_longest{60'000};

std::int64_t number(Lsn lsn) {
    return static_cast<std::int64_t>(lsn.value());
}

}  // namespace

/// Records that can be applied now. None while SQLite does not follow.
std::uint64_t Projector::State::backlog() const noexcept {
    if (!following) return 0;
    Lsn const durable = journal.durable_lsn();
    return durable > position ? durable.value() - position.value() : 0;
}

/// Somebody waits, so that a batch must not be collected any longer. Under the mutex.
bool Projector::State::urgent() const noexcept {
    if (stopping || checkpoint_wanted) return true;
    if (!jobs.empty()) return true;
    return waiters != 0 && wanted > applied.get();
}

void Projector::State::wait_for_work(std::unique_lock<std::mutex>& lock) {
    // notify() takes the mutex after durable_lsn has moved, so no move falls between a look at the
    // backlog and the sleep.
    auto const asked = [this] { return stopping || !jobs.empty(); };
    if (!following) {
        work.wait_until(lock, retry_at, asked);
        return;
    }
    auto const has_work = [&] { return asked() || checkpoint_wanted || backlog() != 0; };
    if (work.wait_for(lock, rest_after, has_work)) return;
    lock.unlock();
    rest();
    lock.lock();
    if (following) work.wait(lock, has_work);
}

/// Blocks until there is work; false: stop() was called and everything is done.
bool Projector::State::wait() {
    std::unique_lock lock{mutex};
    idle = true;
    wait_for_work(lock);
    idle = false;
    bool const collects = backlog() != 0 && backlog() < batch_records_max;
    if (collects) work.wait_for(lock, batch_time_max, [this] { return urgent(); });
    if (!stopping || !jobs.empty()) return true;
    if (backlog() == 0) return false;
    if (std::chrono::steady_clock::now() < stop_at) return true;
    log::info("the store is behind at the stop",
              {{"records", static_cast<std::int64_t>(backlog())}});
    return false;
}

void Projector::State::run() {
    checkpoint_at = wal_bytes_max;
    with_memory([this] { follow(); });
    while (wait()) {
        run_jobs();
        with_memory([this] { turn(); });
    }
    if (following) with_memory([this] { checkpoint(); });
}

void Projector::State::turn() {
    if (!following) {
        try_again();
        return look_whether_well();
    }
    apply_batch();
    look_whether_well();
    bool asked{};
    {
        std::lock_guard const lock{mutex};
        asked = std::exchange(checkpoint_wanted, false);
    }
    bool const due = asked || store.wal_bytes() >= checkpoint_at;
    if (due && following) checkpoint();
}

/// The file was checked by nobody since it was opened: a bad page would show when it is needed.
void Projector::State::follow() {
    auto const good = store.check();
    bool const skipped = !good && store.usable();
    if (!good && !skipped) return degrade({good.error().message, true});
    if (auto const trouble = begin_following()) degrade(*trouble);
}

/// A reader and a projection as of the first record that is still there.
std::optional<StoreTrouble> Projector::State::begin_following() {
    auto const start = journal::first_segment_start(data, disk);
    if (!start) return StoreTrouble{start.error().message, true};
    // Nothing after it may be deleted until the reader has come by again.
    store_durable.set(no_lsn);
    projection.emplace(store, find_spec, key);
    if (store.identity().applied_lsn < start->before)
        return StoreTrouble{
            "the store has lost records that only it still had: restore a "
            "backup",
            false};
    auto opened = journal::read_from(data, disk, *start,
                                     [this](auto const base) { return projection->load(base); });
    if (!opened) return StoreTrouble{opened.error().message, opened.error().exit_code != 78};
    reader = *std::move(opened);
    position = start->before;
    following = true;
    return std::nullopt;
}

void Projector::State::try_again() {
    if (std::chrono::steady_clock::now() < retry_at) return;
    // Before anything is opened by its name: the folder may be another one's by now.
    auto const start = journal::first_segment_start(data, disk);
    if (!start) return degrade({start.error().message, true});
    Lsn const before = store.identity().applied_lsn;
    // What the disk has not, readers no longer find once the store is read from it anew.
    if (store.in_doubt()) go_back_to(std::min(applied.get(), kept));
    // Room for the journal's next segment, too.
    auto const opened = store.reopen(2 * journal.health().free_bytes_min);
    if (!opened) return degrade({opened.error().message, true});
    Lsn const now = store.identity().applied_lsn;
    if (now < before)
        log::warn("the store's file had lost what was written to it; it is applied again",
                  {{"applied_lsn_before", number(before)}, {"applied_lsn", number(now)}});
    kept = std::min(kept, now);
    go_back_to(now);
    if (auto const trouble = begin_following()) return degrade(*trouble);
    resumed_at = store.identity().applied_lsn;
}

void Projector::State::go_back_to(Lsn lsn) {
    std::lock_guard const lock{mutex};
    if (lsn < applied.get()) times_gone_back.set(times_gone_back.get() + 1);
    applied.set(lsn);
}

/// A disk that is full lets a file be opened and read, so that is no sign of health: each try that
/// only does that must wait longer than the one before.
void Projector::State::look_whether_well() {
    if (!following || !degraded.get()) return;
    bool const has_moved = store.identity().applied_lsn > resumed_at;
    if (!has_moved && backlog() != 0) return;
    if (!has_moved && !can_write()) return;
    log::info("the store follows the journal again",
              {{"applied_lsn", number(store.identity().applied_lsn)}});
    trouble_told.clear();
    retry_after = Milliseconds{0};
    std::lock_guard const lock{mutex};
    applied.set(store.identity().applied_lsn);  // A power cut in between may have taken some back.
    degraded.set(false);
}

/// Writes what the file says already, and syncs it.
bool Projector::State::can_write() {
    {
        std::lock_guard const lock{mutex};
        // Nothing would be synced; whoever lets go of them has it tried again.
        if (checkpoints_held) checkpoint_missed = true;
        if (checkpoints_held) return false;
    }
    auto const identity = store.identity();
    auto done = store.begin();
    if (done) done = store.commit(identity.applied_lsn, identity.applied_chain);
    if (!done) {
        degrade({done.error().message, true});
        return false;
    }
    checkpoint();
    return following;
}

/// Those that are there now. What one throws its own future gives.
void Projector::State::run_jobs() {
    std::size_t left{};
    {
        std::lock_guard const lock{mutex};
        left = jobs.size();
    }
    for (; left > 0; --left) {
        std::packaged_task<void()> job;
        {
            std::lock_guard const lock{mutex};
            job = std::move(jobs.front());
            jobs.pop_front();
        }
        job();
    }
}

void Projector::State::apply_batch() {
    if (backlog() == 0) return;
    std::uint32_t chain = 0;
    if (!read_batch(chain)) return;
    if (!projection->commit(position, chain)) return degrade(trouble_of_projection());
    wal_bytes.set(store.wal_bytes());
    publish(position);
}

/// What a record says that cannot be applied stays so; what ails SQLite may pass.
StoreTrouble Projector::State::trouble_of_projection() const {
    auto const failed = projection->store_failure();
    bool const passes = failed && *failed != store::StoreError::Kind::contradiction;
    return {*projection->failure(), passes};
}

/// Hands records to the projection until the batch is full or the backlog is gone.
bool Projector::State::read_batch(std::uint32_t& chain) {
    Lsn const until = journal.durable_lsn();
    Lsn const first = position;
    bool const is_far_behind = backlog() > catch_up_records_max;
    std::uint64_t const records_max = is_far_behind ? catch_up_records_max : batch_records_max;
    auto const deadline =
        std::chrono::steady_clock::now() + (is_far_behind ? catch_up_time_max : batch_time_max);
    do {
        auto const read = reader->read(until, piece_records, *projection);
        if (!read) {
            bool const refused = projection->failure().has_value();
            auto const trouble =
                refused ? trouble_of_projection() : StoreTrouble{read.error().message, true};
            store.roll_back();  // which may fail so that the store is in doubt
            degrade(trouble);
            return false;
        }
        HOLDFAST_ASSERT(read->last > position);
        position = read->last;
        chain = read->chain;
    } while (position < until && position.value() - first.value() < records_max &&
             std::chrono::steady_clock::now() < deadline);
    return true;
}

/// Nothing has happened for a while: a good time for a checkpoint, whose syncs slow the journal's.
void Projector::State::rest() {
    if (following && store.wal_bytes() >= wal_bytes_rest) with_memory([this] { checkpoint(); });
}

void Projector::State::checkpoint() {
    {
        std::lock_guard const lock{mutex};
        if (checkpoints_held) {
            checkpoint_missed = true;
            return;
        }
    }
    std::uint64_t const bytes = store.wal_bytes();
    auto const moved = store.checkpoint();
    if (!moved) return degrade({moved.error().message, true});
    if (*moved) {
        kept = store.identity().applied_lsn;
        checkpoint_at = wal_bytes_max;
        checkpoint_misses.set(0);
        wal_bytes.set(0);
        if (in_doubt.get()) return;
        // What the reader has yet to read again may not be deleted under it.
        std::lock_guard const lock{mutex};
        store_durable.set(std::min(store.identity().applied_lsn, position));
        changed.notify_all();
        return;
    }
    checkpoint_at = bytes + wal_bytes_retry;
    checkpoint_misses.set(checkpoint_misses.get() + 1);
    if (checkpoint_misses.get() != checkpoint_misses_alarm) return;
    log::warn("readers keep the store's WAL from being moved into its file",
              {{"wal_bytes", static_cast<std::int64_t>(bytes)}});
}

void Projector::State::note_doubt() noexcept {
    if (!store.in_doubt()) return;
    in_doubt.set(true);
}

void Projector::State::degrade(StoreTrouble const& trouble) noexcept {
    constexpr auto never = 24h * 365;
    following = false;
    note_doubt();
    store_durable.set(no_lsn);
    retry_after = std::clamp(2 * retry_after, retry, std::max(retry, retry_longest));
    retry_at = std::chrono::steady_clock::now();
    retry_at += trouble.passes ? std::chrono::nanoseconds{retry_after} : never;
    try {
        tell(trouble);
    } catch (std::bad_alloc const&) {
        // It is told the next time.
    }
    std::lock_guard const lock{mutex};
    degraded.set(true);
    changed.notify_all();
}

void Projector::State::tell(StoreTrouble const& trouble) {
    if (trouble_told == trouble.why) return;
    trouble_told = trouble.why;
    log::error(trouble.passes ? "the store follows the journal no longer; sales go on, it is "
                                "tried again"
                              : "the store follows the journal no longer; sales go on, look "
                                "at it and restart",
               {{"why", trouble.why},
                {"applied_lsn", number(applied.get())},
                {"remedy",
                 "a disk without space or that fails, or want of memory: mend that; a damaged "
                 "store.db: stop the server and `holdfast rebuild`"}});
}

void Projector::State::publish(Lsn lsn) {
    // While a start reads what is applied already, the position is behind.
    if (lsn <= applied.get()) return;
    std::lock_guard const lock{mutex};
    applied.set(lsn);
    changed.notify_all();
}

}  // namespace holdfast::engine
