// Journal copy: the journal's part of a backup, taken of a running journal or of one at rest.
//
// Purpose: a folder from which recovery gives exactly the records up to `until`. Finished segments
//   and the base file are hard links if the file system allows (nothing writes to them any more);
//   the segment with `until` is copied up to the group that ends there; META is made anew.
// Thread safety: one thread, while nobody deletes segments. The journal may go on writing.
// Invariants: no byte behind `until` is copied: it may be a group that nobody was told of. All is
//   read group by group, also what is linked, so damage in it is found.
// Cost: one read of the journal, and a copy of one segment; of all of them, without the zeros at
//   their ends, to another file system.
#pragma once

#include <holdfast/journal/journal.hpp>
#include <holdfast/journal/whole_files.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::journal {

struct JournalCopy {
    StoreId store_id{};
    std::uint64_t first_segment{};
    Lsn last{};                      // of the last group: `until`, if a group ends there
    std::vector<std::string> files;  // relative to the target
};

/// `until` must be durable. Makes META and journal/ below `target`, which exists, and syncs them.
/// After a failure (exit code 1; 77 for damage) it leaves what it has made.
[[nodiscard]] ResultOf<JournalCopy, Failure> copy_journal(std::filesystem::path const& data,
                                                          Disk& disk, Lsn until,
                                                          std::filesystem::path const& target,
                                                          BetweenPieces const& between);

}  // namespace holdfast::journal
