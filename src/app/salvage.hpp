// Salvage: what of a damaged folder is whole, and a new folder of just that.
//
// Purpose: `holdfast salvage`. Without a target it reports: where the damage is, which LSNs are
//   lost, what is known to be behind. With one it makes a folder there from which a server starts:
//   the journal up to the damage, and a store that says the same.
// Thread safety: one thread. Invariants: the source is never changed; a target that could not be
//   finished is left empty. Cost: one read of the journal and, with a target, one copy of it.
#pragma once

#include "app/report.hpp"

#include <filesystem>
#include <optional>

namespace holdfast::app {

/// `target`: an empty folder or none yet.
[[nodiscard]] Report salvage_folder(std::filesystem::path const& data,
                                    std::optional<std::filesystem::path> const& target,
                                    journal::Disk& disk);

}  // namespace holdfast::app
