#include "journal/spare.hpp"

#include "journal/aligned_bytes.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::journal {
namespace {

std::error_code zero_fill(File& file, std::uint64_t bytes, Syncs syncs) {
    AlignedBytes const zeros{static_cast<std::size_t>(std::min(bytes, synced_piece_bytes))};
    for (std::uint64_t at = 0; at < bytes;) {
        std::uint64_t const count = std::min<std::uint64_t>(zeros.span().size(), bytes - at);
        if (auto const error = file.write_at(at, zeros.span().first(count))) return error;
        at += count;
        if (syncs == Syncs::once && at < bytes) continue;
        if (auto const error = file.sync_data()) return error;
    }
    return {};
}

}  // namespace

std::error_code make_spare(Disk& disk, std::filesystem::path const& path, std::uint64_t bytes,
                           Syncs syncs, Spare& spare) {
    std::error_code const absent = disk.remove(path);
    if (absent && absent != std::errc::no_such_file_or_directory) return absent;
    std::unique_ptr<File> file;
    if (auto const error = disk.open(path, OpenMode::create, file)) return error;
    if (auto const error = zero_fill(*file, bytes, syncs)) {
        file.reset();
        // The space of half a file is wanted back. That this fails too changes nothing: the next
        // try removes it again.
        static_cast<void>(disk.remove(path));
        return error;
    }
    spare = Spare{path, std::move(file)};
    return {};
}

}  // namespace holdfast::journal
