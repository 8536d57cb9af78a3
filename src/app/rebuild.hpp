// Rebuild: store.db anew, from the journal.
//
// Purpose: `holdfast rebuild`. The projected tables are a function of the journal and the
//   catalogue, so they are projected once more into a new file, which then replaces store.db:
//   from the first record if no segment was deleted, else on top of a backup's store.db. The
//   catalogue has no other home than store.db: it is taken from the one in the folder, or from the
//   backup's and, if that can be read, the events that the one in the folder has beyond it.
// Thread safety: one thread. Invariants: until the new file is whole and synced the old one stays;
//   a rename changes them over. An old file that cannot be opened is kept as store.db.damaged.
// Cost: one read of the journal; room for one more store.db in the data folder.
#pragma once

#include "app/report.hpp"

#include <filesystem>
#include <optional>

namespace holdfast::app {

/// `backup`: a folder with a store.db.
[[nodiscard]] Report rebuild_store(std::filesystem::path const& data,
                                   std::optional<std::filesystem::path> const& backup,
                                   journal::Disk& disk);

}  // namespace holdfast::app
