// Anew: a store whose sync has failed is read from the disk, as by a start.
//
// Purpose: after a failed sync the kernel calls the pages clean that it could not write, and may
//   drop them whenever it likes (RELIABILITY.md F1). What SQLite knows then is worth nothing:
//   - its index of the WAL (the -shm file) names frames that the file no longer has, and a
//     checkpoint copies whatever is read in their place, as only a recovery looks at the checksums
//     of frames;
//   - the index also says how many frames are in store.db already, and it says so of a checkpoint
//     that readers cut short, which syncs nothing (SQLite 3.40.1, walCheckpoint): a sync that fails
//     later has lost them, and nobody would copy them again.
//   Both are made anew from the WAL by the first connection to a file that nobody else has open:
//   it takes the frames whose chain of checksums holds, as a start does. Every event that somebody
//   was told of is among them, as its own sync went well. What lies behind them is in the journal.
//   Dropping pages is a wish, which the kernel refuses for what somebody else has mapped. To write
//   such a page again is no way out: on ext4 a sync then says yes, and a later mount finds zeros
//   all the same, as a block that failed once stays one that was never written (Linux 6.18; the
//   test of thin volumes keeps files in memory). A new file owes nothing to what failed: the WAL is
//   copied to one, and store.db is if any page of it has stayed.
// Thread safety: the store thread's, while its own connection is closed.
// Cost: the WAL is copied once (64 MiB, seldom more), store.db next to never; readers open again.
#pragma once

#include <holdfast/store/store.hpp>

#include <cstdint>
#include <filesystem>

namespace holdfast::store {

/// Of a copy in the making, behind the file's own name. A kill leaves it.
inline constexpr char const* copy_ending = ".new";
/// Those that a life has left that was killed meanwhile.
void remove_left_copies(std::filesystem::path const& file);

/// Closes all readers of this process, drops what the kernel has of the files, and makes a new WAL,
/// synced, of what the old one then says: what the next connection finds is on the disk. An error:
/// somebody reads it for longer, another process has it open, the disk still fails, or it would not
/// have `bytes_left_min` free beside a copy.
[[nodiscard]] StoreResult<void> begin_anew(std::filesystem::path const& file,
                                           std::uint64_t bytes_left_min);

}  // namespace holdfast::store
