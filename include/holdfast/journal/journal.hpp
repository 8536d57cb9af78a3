// Journal: the append-only truth. Nothing is acknowledged before its record is on disk.
//
// Purpose: producers append records to memory without a lock; one thread writes them in groups (one
//   pwrite, one fdatasync each) and then moves durable_lsn.
// Thread safety: reserve, give_back, append, durable_lsn, appended_lsn, mode: any thread. open and
//   close: one owner.
// Invariants: LSNs are dense and in append order; a reserved append never fails or waits; at most
//   one sync is in flight; a failed write or sync is final (mode failed), never retried.
// Cost: append is one CAS, one copy and one fetch_add, and a system call if the journal thread
//   sleeps. No allocation.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/base/entropy.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/refusal.hpp>
#include <holdfast/journal/disk.hpp>
#include <holdfast/journal/record.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::journal {

enum class Mode : std::uint8_t {
    running = 0,
    read_only = 2,  // no space for the next segment, or as large as it may be: heals itself
    failed = 3,     // a write or sync failed: final until restart
};

struct Options {
    std::filesystem::path data;  // the data folder; the journal lies below it
    // Multiple of 4096, 64 KiB ... 1 GiB; below limits::segment_bytes_min, as tests have them,
    // there is no room for the largest records.
    std::uint64_t segment_bytes{64U << 20};
    std::uint64_t free_bytes_min{64U << 20};  // less free space: read-only
    // More segments and spares than this: read-only until older ones are deleted. 0: no such limit.
    std::uint64_t journal_bytes_max{std::uint64_t{4} << 30};
    Milliseconds idle_close{5};       // RELIABILITY 3.4: empty group after the last ack
    Milliseconds space_retry{5'000};  // after a spare segment could not be made
    Entropy* entropy{&system_entropy()};
};

/// Where a recovered journal ended; the next segment seals it.
struct Tail {
    StoreId store_id{};
    Lsn last_lsn{};
    std::uint32_t chain{};
    std::uint32_t boot_epoch{};    // of the run before; open() uses the next one
    std::uint64_t last_segment{};  // 0: no journal yet
    std::uint64_t first_segment{1};
    TimePoint last_wall{};  // the newest time in the journal
    bool clean{};           // the run before ended with a CLEAN seal
};

struct Failure {
    int exit_code{};      // RELIABILITY 3.7: 75 ... 78, or 1
    std::string message;  // one line: what, where, what to do
};
[[noreturn]] void throw_exception_from_error(Failure const&, boost::source_location const&);

/// What must be on disk before anybody else appends.
struct FirstRecord {
    RecordType type{};
    std::uint8_t version{};
    std::vector<std::byte> payload;
};

/// Called on the journal thread after each group is on disk, and once when the journal fails.
class DurableListener {
public:
    virtual ~DurableListener() = default;
    virtual void durable_advanced() noexcept = 0;
};

/// How the journal's disk does.
struct Health {
    std::uint64_t slow_syncs{};      // longer than a second, since the start
    bool sheds{};                    // a sync under way takes longer than 10 s
    std::uint64_t bytes{};           // of segments and spares
    std::uint64_t bytes_max{};       // 0: no limit
    std::uint64_t free_bytes_min{};  // with less free it takes nothing
    std::uint64_t groups{};          // written since the start
    bool space_is_short{};           // little is free, though enough to go on
    [[nodiscard]] bool is_full() const noexcept { return bytes_max != 0 && bytes > bytes_max; }
};

class Journal {
public:
    /// Makes and syncs the first segment of this run, then starts the journal thread. `first` is
    /// durable when it returns, also if there is room for nothing more: a server whose journal is
    /// full must start, or nobody would ever delete a segment.
    [[nodiscard]] static ResultOf<std::unique_ptr<Journal>, Failure> open(
        Options const& options, Disk& disk, Clock const& clock, Tail const& tail,
        DurableListener& listener, std::optional<FirstRecord> const& first = {});
    virtual ~Journal() = default;

    /// Room for records of `bytes` in all, headers included. False: nothing reserved; ask mode().
    /// While one sync or one change of segments takes longer than 10 s there is no room: what is
    /// accepted would only wait.
    [[nodiscard]] virtual bool reserve(std::size_t bytes) noexcept = 0;
    /// Returns what a reservation did not use.
    virtual void give_back(std::size_t bytes) noexcept = 0;
    /// Appends one record out of the caller's reservation (header + payload bytes of it).
    virtual Lsn append(RecordType type, std::uint8_t version,
                       std::span<std::byte const> payload) noexcept = 0;

    /// Between the two, what this thread appends is only collected (up to 16 KiB), so that the
    /// requests of one turn make one group; the end asks for all of it to be written. A thread has
    /// one turn at a time, and nobody may wait for its records meanwhile but through wait_durable.
    virtual void begin_turn() noexcept {}
    virtual void end_turn() noexcept {}

    /// All records up to here are on disk.
    [[nodiscard]] virtual Lsn durable_lsn() const noexcept = 0;
    /// The newest LSN handed out.
    [[nodiscard]] virtual Lsn appended_lsn() const noexcept = 0;
    [[nodiscard]] virtual Mode mode() const noexcept = 0;
    [[nodiscard]] virtual Health health() const noexcept { return {}; }
    /// Blocks until `lsn` is durable (true) or the journal failed (false). For worker threads only.
    [[nodiscard]] virtual bool wait_durable(Lsn lsn) noexcept = 0;
    /// The same; false also after `limit`.
    [[nodiscard]] virtual bool wait_durable_for(Lsn lsn, Milliseconds /*limit*/) noexcept {
        return wait_durable(lsn);
    }
    /// From now on a start needs no segment before this one: true once both pages of META say so,
    /// and older segments may be deleted. Waits for the disk; one thread at a time, before close.
    [[nodiscard]] virtual bool keep_from(std::uint64_t segment) = 0;
    /// Whoever waits in keep_from() or calls it later waits no longer. Any thread; for good. The
    /// default is for those who never let anybody wait.
    virtual void end_keep_from() noexcept {}
    /// Writes what is left and a CLEAN seal, and stops the thread. No append may follow.
    virtual void close() noexcept = 0;
};

/// The refusal of a journal that is not running, with the reason.
[[nodiscard]] inline Refusal read_only(Journal const& journal) noexcept {
    Refusal refusal;
    refusal.code = RefusalCode::read_only;
    if (journal.mode() == Mode::failed)
        refusal.read_only_reason = ReadOnlyReason::journal_failed;
    else
        refusal.read_only_reason =
            journal.health().is_full() ? ReadOnlyReason::journal_full : ReadOnlyReason::space;
    return refusal;
}

}  // namespace holdfast::journal
