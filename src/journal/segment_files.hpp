// The segment files of a journal: which there are, and what their headers say.
//
// Thread safety: one thread.
#pragma once

#include "journal/format.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace holdfast::journal {

/// The numbers of all segment files below `folder`, ascending; a missing folder has none.
[[nodiscard]] std::error_code list_segments(Disk& disk, std::filesystem::path const& folder,
                                            std::vector<std::uint64_t>& numbers);

/// Reads the first page. `header` is empty if it is not that of a segment.
[[nodiscard]] std::error_code read_segment_header(File& file, std::optional<SegmentHeader>& header);
[[nodiscard]] SegmentStart start_of(SegmentHeader const& header) noexcept;

/// A base file that is being written.
inline constexpr std::string_view base_temporary = "base.tmp";
/// Base files have the name of the segment that they stand before.
[[nodiscard]] std::string base_name(std::uint64_t segment);
/// The segment in a base file's name; empty for any other file, also one that is put aside.
[[nodiscard]] std::optional<std::uint64_t> base_number(std::string_view name);
/// Whether `folder` has segments before `first`, or base files that are not of `first`.
[[nodiscard]] std::error_code has_unneeded(Disk& disk, std::filesystem::path const& folder,
                                           std::uint64_t first, bool& found);
/// Deletes them, oldest first, and syncs the folder.
[[nodiscard]] std::error_code remove_unneeded(Disk& disk, std::filesystem::path const& folder,
                                              std::uint64_t first);

/// R10: 78 if a file has a version that this program does not know; nothing in it is to be used.
[[nodiscard]] std::optional<Failure> refuse_newer(std::string const& file, std::uint32_t version,
                                                  std::uint32_t known);
/// A damaged or incomplete journal: exit 77.
[[nodiscard]] Failure damaged(std::string const& what);
/// For salvage itself: damage in what it cannot do without.
[[nodiscard]] Failure beyond_salvage(Failure failure);
/// A read that failed is damage too, never the end of the file (R11); 76 if the file is
/// only not to be had now.
[[nodiscard]] Failure unreadable(std::string const& file, std::uint64_t offset,
                                 std::error_code error);

}  // namespace holdfast::journal
