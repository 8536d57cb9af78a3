// FailingVfs: SQLite's files, where the n-th call of a kind can be made to fail.
//
// Purpose: RELIABILITY.md 4.6, all n, in the process of the test. Thread safety: made and destroyed
//   while nobody uses SQLite; else any thread.
// Invariants: while one lives it is the default of every new connection; all else goes to the file
//   system that was the default before.
#pragma once

#include <cstdint>

struct sqlite3_vfs;

namespace holdfast::store {

class FailingVfs {
public:
    enum class Call : std::uint8_t { read, write, sync, open, remove };  // write: also truncate

    FailingVfs();
    ~FailingVfs();
    FailingVfs(FailingVfs const&) = delete;
    FailingVfs& operator=(FailingVfs const&) = delete;

    /// The n-th such call from now on fails with `code` (1 is the next one), and if `lasting` all
    /// after it.
    void fail(Call call, long nth, bool lasting, int code);
    void fail_nothing();
    /// One has failed since that was said.
    [[nodiscard]] bool met() const;
};

}  // namespace holdfast::store
