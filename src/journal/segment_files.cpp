#include "journal/segment_files.hpp"

#include "journal/aligned_bytes.hpp"

#include <holdfast/journal/file_failure.hpp>

#include <algorithm>

namespace holdfast::journal {

std::error_code list_segments(Disk& disk, std::filesystem::path const& folder,
                              std::vector<std::uint64_t>& numbers) {
    numbers.clear();
    std::vector<std::string> names;
    std::error_code const error = disk.list(folder, names);
    if (error == std::errc::no_such_file_or_directory) return {};
    if (error) return error;
    for (std::string const& name : names) {
        if (auto const number = segment_number(name)) numbers.push_back(*number);
    }
    std::sort(numbers.begin(), numbers.end());
    return {};
}

namespace {

constexpr std::string_view base_suffix = ".hfb";
constexpr std::string_view segment_suffix = ".hfj";

bool is_needed(std::string const& name, std::uint64_t first) {
    if (auto const segment = segment_number(name)) return *segment >= first;
    if (auto const base = base_number(name)) return *base == first;
    return name != base_temporary;
}

std::error_code list_unneeded(Disk& disk, std::filesystem::path const& folder, std::uint64_t first,
                              std::vector<std::string>& names) {
    if (auto const error = disk.list(folder, names)) return error;
    std::erase_if(names, [first](std::string const& name) { return is_needed(name, first); });
    std::ranges::sort(names);
    return {};
}

}  // namespace

std::string base_name(std::uint64_t segment) {
    std::string name = segment_name(segment);
    name.resize(name.size() - segment_suffix.size());
    return name.append(base_suffix);
}

std::optional<std::uint64_t> base_number(std::string_view name) {
    if (!name.ends_with(base_suffix)) return {};
    name.remove_suffix(base_suffix.size());
    return segment_number(std::string{name}.append(segment_suffix));
}

std::error_code has_unneeded(Disk& disk, std::filesystem::path const& folder, std::uint64_t first,
                             bool& found) {
    std::vector<std::string> names;
    auto const error = list_unneeded(disk, folder, first, names);
    found = !names.empty();
    return error;
}

std::error_code remove_unneeded(Disk& disk, std::filesystem::path const& folder,
                                std::uint64_t first) {
    std::vector<std::string> names;
    if (auto const error = list_unneeded(disk, folder, first, names)) return error;
    for (std::string const& name : names)
        if (auto const error = disk.remove(folder / name)) return error;
    return names.empty() ? std::error_code{} : disk.sync_folder(folder);
}

std::error_code read_segment_header(File& file, std::optional<SegmentHeader>& header) {
    AlignedBytes const page{page_bytes};
    std::size_t got{};
    if (auto const error = file.read_at(0, page.span(), got)) return error;
    header = decode_segment_header(page.span().first(got));
    return {};
}

SegmentStart start_of(SegmentHeader const& header) noexcept {
    return {header.store_id, header.segment, Lsn{header.prev_last_lsn}, header.prev_chain};
}

namespace {
constexpr std::string_view damage_advice =
    "; nothing was changed; `holdfast salvage --help` and docs/operations.md say what can be done";
}  // namespace

std::optional<Failure> refuse_newer(std::string const& file, std::uint32_t version,
                                    std::uint32_t known) {
    if (version <= known) return {};
    return Failure{78, file + " has format version " + std::to_string(version) +
                           ": needs the newer holdfast that made it; this one knows versions up "
                           "to " +
                           std::to_string(known)};
}

Failure damaged(std::string const& what) {
    return {77, "journal damaged: " + what + std::string(damage_advice)};
}

Failure beyond_salvage(Failure failure) {
    if (failure.exit_code != 77) return failure;
    if (failure.message.ends_with(damage_advice))
        failure.message.resize(failure.message.size() - damage_advice.size());
    failure.message +=
        "; without it nothing can be kept, and nothing was changed: restore a backup";
    return failure;
}

Failure unreadable(std::string const& file, std::uint64_t offset, std::error_code error) {
    std::string const what =
        "cannot read " + file + " at offset " + std::to_string(offset) + ": " + error.message();
    // The file may be sound: it is only not ours to read, or not now.
    if (exit_code_of(error, Access::read) == 76)
        return {76, what + "; " + std::string(remedy_of(error)) + ", and start again"};
    return damaged(what);
}

}  // namespace holdfast::journal
