// Projector: the store thread's work. Catalogue writes on request, journal records in batches.
//
// Purpose: keeps SQLite following the journal, and is the only writer of SQLite.
// Thread safety: run on the store thread; all else: any thread (insert_event, wait_applied and
//   when_stored block; never call them on an io thread).
// Invariants: only records with lsn <= durable_lsn are applied, in order, with applied_lsn in the
//   same transaction. If SQLite fails, or there is no memory for what the store thread does, the
//   projector says so (degraded) and the journal goes on; it tries again with a new connection and
//   a checked file, goes on from applied_lsn, and is degraded until it has applied something new or
//   a sync has shown that it could. Records that contradict
//   each other, or a file that lost what was durable, degrade it until restart.
//   store_durable_lsn never runs ahead of a checkpoint, of applied_lsn or of the reader.
// Cost: at most about 5,000 records or 50 ms a transaction, 50,000 or 400 ms while it is far
//   behind; a batch is collected for up to 50 ms unless somebody waits for it. At start, and
//   after a failure, the file is checked and the journal is read once more, from its base file or
//   first record: the seats of holds that are still open stand nowhere else.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/engine/engine.hpp>
#include <holdfast/engine/find_spec.hpp>
#include <holdfast/engine/server_key.hpp>
#include <holdfast/journal/recovery.hpp>
#include <holdfast/store/store.hpp>

#include <filesystem>
#include <functional>
#include <memory>

namespace holdfast::engine {

class Projector {
public:
    /// How long after a failure SQLite is tried again; longer after each further one.
    static constexpr Milliseconds retry_default{5'000};
    /// How long an event waits for its turn on the store thread: less than a handler has (http).
    static constexpr Milliseconds insert_patience{3'000};

    /// `find_spec` is called on the store thread.
    Projector(store::Store& store, journal::Journal& journal, journal::Disk& disk,
              std::filesystem::path const& data, FindSpec find_spec, ServerKey const& key,
              Milliseconds retry = retry_default);
    Projector(store::Store& store, journal::Journal& journal, journal::Disk& disk,
              std::filesystem::path const& data, Engine const& engine, ServerKey const& key);
    ~Projector();
    Projector(Projector const&) = delete;
    Projector& operator=(Projector const&) = delete;
    /// The loop of the store thread; returns after stop(), when everything durable is applied, or
    /// some seconds later: the next start applies the rest.
    void run();
    /// Enough for what a running projector lags behind.
    static constexpr Milliseconds stop_patience{4'000};
    void stop(Milliseconds patience = stop_patience) noexcept;
    /// durable_lsn moved. Never blocks for longer than a few instructions of the store thread.
    void notify() noexcept;
    /// It goes back when the disk has lost what was applied, before a reader can find it missing.
    [[nodiscard]] Lsn applied_lsn() const noexcept;
    /// How often it has: a read in between may have missed what was applied before it.
    [[nodiscard]] std::uint64_t times_gone_back() const noexcept;
    [[nodiscard]] bool degraded() const noexcept;
    /// SQLite has failed so that what it calls synced may not be (Store::in_doubt). Its file is
    /// read from the disk before anything else is done with it; all the same store_durable_lsn
    /// stays 0 from then on.
    [[nodiscard]] bool in_doubt() const noexcept;
    /// What a power cut now would leave in the store at least; 0 before the first checkpoint, from
    /// a failure until the next one, and while in doubt.
    [[nodiscard]] Lsn store_durable_lsn() const noexcept;
    void request_checkpoint() noexcept;
    /// Blocks until store_durable_lsn is `lsn` or more; false after `limit` or when degraded.
    [[nodiscard]] bool wait_stored(Lsn lsn, Milliseconds limit) noexcept;
    /// Gives up the check of the whole file that a start makes, as it may take minutes.
    void skip_check() noexcept;
    /// While held none is tried: for who reads the store for longer, and would only be in the way.
    /// One that was due meanwhile is made up for.
    void hold_checkpoints(bool held) noexcept;
    struct CheckpointCounts {
        std::uint64_t wal_bytes{};  // since the last checkpoint
        std::uint64_t misses{};     // checkpoints in a row that readers were in the way of
    };
    [[nodiscard]] CheckpointCounts checkpoint_counts() const noexcept;
    /// Acts on the store thread, between two batches, if store_durable_lsn is `before` or more;
    /// tells whether it did (not if limits::store_jobs_max wait for it already). Nobody reads
    /// records up to `before` then.
    bool when_stored(Lsn before, std::function<void()> const& act);
    /// Blocks until records up to `lsn` are applied; false after `limit` or when degraded.
    [[nodiscard]] bool wait_applied(Lsn lsn, Milliseconds limit) noexcept;
    /// Inserts on the store thread and waits for it. An empty optional: the slug is in use. An
    /// error after stop(), when SQLite has failed, or when the store thread had no time for it
    /// within `limit` or too much to do already (kind busy); nothing was inserted then.
    [[nodiscard]] store::StoreResult<std::optional<EventId>> insert_event(
        EventSpec const& spec, Milliseconds limit = insert_patience);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace holdfast::engine
