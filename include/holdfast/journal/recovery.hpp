// Recovery: reads a journal back and decides by the table of RELIABILITY.md 3.4.
//
// Purpose: hands every kept record to a sink in LSN order and says where the tail is, or why the
//   server must not start.
// Thread safety: one thread, before the journal is opened.
// Invariants: never skips a record, never cuts one that was acknowledged, never guesses; what a
//   torn tail loses is copied to quarantine/ first.
// Cost: one sequential read of the journal, CRC of every byte.
#pragma once

#include <holdfast/journal/journal.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace holdfast::journal {

/// What the store (SQLite) knows, for rows R7, R8 and R9.
struct StoreState {
    StoreState(StoreId id, Lsn applied, std::optional<std::uint32_t> chain)
        : store_id(id), applied_lsn(applied), applied_chain(chain) {}
    StoreId store_id;
    Lsn applied_lsn;
    /// TailReader's chain at applied_lsn: tells two histories of one store apart, which have
    /// records of the same LSNs. Empty: not known, and not compared.
    std::optional<std::uint32_t> applied_chain;
};

struct Recovered {
    Tail tail;
    std::uint64_t records{};
    std::uint64_t cut_bytes{};  // of a torn tail, copied to quarantine/
    std::string cut_at;  // where: segment, offset and the first LSN that may have stood there
};

/// A new data folder gives an empty Recovered with a fresh random store_id.
[[nodiscard]] ResultOf<Recovered, Failure> recover(std::filesystem::path const& data, Disk& disk,
                                                   std::optional<StoreState> const& store,
                                                   RecordSink& sink,
                                                   Entropy& entropy = system_entropy());

/// Reads the records after `after` and up to `until` from the segments of a *running* journal;
/// `until` must be durable. Returns the last LSN given to the sink (or `after`).
class TailReader {
public:
    TailReader(std::filesystem::path data, Disk& disk, Lsn after);
    ~TailReader();
    TailReader(TailReader const&) = delete;
    TailReader& operator=(TailReader const&) = delete;
    struct Chunk {
        Lsn last{};
        std::uint32_t chain{};  // of the group that holds `last`
    };
    /// At most about `records_max` records, whole groups.
    [[nodiscard]] ResultOf<Chunk, Failure> read(Lsn until, std::size_t records_max,
                                                RecordSink& sink);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace holdfast::journal
