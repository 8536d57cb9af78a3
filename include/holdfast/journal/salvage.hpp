// Salvage: what of a damaged journal is whole, and a copy of just that.
//
// Purpose: recovery refuses a journal with damage in what was acknowledged. These functions say
//   how far it is good, what is known to be behind, and make a journal of the good part. A person
//   decides whether that is better than a backup; nothing here is called by a server.
// Thread safety: one thread, of a journal that nobody runs. Invariants: the journal that is read is
//   never changed; every group that is kept passed all the checks of a recovery.
// Cost: one read of the journal, and a look at each page behind the damage.
#pragma once

#include <holdfast/journal/journal.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace holdfast::journal {

struct WholePart {
    StoreId store_id{};
    std::uint64_t first_segment{};
    std::uint64_t last_segment{};
    std::uint64_t end_offset{};  // of the last group that is whole, in the last segment
    std::uint32_t boot_epoch{};
    Lsn before{};    // the newest record before the first segment: the base file's
    Lsn last_lsn{};  // of the whole part
    /// Empty: nothing acknowledged is damaged. Else what is wrong, with segment and offset.
    std::string damage;
    Lsn acknowledged{};             // the newest LSN known to have been acknowledged
    std::uint64_t groups_behind{};  // behind the damage, that can still be read
    std::uint64_t records_behind{};
    Lsn first_behind{};
    Lsn last_behind{};
};

/// `promised`: up to where something outside of the journal vouches for records (what the store has
/// applied, what the manifest of a backup says). A failure: there is no whole part at all.
[[nodiscard]] ResultOf<WholePart, Failure> find_whole_part(std::filesystem::path const& data,
                                                           Disk& disk, Lsn promised);

/// How the files that are whole come to a target: as copies, or, for who only looks whether a start
/// on them would work, as symbolic links.
enum class Kept : std::uint8_t { copied, linked };

/// Makes journal/ and META of the whole part below `target`, which exists and has neither, and
/// syncs them. The last segment is a copy always: it is cut.
[[nodiscard]] std::optional<Failure> copy_whole_part(std::filesystem::path const& data, Disk& disk,
                                                     WholePart const& part,
                                                     std::filesystem::path const& target,
                                                     Kept kept = Kept::copied);

}  // namespace holdfast::journal
