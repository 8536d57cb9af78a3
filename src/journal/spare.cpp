#include "journal/spare.hpp"

#include "journal/aligned_bytes.hpp"
#include "journal/format.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::journal {
namespace {

std::error_code zero_fill(File& file, SparePlan const& plan) {
    std::uint64_t const bytes = plan.bytes;
    AlignedBytes const zeros{static_cast<std::size_t>(std::min(bytes, synced_piece_bytes))};
    for (std::uint64_t at = 0; at < bytes;) {
        if (plan.stopped && plan.stopped())
            return std::make_error_code(std::errc::operation_canceled);
        std::uint64_t const count = std::min<std::uint64_t>(zeros.span().size(), bytes - at);
        if (auto const error = file.write_at(at, zeros.span().first(count))) return error;
        at += count;
        if (plan.syncs == Syncs::once && at < bytes) continue;
        if (auto const error = file.sync_data()) return error;
    }
    return {};
}

}  // namespace

std::error_code make_spare(Disk& disk, SparePlan const& plan, Spare& spare) {
    Spare made{plan.path, nullptr, plan.number,
               plan.path.parent_path() / segment_name(plan.number)};
    std::error_code const absent = disk.remove(plan.path);
    if (absent && absent != std::errc::no_such_file_or_directory) return absent;
    if (auto const error = disk.open(plan.path, OpenMode::create, made.file)) return error;
    if (auto const error = zero_fill(*made.file, plan)) {
        made.file.reset();
        // The space of half a file is wanted back. That this fails too changes nothing: the next
        // try removes it again.
        static_cast<void>(disk.remove(plan.path));
        return error;
    }
    spare = std::move(made);
    return {};
}

}  // namespace holdfast::journal
