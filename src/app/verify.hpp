// Verify: would a server start on this folder, and what would it have?
//
// Purpose: `holdfast verify`. Thread safety: one thread. Invariants: the folder is not changed.
// Cost: see app/resting_folder.hpp.
#pragma once

#include "app/report.hpp"

namespace holdfast::app {

[[nodiscard]] Report verify_folder(std::filesystem::path const& data, journal::Disk& disk);

}  // namespace holdfast::app
