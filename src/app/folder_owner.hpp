// Folder owner: commands of root work as the user that a data folder belongs to.
//
// Purpose: whatever a command makes in the folder, or beside it, the server must be able to open,
//   and what that user could lead root to by a link is no business of the command.
// Thread safety: by main, before any other thread is. Invariants: there is no way back to root.
#pragma once

#include <holdfast/journal/journal.hpp>

#include <filesystem>
#include <optional>

namespace holdfast::app {

/// Run by root on a folder of another user, this process is that user's from here on, and says so
/// on the standard error. Nothing for anybody else, and if there is no such folder.
[[nodiscard]] std::optional<journal::Failure> act_as_owner_of(std::filesystem::path const& data);

/// Whether root would leave files in the folder that its owner cannot open.
[[nodiscard]] bool is_root_on_folder_of_another(std::filesystem::path const& data);

}  // namespace holdfast::app
