// Snapshot: the store as of one moment, and a copy of it by SQLite's online backup.
//
// Purpose: the store's part of a backup. take() begins one read transaction and reads identity() in
//   it; copy_to() makes a file of exactly that moment, though the store is written meanwhile.
// Thread safety: one thread, any; no thread of the store waits for it.
// Invariants: a reader only: it never writes and never checkpoints (RELIABILITY.md F2). The copy is
//   whole without a -wal. The 2 s of a Reader do not bound it: while it lives it pins the WAL, so
//   whoever takes one keeps checkpoints off (they would only wait for it) and drops it soon.
// Cost: take() is one small read; copy_to() reads and writes every page, a megabyte at a time.
#pragma once

#include <holdfast/store/store.hpp>

#include <filesystem>
#include <functional>
#include <memory>

namespace holdfast::store {

class Snapshot {
public:
    [[nodiscard]] static StoreResult<std::unique_ptr<Snapshot>> take(
        std::filesystem::path const& file);
    ~Snapshot();
    Snapshot(Snapshot const&) = delete;
    Snapshot& operator=(Snapshot const&) = delete;

    [[nodiscard]] Identity const& identity() const noexcept;
    /// Makes and syncs the file `to` (mode 0600), which must not exist. `between` is called between
    /// pieces; false abandons the copy, which is SQLITE_ABORT. What is made of it stays then.
    [[nodiscard]] StoreResult<void> copy_to(std::filesystem::path const& to,
                                            std::function<bool()> const& between);

private:
    struct State;
    explicit Snapshot(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace holdfast::store
