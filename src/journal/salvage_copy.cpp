// Makes a journal of the part that is whole.
#include "journal/meta.hpp"
#include "journal/segment_files.hpp"
#include "journal/upkeep.hpp"

#include <holdfast/journal/file_failure.hpp>
#include <holdfast/journal/salvage.hpp>
#include <holdfast/journal/whole_files.hpp>

#include <string>

namespace holdfast::journal {
namespace {

Failure not_salvaged(std::string const& name, std::error_code error) {
    return {76, with_remedy(name + " cannot be copied", error)};
}

/// Past the page cache, which may say what the disk has not.
std::optional<Failure> copy_whole(Disk& disk, std::filesystem::path const& from,
                                  std::filesystem::path const& to, CopiedPart part) {
    part.read = OpenMode::read_device;
    auto failure = copy_file(disk, from, to, part, [] { return std::optional<Failure>{}; });
    if (failure && failure->exit_code == 1) failure->exit_code = 76;
    return failure;
}

std::optional<Failure> keep_whole(Disk& disk, std::filesystem::path const& from,
                                  std::filesystem::path const& to, CopiedPart part, Kept kept) {
    if (kept == Kept::copied) return copy_whole(disk, from, to, part);
    std::error_code error;
    auto const absolute = std::filesystem::absolute(from, error);
    if (!error) std::filesystem::create_symlink(absolute, to, error);
    if (error) return not_salvaged(from.filename().string(), error);
    return {};
}

std::optional<Failure> write_metas(std::filesystem::path const& target, Disk& disk,
                                   WholePart const& part) {
    Meta meta{target, disk};
    MetaPage page;
    page.store_id = part.store_id;
    page.boot_epoch = part.boot_epoch;
    page.durable_lsn = part.last_lsn.value();
    page.first_segment = part.first_segment;
    if (auto const error = meta.store_both(page)) return not_salvaged("META", error);
    return {};
}

}  // namespace

std::optional<Failure> copy_whole_part(std::filesystem::path const& data, Disk& disk,
                                       WholePart const& part, std::filesystem::path const& target,
                                       Kept kept) {
    auto const from = journal_folder(data);
    auto const to = journal_folder(target);
    if (auto const error = disk.make_folder(to)) return not_salvaged("journal/", error);
    if (part.first_segment > 1) {
        std::string const name = base_name(part.first_segment);
        if (auto trouble = keep_whole(disk, from / name, to / name, {}, kept)) return trouble;
    }
    for (std::uint64_t number = part.first_segment; number <= part.last_segment; ++number) {
        std::string const name = segment_name(number);
        CopiedPart copied{.least = 2 * page_bytes};  // one page behind its header at least
        bool const is_cut = number == part.last_segment;
        if (is_cut) copied.bytes = part.end_offset;
        if (auto trouble =
                keep_whole(disk, from / name, to / name, copied, is_cut ? Kept::copied : kept))
            return trouble;
    }
    if (auto trouble = write_metas(target, disk, part)) return trouble;
    if (auto const error = disk.sync_folder(to)) return not_salvaged("journal/", error);
    if (auto const error = disk.sync_folder(target)) return not_salvaged("META", error);
    return {};
}

}  // namespace holdfast::journal
