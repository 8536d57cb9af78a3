// Key file: server.key as part of a data folder, with the exit codes of a start.
//
// Purpose: one answer to "is this the key of that server?", for a start and for every command that
//   reads or copies a data folder.
// Thread safety: free functions. Invariants: a key that is there is never replaced.
// Cost: one read of 52 bytes.
#pragma once

#include <holdfast/engine/server_key.hpp>
#include <holdfast/journal/journal.hpp>

#include <filesystem>
#include <optional>

namespace holdfast::app {

/// 77: damaged. 78: missing, or of another server than the store.
[[nodiscard]] ResultOf<engine::ServerKey, journal::Failure> load_key(
    std::filesystem::path const& file, journal::StoreId const& store_id);
/// The same without the key.
[[nodiscard]] std::optional<journal::Failure> check_key(std::filesystem::path const& file,
                                                        journal::StoreId const& store_id);
/// Only for a server that has handed nothing out yet.
[[nodiscard]] ResultOf<engine::ServerKey, journal::Failure> load_or_make_key(
    std::filesystem::path const& file, journal::StoreId const& store_id);

}  // namespace holdfast::app
