#include "journal/segment_files.hpp"

#include "journal/aligned_bytes.hpp"

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

std::error_code read_segment_header(File& file, std::optional<SegmentHeader>& header) {
    AlignedBytes const page{page_bytes};
    std::size_t got{};
    if (auto const error = file.read_at(0, page.span(), got)) return error;
    header = decode_segment_header(page.span().first(got));
    return {};
}

Failure damaged(std::string const& what) {
    return {77, "journal damaged: " + what +
                    "; nothing was changed, docs/operations.md says what can be done"};
}

Failure unreadable(std::string const& file, std::uint64_t offset, std::error_code error) {
    std::string const what =
        "cannot read " + file + " at offset " + std::to_string(offset) + ": " + error.message();
    // The file may be sound: it is only not ours to read.
    if (error == std::errc::permission_denied || error == std::errc::operation_not_permitted)
        return {76, what + "; give the data folder to the user that runs the server"};
    return damaged(what);
}

}  // namespace holdfast::journal
