#include "journal/aligned_bytes.hpp"

#include <holdfast/journal/file_failure.hpp>
#include <holdfast/journal/whole_files.hpp>

#include <algorithm>
#include <memory>
#include <string>

namespace holdfast::journal {
namespace {

Failure not_read(std::filesystem::path const& file, std::error_code error) {
    Failure failure = file_failure(file, "cannot be copied", error, Access::read);
    // It is needed, so whatever else is the matter with it, too, is damage.
    if (failure.exit_code == 1) failure.exit_code = 77;
    return failure;
}

Failure not_written(std::filesystem::path const& file, std::error_code error) {
    Failure failure = file_failure(file, "cannot be written", error, Access::write);
    failure.exit_code = 1;  // the original is not to blame
    return failure;
}

std::error_code fill_up(File& copy, std::uint64_t at, std::uint64_t least) {
    if (at >= least) return {};
    auto const count = static_cast<std::size_t>(least - at);
    AlignedBytes const zeros{count};  // perhaps more
    return copy.write_at(at, zeros.span().first(count));
}

}  // namespace

std::error_code write_whole(Disk& disk, std::filesystem::path const& file,
                            std::span<std::byte const> bytes) {
    std::filesystem::path const made = file.string() + ".tmp";
    std::error_code error = disk.remove(made);
    if (error == std::errc::no_such_file_or_directory) error.clear();
    std::unique_ptr<File> out;
    if (!error) error = disk.open(made, OpenMode::create, out);
    if (!error) error = out->write_at(0, bytes);
    if (!error) error = out->sync_data();
    if (!error) error = disk.rename(made, file);
    if (!error) error = disk.sync_folder(file.has_parent_path() ? file.parent_path() : ".");
    return error;
}

std::optional<Failure> copy_file(Disk& disk, std::filesystem::path const& from,
                                 std::filesystem::path const& to, CopiedPart const& part,
                                 BetweenPieces const& between) {
    std::unique_ptr<File> source;
    std::unique_ptr<File> copy;
    if (auto const error = disk.open(from, part.read, source)) return not_read(from, error);
    if (auto const error = disk.open(to, OpenMode::create, copy)) return not_written(to, error);
    AlignedBytes const piece{synced_piece_bytes};
    std::uint64_t at = 0;
    while (at < part.bytes) {
        if (auto stopped = between()) return stopped;
        std::size_t got{};
        auto const bytes = piece.span().first(std::min(synced_piece_bytes, part.bytes - at));
        if (auto const error = source->read_at(at, bytes, got)) return not_read(from, error);
        if (got == 0) break;
        if (auto const error = copy->write_at(at, bytes.first(got))) return not_written(to, error);
        at += got;
        if (at >= part.bytes) break;
        if (auto const error = copy->sync_data()) return not_written(to, error);
    }
    if (auto const error = fill_up(*copy, at, part.least)) return not_written(to, error);
    if (auto const error = copy->sync_data()) return not_written(to, error);
    return {};
}

}  // namespace holdfast::journal
