// Rebuild: store.db anew, from the journal.
//
// Purpose: `holdfast rebuild`. The projected tables are a function of the journal and the
//   catalogue, so they are projected once more into a new file, which then replaces store.db:
//   from the first record if no segment was deleted, else on top of a backup's store.db. The
//   catalogue has no other home than store.db: it is taken from the one in the folder, or from the
//   backup's and the events that the one in the folder has beyond it. If that cannot be read, such
//   events are lost without a trace, so that takes a word of consent.
// Thread safety: one thread. Invariants: until the new file is whole and synced the old one stays;
//   a rename changes them over. The old file is kept beside it, and none that was kept before is
//   overwritten.
// Cost: one read of the journal; room for one more store.db in the data folder.
#pragma once

#include "app/cli.hpp"
#include "app/report.hpp"

namespace holdfast::app {

[[nodiscard]] Report rebuild_store(RebuildCommand const& command, journal::Disk& disk);

}  // namespace holdfast::app
