// Manifest: what a backup holds, so that nobody restores half of one.
//
// Purpose: MANIFEST.json is written last, so a folder without a good one is no backup. It says how
//   far the store (applied_lsn) and the journal (durable_lsn) go, and names every file with its
//   size and SHA-256. The first start of a server on the folder removes it: then it is a data
//   folder, whose files change.
// Thread safety: free functions; nobody changes the folder meanwhile. Invariants: it is read back
//   strictly, byte for byte as it is written. Cost: write and read: one small file; measure and
//   check: one read of every file.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/journal/journal_copy.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::app {

inline constexpr std::string_view manifest_name = "MANIFEST.json";
inline constexpr std::string_view used_manifest_name = "MANIFEST.used";

struct ManifestFile {
    std::string name;  // below the folder: "journal/0000000000000001.hfj"
    std::uint64_t bytes{};
    std::string sha256;  // 64 hexadecimal digits
    friend bool operator==(ManifestFile const&, ManifestFile const&) = default;
};

struct Manifest {
    TimePoint made_at{};  // whole seconds
    std::string version;  // of the holdfast that made it
    journal::StoreId store_id{};
    Lsn applied;
    Lsn durable;
    std::vector<ManifestFile> files;
    friend bool operator==(Manifest const&, Manifest const&) = default;
};

/// Sizes and hashes of these files below `folder`.
[[nodiscard]] ResultOf<std::vector<ManifestFile>, journal::Failure> measure(
    std::filesystem::path const& folder, std::vector<std::string> const& names,
    journal::BetweenPieces const& between);

/// By way of a second name, synced; then the folder is a backup.
[[nodiscard]] std::optional<journal::Failure> write_manifest(std::filesystem::path const& folder,
                                                             journal::Disk& disk,
                                                             Manifest const& manifest);
/// Nothing: there is none. 77 if it is not as one is written, 78 if a newer holdfast wrote it.
[[nodiscard]] ResultOf<std::optional<Manifest>, journal::Failure> read_manifest(
    std::filesystem::path const& folder);

/// One line for each file that is missing, of another size or content, or there though it would
/// change what a start reads (segments, base files, a WAL of the store); empty: a whole backup. A
/// failure: one of them cannot be read now (76), so nothing can be said.
[[nodiscard]] ResultOf<std::vector<std::string>, journal::Failure> find_faults(
    std::filesystem::path const& folder, Manifest const& manifest);

/// The manifest of a whole backup. Exit code 77 with all that is wrong; also if there is none.
[[nodiscard]] ResultOf<Manifest, journal::Failure> check_manifest(
    std::filesystem::path const& folder);

/// For a start on a folder that may be a backup: the failure of check_manifest(), if there is a
/// manifest.
[[nodiscard]] std::optional<journal::Failure> check_if_backup(std::filesystem::path const& folder);
/// Before the first change that makes a data folder of it: the manifest gets another name, so that
/// a start that fails later loses nothing and the next one does not hold the folder to it.
[[nodiscard]] std::optional<journal::Failure> set_manifest_aside(
    std::filesystem::path const& folder, journal::Disk& disk);
/// Once the server runs.
[[nodiscard]] std::optional<journal::Failure> remove_used_manifest(
    std::filesystem::path const& folder, journal::Disk& disk);

}  // namespace holdfast::app
