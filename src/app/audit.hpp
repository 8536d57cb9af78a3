// Audit: is what the folder says of every seat, order and sum consistent with the journal?
//
// Purpose: `holdfast audit`. Thread safety: one thread. Invariants: the folder is not changed.
// Cost: see app/resting_folder.hpp and engine/recount.hpp.
#pragma once

#include "app/report.hpp"

namespace holdfast::app {

[[nodiscard]] Report audit_folder(std::filesystem::path const& data, journal::Disk& disk);

}  // namespace holdfast::app
