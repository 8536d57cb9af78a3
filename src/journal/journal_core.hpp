// JournalCore: all of the journal but its threads.
//
// Purpose: what is written and when, in steps that somebody calls: the journal thread and the
//   upkeep thread of the real journal (journal.cpp), or a simulation, one step after the other.
// Thread safety: reserve, give_back, append, durable_lsn, appended_lsn, mode: any
//   thread. prepare: the owner, before all else. The rest: the journal thread.
// Invariants: those of journal.hpp. A step ends with its group on disk, or with the journal failed.
//   The steps of the journal thread need no memory.
// Cost: write_next is one pwrite and one fdatasync.
#pragma once

#include "journal/buffer.hpp"
#include "journal/meta.hpp"
#include "journal/segment_writer.hpp"
#include "journal/shared_state.hpp"
#include "journal/upkeep.hpp"

#include <functional>
#include <string_view>

namespace holdfast::journal {

class JournalCore {
public:
    /// `listener` hears of each advance of durable_lsn, in the step that made it. `on_failure`: see
    /// Upkeep.
    JournalCore(Options const& options, Disk& disk, Clock const& clock, Tail const& tail,
                DurableListener& listener, std::function<void()> on_failure);

    /// The steps of RELIABILITY 3.4 before anything may be appended.
    [[nodiscard]] std::error_code prepare(Tail const& tail);

    [[nodiscard]] bool reserve(std::size_t bytes) noexcept {
        if (shared_.mode.load(std::memory_order_acquire) != Mode::running) return false;
        if (is_shedding()) return false;
        return buffer_.reserve(bytes);
    }
    void give_back(std::size_t bytes) noexcept { buffer_.give_back(bytes); }
    Lsn append(RecordType type, std::uint8_t version, std::span<std::byte const> payload) noexcept {
        return buffer_.append(type, version, payload, shared_.durable);
    }
    // acquire: what was made durable before is seen by whoever sees the LSN.
    [[nodiscard]] Lsn durable_lsn() const noexcept {
        return Lsn{shared_.durable.load(std::memory_order_acquire)};
    }
    [[nodiscard]] Lsn appended_lsn() const noexcept {
        return buffer_.appended_lsn(shared_.durable);
    }
    [[nodiscard]] Mode mode() const noexcept {
        return shared_.mode.load(std::memory_order_acquire);
    }
    [[nodiscard]] Health health() const noexcept;
    // seq_cst: for waiters that were counted before (journal.cpp).
    [[nodiscard]] std::uint64_t durable_now() const noexcept { return shared_.durable.load(); }
    [[nodiscard]] bool failed() const noexcept { return shared_.failed(); }

    /// Writes and syncs the oldest records; false: there are none, or the journal has failed.
    bool write_next();
    /// Nothing on disk says yet that the last group is durable: damage to it would pass for a torn
    /// tail.
    [[nodiscard]] bool quiet_group_due() const noexcept { return carried_lsn_ < durable_now(); }
    /// An empty group that carries durable_lsn to disk.
    void write_quiet_group();
    /// The last group of a run that ends well.
    void write_clean_seal();
    /// After the seal, when the upkeep does nothing more.
    void store_clean_meta();

    [[nodiscard]] Upkeep& upkeep() noexcept { return upkeep_; }

private:
    // relaxed: a hint. A call too many waits in the buffer, as those before it do.
    [[nodiscard]] bool is_shedding() const noexcept {
        std::int64_t const since = shared_.sync_since.load(std::memory_order_relaxed);
        return since != 0 && is_too_long(since);
    }
    [[nodiscard]] bool is_too_long(std::int64_t since) const noexcept;
    [[nodiscard]] std::error_code sync();
    void note_live_segment() noexcept;
    [[nodiscard]] std::error_code remove_leftovers(MetaPage const& page);
    void write_block(Buffer::Filled const& filled);
    [[nodiscard]] bool write_in_pieces(Buffer::Filled const& filled, std::uint32_t records);
    [[nodiscard]] bool write_group(std::span<std::byte> bytes, std::size_t payload_bytes,
                                   std::uint32_t records, std::uint32_t flags);
    [[nodiscard]] bool write_empty_group(std::uint32_t flags);
    [[nodiscard]] bool begin_segment();
    /// Ends all acknowledging until restart; gives false.
    [[nodiscard]] bool fail(std::string_view step, std::error_code error) noexcept;
    [[nodiscard]] bool sync_and_publish();

    Options const options_;
    Disk& disk_;
    Clock const& clock_;
    DurableListener& listener_;
    SharedState shared_;
    Buffer buffer_;

    // Journal thread only.
    SegmentWriter writer_;
    std::uint64_t carried_lsn_{0};  // highest durable_lsn that a group on disk carries
    bool next_settled_{false};

    Meta meta_;  // upkeep thread while it runs
    Upkeep upkeep_;
    AlignedBytes scratch_;  // an empty group
    AlignedBytes piece_;    // of a block of more records than a group may have
};

/// Whether a journal can be run with these options; what to say if not.
[[nodiscard]] std::optional<Failure> impossible(Options const& options);

}  // namespace holdfast::journal
