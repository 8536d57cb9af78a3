// Makes a journal of the part that is whole.
#include "journal/aligned_bytes.hpp"
#include "journal/meta.hpp"
#include "journal/segment_files.hpp"
#include "journal/upkeep.hpp"

#include <holdfast/journal/salvage.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

namespace holdfast::journal {
namespace {

Failure not_salvaged(std::string const& name, std::error_code error) {
    return {76, name + " cannot be copied: " + error.message()};
}

class WholeCopy {
public:
    WholeCopy(std::filesystem::path const& data, Disk& disk, std::filesystem::path const& target)
        : from_(journal_folder(data)), to_(journal_folder(target)), disk_(disk) {}

    /// At most `bytes`, and at least `least`, filled up with zeros.
    [[nodiscard]] std::optional<Failure> file(std::string const& name, std::uint64_t bytes,
                                              std::uint64_t least) {
        std::unique_ptr<File> from;
        std::unique_ptr<File> to;
        if (auto const error = disk_.open(from_ / name, OpenMode::read_device, from))
            return unreadable(name, 0, error);
        if (auto const error = disk_.open(to_ / name, OpenMode::create, to))
            return not_salvaged(name, error);
        if (auto const error = copy(*from, *to, bytes, least)) return not_salvaged(name, error);
        return {};
    }

private:
    [[nodiscard]] static std::error_code copy(File& from, File& to, std::uint64_t bytes,
                                              std::uint64_t least) {
        constexpr std::uint64_t step_bytes = 1U << 20;
        AlignedBytes const chunk{step_bytes};
        std::uint64_t at = 0;
        while (at < bytes) {
            std::size_t got{};
            auto const part = chunk.span().first(std::min(step_bytes, bytes - at));
            if (auto const error = from.read_at(at, part, got)) return error;
            if (got == 0) break;
            if (auto const error = to.write_at(at, part.first(got))) return error;
            at += got;
        }
        if (at < least) {
            std::vector<std::byte> const zeros(least - at);
            if (auto const error = to.write_at(at, zeros)) return error;
        }
        return to.sync_data();
    }

    std::filesystem::path from_;
    std::filesystem::path to_;
    Disk& disk_;
};

std::optional<Failure> write_metas(std::filesystem::path const& target, Disk& disk,
                                   WholePart const& part) {
    Meta meta{target, disk};
    MetaPage page;
    page.store_id = part.store_id;
    page.boot_epoch = part.boot_epoch;
    page.durable_lsn = part.last_lsn.value();
    page.first_segment = part.first_segment;
    for (int slot = 0; slot < 2; ++slot)
        if (auto const error = meta.store(page)) return not_salvaged("META", error);
    return {};
}

}  // namespace

std::optional<Failure> copy_whole_part(std::filesystem::path const& data, Disk& disk,
                                       WholePart const& part, std::filesystem::path const& target) {
    constexpr auto all = std::numeric_limits<std::uint64_t>::max();
    if (auto const error = disk.make_folder(journal_folder(target)))
        return not_salvaged("journal/", error);
    WholeCopy copy{data, disk, target};
    if (part.first_segment > 1) {
        if (auto trouble = copy.file(base_name(part.first_segment), all, 0)) return trouble;
    }
    for (std::uint64_t number = part.first_segment; number <= part.last_segment; ++number) {
        bool const is_last = number == part.last_segment;
        // A segment has one page behind its header at least.
        if (auto trouble =
                copy.file(segment_name(number), is_last ? part.end_offset : all, 2 * page_bytes))
            return trouble;
    }
    if (auto trouble = write_metas(target, disk, part)) return trouble;
    if (auto const error = disk.sync_folder(journal_folder(target)))
        return not_salvaged("journal/", error);
    if (auto const error = disk.sync_folder(target)) return not_salvaged("META", error);
    return {};
}

}  // namespace holdfast::journal
