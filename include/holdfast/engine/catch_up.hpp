// Catch-up: has a store follow a journal that nobody runs. For the command line.
//
// Purpose: what the projector does at a start, for a folder at rest: afterwards the store says what
//   the journal says up to its end.
// Thread safety: one thread, which owns the store. Invariants: those of the projector; a record
//   that cannot be applied is exit 78 with its LSN, damage 77.
// Cost: one read of the journal from its first segment that is needed, if the store lacks records.
#pragma once

#include <holdfast/engine/find_spec.hpp>
#include <holdfast/engine/server_key.hpp>
#include <holdfast/journal/recovery.hpp>
#include <holdfast/store/store.hpp>

#include <filesystem>
#include <optional>

namespace holdfast::engine {

/// Up to `last`, where recovery said that the journal ends.
[[nodiscard]] std::optional<journal::Failure> catch_up(store::Store& store, journal::Disk& disk,
                                                       std::filesystem::path const& data,
                                                       FindSpec const& find_spec,
                                                       ServerKey const& key, Lsn last);

}  // namespace holdfast::engine
