// Projector: the store thread's work. Catalogue writes on request, journal records in batches.
//
// Purpose: keeps SQLite following the journal, and is the only writer of SQLite.
// Thread safety: run on the store thread; insert_event, wait_applied, applied_lsn, stop, notify:
// any thread
//   (insert_event and wait_applied block; never call them on an io thread).
// Invariants: only records with lsn <= durable_lsn are applied, in order, with applied_lsn in the
// same
//   transaction. If SQLite fails the projector says so (degraded) and the journal goes on.
// Cost: at most 5,000 records or 50 ms a transaction.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/engine/engine.hpp>
#include <holdfast/journal/recovery.hpp>
#include <holdfast/store/store.hpp>

#include <memory>

namespace holdfast::engine {

class Projector {
public:
    Projector(store::Store& store, journal::Journal& journal, journal::Disk& disk,
              std::filesystem::path const& data, Engine const& engine, ServerKey const& key);
    ~Projector();
    /// The loop of the store thread; returns after stop(), when everything durable is applied.
    void run();
    void stop() noexcept;
    /// durable_lsn moved.
    void notify() noexcept;
    [[nodiscard]] Lsn applied_lsn() const noexcept;
    [[nodiscard]] bool degraded() const noexcept;
    /// Blocks until records up to `lsn` are applied; false after `limit` or when degraded.
    [[nodiscard]] bool wait_applied(Lsn lsn, Milliseconds limit) noexcept;
    /// Inserts on the store thread and waits for it. An empty optional: the slug is in use.
    [[nodiscard]] store::StoreResult<std::optional<EventId>> insert_event(EventSpec const& spec);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace holdfast::engine
