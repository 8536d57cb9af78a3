#include "journal/quarantine.hpp"

#include "journal/aligned_bytes.hpp"
#include "journal/segment_files.hpp"

#include <holdfast/journal/file_failure.hpp>

#include <algorithm>

namespace holdfast::journal {
namespace {

constexpr std::uint64_t chunk_bytes = 1U << 20;

std::error_code copy_bytes(File& from, std::uint64_t offset, std::uint64_t bytes, File& to) {
    AlignedBytes const chunk{static_cast<std::size_t>(std::min(chunk_bytes, bytes))};
    for (std::uint64_t at = 0; at < bytes;) {
        std::size_t got{};
        auto const part = chunk.span().first(std::min(chunk_bytes, bytes - at));
        if (auto const error = from.read_at(offset + at, part, got)) return error;
        // The scan has met all of it.
        if (got == 0) return std::make_error_code(std::errc::io_error);
        if (auto const error = to.write_at(at, part.first(got))) return error;
        at += got;
    }
    return to.sync_data();
}

}  // namespace

Failure Quarantine::not_kept(std::error_code error) const {
    return {76, with_remedy("a torn tail cannot be copied to " + folder_.string(), error) +
                    "; the journal is unchanged"};
}

std::optional<Failure> Quarantine::make_folder() {
    if (auto const error = disk_.make_folder(folder_)) return not_kept(error);
    if (auto const error = disk_.sync_folder(data_)) return not_kept(error);
    return {};
}

std::optional<Failure> Quarantine::keep(File& segment, std::uint64_t number, std::uint64_t offset,
                                        std::uint64_t bytes) {
    if (auto failure = make_folder()) return failure;
    auto const path = folder_ / (segment_name(number) + ".from-" + std::to_string(offset));
    std::unique_ptr<File> copy;
    std::error_code error = disk_.open(path, OpenMode::create, copy);
    if (error == std::errc::file_exists) error = disk_.open(path, OpenMode::write, copy);
    if (error) return not_kept(error);
    if (auto const failed = copy_bytes(segment, offset, bytes, *copy)) return not_kept(failed);
    if (auto const failed = disk_.sync_folder(folder_)) return not_kept(failed);
    return {};
}

}  // namespace holdfast::journal
