// Base files: what the segments before one said, so that they can be deleted.
//
// Purpose: journal/NNNNNNNNNNNNNNNN.hfb holds the state that all records before segment N make.
//   A recovery that begins with segment N reads it first; what is in it is the engine's business.
// Thread safety: one thread at a time; the segments may be those of a running journal.
// Invariants: a base file has its name only once it is whole and synced. Segments go only after
//   both pages of META name the base's segment as the first one needed (Journal::keep_from).
// Cost: writing and reading is one pass over the bytes, with a CRC.
//
// Format, little endian: a page of 4096 bytes, then the state.
//    0  magic "HFB1"        4    40  length of the state  8
//    4  version 1           2    48  chain                4   the segment goes on from it
//    6  header length 4096  2    52  CRC of the state     4
//    8  store_id           16    56  CRC of the 56 bytes above  4
//   24  segment number      8
//   32  last LSN before it  8
#pragma once

#include <holdfast/journal/recovery.hpp>
#include <holdfast/journal/whole_files.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::journal {

/// Of the first segment that a start needs, as META says. A running journal has a META.
[[nodiscard]] ResultOf<SegmentStart, Failure> first_segment_start(std::filesystem::path const& data,
                                                                  Disk& disk);
[[nodiscard]] ResultOf<SegmentStart, Failure> segment_start(std::filesystem::path const& data,
                                                            Disk& disk, std::uint64_t segment);

/// The newest segment with all records before it at or below `stored`, that leaves `kept` segments
/// at least. Nothing if there is none after `first`.
[[nodiscard]] ResultOf<std::optional<SegmentStart>, Failure> first_worth_keeping(
    std::filesystem::path const& data, Disk& disk, std::uint64_t first, Lsn stored,
    std::uint64_t kept);

/// For who stops for nothing.
[[nodiscard]] inline std::optional<Failure> uninterrupted() {
    return {};
}
/// Synced in steps, so that no commit group waits for all of it. If it is stopped nothing is left.
[[nodiscard]] std::optional<Failure> write_base(std::filesystem::path const& data, Disk& disk,
                                                SegmentStart const& start,
                                                std::span<std::byte const> state,
                                                BetweenPieces const& between = uninterrupted);
/// Exit code 77 if it is missing or damaged.
[[nodiscard]] ResultOf<std::vector<std::byte>, Failure> read_base(
    std::filesystem::path const& data, Disk& disk, SegmentStart const& start,
    BetweenPieces const& between = uninterrupted);
/// A reader of the records from `start` on, behind what `load` was given: the state of the base
/// file there, unless that is the journal's beginning. 78 if `load` answers that it is none.
[[nodiscard]] ResultOf<std::unique_ptr<TailReader>, Failure> read_from(
    std::filesystem::path const& data, Disk& disk, SegmentStart const& start,
    std::function<bool(std::span<std::byte const>)> const& load,
    BetweenPieces const& between = uninterrupted);
/// The same checks, a piece at a time and without keeping the state.
[[nodiscard]] std::optional<Failure> check_base(std::filesystem::path const& data, Disk& disk,
                                                SegmentStart const& start,
                                                BetweenPieces const& between);
/// Of the whole file; 0 if there is none.
[[nodiscard]] std::uint64_t base_bytes(std::filesystem::path const& data, Disk& disk,
                                       std::uint64_t segment);

/// Bytes that a base file of such a state takes.
[[nodiscard]] std::uint64_t base_bytes_for(std::size_t state_bytes) noexcept;

/// Deletes segments before `first` and base files of other segments, and syncs the folder. A file
/// of any other name stays, whatever it ends with.
[[nodiscard]] std::optional<Failure> delete_before(std::filesystem::path const& data, Disk& disk,
                                                   std::uint64_t first);
/// Whether there is anything that delete_before() would delete.
[[nodiscard]] std::optional<Failure> has_before(std::filesystem::path const& data, Disk& disk,
                                                std::uint64_t first, bool& found);
/// Deletes segments after `last`, in a copy that nobody will run: one that was named and no more
/// (R6) is in the way of a TailReader.
[[nodiscard]] std::optional<Failure> delete_after(std::filesystem::path const& data, Disk& disk,
                                                  std::uint64_t last);

}  // namespace holdfast::journal
