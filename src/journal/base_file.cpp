#include "journal/aligned_bytes.hpp"
#include "journal/format.hpp"
#include "journal/meta.hpp"
#include "journal/segment_files.hpp"
#include "journal/upkeep.hpp"

#include <holdfast/base/crc32c.hpp>
#include <holdfast/journal/base_file.hpp>
#include <holdfast/journal/file_failure.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

namespace holdfast::journal {
namespace {

struct BaseHeader {
    std::uint32_t magic{};
    std::uint16_t version{format_version};
    std::uint16_t header_bytes{page_bytes};
    StoreId store_id{};
    std::uint64_t segment{};
    std::uint64_t before{};
    std::uint64_t state_bytes{};
    std::uint32_t chain{};
    std::uint32_t state_crc{};
    std::uint32_t crc{};
    std::uint32_t zero{};
};
static_assert(sizeof(BaseHeader) == 64);
static_assert(offsetof(BaseHeader, state_bytes) == 40);
static_assert(offsetof(BaseHeader, crc) == 56);

constexpr std::uint32_t base_magic = 0x31424648;  // "HFB1"
constexpr std::size_t read_piece_bytes = 1U << 20;

std::uint32_t crc_of(BaseHeader const& header) noexcept {
    return crc32c(std::as_bytes(std::span{&header, 1}).first(offsetof(BaseHeader, crc)));
}

Failure not_written(std::error_code error) {
    return {76, with_remedy("the base of a segment cannot be written", error)};
}

Failure wrong(SegmentStart const& start, char const* what) {
    return damaged(base_name(start.segment) + " " + what +
                   "; it stands for the records up to LSN " + std::to_string(start.before.value()));
}

std::optional<Failure> write_file(File& file, BaseHeader const& header,
                                  std::span<std::byte const> state, BetweenPieces const& between) {
    AlignedBytes const page{page_bytes};
    std::ranges::fill(page.span(), std::byte{0});
    std::memcpy(page.span().data(), &header, sizeof header);
    if (auto const error = file.write_at(0, page.span())) return not_written(error);
    for (std::size_t at = 0; at < state.size(); at += synced_piece_bytes) {
        auto const part =
            state.subspan(at, std::min<std::size_t>(synced_piece_bytes, state.size() - at));
        if (auto stopped = between()) return stopped;
        if (at != 0) {
            if (auto const error = file.sync_data()) return not_written(error);
        }
        if (auto const error = file.write_at(page_bytes + at, part)) return not_written(error);
    }
    if (auto const error = file.sync_data()) return not_written(error);
    return {};
}

std::error_code open_header(std::filesystem::path const& data, Disk& disk, std::uint64_t number,
                            std::optional<SegmentHeader>& header) {
    std::unique_ptr<File> file;
    auto const path = journal_folder(data) / segment_name(number);
    if (auto const error = disk.open(path, OpenMode::read, file)) return error;
    return read_segment_header(*file, header);
}

struct OpenBase {
    std::unique_ptr<File> file;
    BaseHeader header;
};

bool belongs_to(BaseHeader const& header, SegmentStart const& start) noexcept {
    return header.store_id == start.store_id && header.segment == start.segment &&
           header.before == start.before.value() && header.chain == start.chain;
}

ResultOf<OpenBase, Failure> open_base(std::filesystem::path const& data, Disk& disk,
                                      SegmentStart const& start) {
    OpenBase base;
    std::string const name = base_name(start.segment);
    auto const failed = disk.open(journal_folder(data) / name, OpenMode::read_device, base.file);
    if (failed == std::errc::no_such_file_or_directory) return wrong(start, "is missing");
    if (failed) return unreadable(name, 0, failed);
    BaseHeader& header = base.header;
    std::size_t got{};
    auto const bytes = std::as_writable_bytes(std::span{&header, 1});
    if (auto const error = base.file->read_at(0, bytes, got)) return unreadable(name, 0, error);
    if (got != sizeof header || header.magic != base_magic || header.crc != crc_of(header)) {
        return wrong(start, "has a bad header");
    }
    if (auto newer = refuse_newer(name, header.version, format_version)) return std::move(*newer);
    if (!belongs_to(header, start)) return wrong(start, "belongs to another journal");
    if (base.file->size() != page_bytes + header.state_bytes)
        return wrong(start, "has another length");
    return base;
}

}  // namespace

ResultOf<SegmentStart, Failure> segment_start(std::filesystem::path const& data, Disk& disk,
                                              std::uint64_t segment) {
    std::optional<SegmentHeader> header;
    if (auto const error = open_header(data, disk, segment, header)) {
        return unreadable(segment_name(segment), 0, error);
    }
    if (!header || header->segment != segment) {
        return damaged("the header of " + segment_name(segment) + " is bad");
    }
    if (auto newer = refuse_newer(segment_name(segment), header->version, format_version))
        return std::move(*newer);
    return start_of(*header);
}

ResultOf<SegmentStart, Failure> first_segment_start(std::filesystem::path const& data, Disk& disk) {
    // META may be written meanwhile: then one of its pages is whole, and either is right, because
    // nothing is deleted before both say the same. A look that falls between two writes finds none.
    Meta meta{data, disk};
    if (auto const error = meta.load()) return meta.why_not_loaded(error);
    if (!meta.page()) return damaged("neither META.a nor META.b is good");
    if (auto newer = meta.refuse_newer()) return std::move(*newer);
    return segment_start(data, disk, meta.page()->first_segment);
}

ResultOf<std::optional<SegmentStart>, Failure> first_worth_keeping(
    std::filesystem::path const& data, Disk& disk, std::uint64_t first, Lsn stored,
    std::uint64_t kept) {
    std::vector<std::uint64_t> numbers;
    if (auto const error = list_segments(disk, journal_folder(data), numbers)) {
        return unreadable("journal/", 0, error);
    }
    std::optional<SegmentStart> none;
    if (numbers.empty() || numbers.back() < kept) return none;
    for (std::uint64_t number = numbers.back() + 1 - kept; number > first; --number) {
        auto const start = segment_start(data, disk, number);
        if (!start) return start.error();
        if (start->before <= stored) return std::optional{*start};
    }
    return none;
}

std::optional<Failure> write_base(std::filesystem::path const& data, Disk& disk,
                                  SegmentStart const& start, std::span<std::byte const> state,
                                  BetweenPieces const& between) {
    auto const folder = journal_folder(data);
    auto const made = folder / base_temporary;
    std::error_code const absent = disk.remove(made);
    if (absent && absent != std::errc::no_such_file_or_directory) return not_written(absent);
    BaseHeader header;
    header.magic = base_magic;
    header.store_id = start.store_id;
    header.segment = start.segment;
    header.before = start.before.value();
    header.state_bytes = state.size();
    header.chain = start.chain;
    header.state_crc = crc32c(state);
    header.crc = crc_of(header);
    std::unique_ptr<File> file;
    if (auto const error = disk.open(made, OpenMode::create, file)) return not_written(error);
    if (auto failure = write_file(*file, header, state, between)) {
        file.reset();
        // Its space is wanted back; if not, the next try removes it.
        static_cast<void>(disk.remove(made));
        return failure;
    }
    if (auto const error = disk.rename(made, folder / base_name(start.segment))) {
        return not_written(error);
    }
    if (auto const error = disk.sync_folder(folder)) return not_written(error);
    return {};
}

ResultOf<std::vector<std::byte>, Failure> read_base(std::filesystem::path const& data, Disk& disk,
                                                    SegmentStart const& start,
                                                    BetweenPieces const& between) {
    auto const base = open_base(data, disk, start);
    if (!base) return base.error();
    std::vector<std::byte> state(base->header.state_bytes);
    std::size_t at = 0;
    while (at < state.size()) {
        if (auto stopped = between()) return std::move(*stopped);
        std::size_t got{};
        auto const part =
            std::span{state}.subspan(at, std::min(read_piece_bytes, state.size() - at));
        if (auto const error = base->file->read_at(page_bytes + at, part, got))
            return unreadable(base_name(start.segment), page_bytes + at, error);
        at += got;
        if (got != part.size()) break;
    }
    if (at != state.size() || crc32c(state) != base->header.state_crc)
        return wrong(start, "is damaged");
    return state;
}

ResultOf<std::unique_ptr<TailReader>, Failure> read_from(
    std::filesystem::path const& data, Disk& disk, SegmentStart const& start,
    std::function<bool(std::span<std::byte const>)> const& load, BetweenPieces const& between) {
    if (start.segment > 1) {
        auto const base = read_base(data, disk, start, between);
        if (!base) return base.error();
        if (!load(*base)) return Failure{78, base_name(start.segment) + " is no state of a sale"};
    }
    return std::make_unique<TailReader>(data, disk, start.before);
}

std::optional<Failure> check_base(std::filesystem::path const& data, Disk& disk,
                                  SegmentStart const& start, BetweenPieces const& between) {
    auto const base = open_base(data, disk, start);
    if (!base) return base.error();
    AlignedBytes const piece{read_piece_bytes};
    std::uint32_t crc = 0;
    std::uint64_t at = page_bytes;
    for (std::uint64_t left = base->header.state_bytes; left > 0;) {
        if (auto stopped = between()) return stopped;
        std::size_t got{};
        auto const part = piece.span().first(std::min<std::uint64_t>(read_piece_bytes, left));
        if (auto const error = base->file->read_at(at, part, got))
            return unreadable(base_name(start.segment), at, error);
        if (got != part.size()) break;
        crc = crc32c(part, crc);
        at += got;
        left -= got;
    }
    if (crc != base->header.state_crc) return wrong(start, "is damaged");
    return {};
}

std::uint64_t base_bytes(std::filesystem::path const& data, Disk& disk, std::uint64_t segment) {
    std::unique_ptr<File> file;
    auto const path = journal_folder(data) / base_name(segment);
    if (disk.open(path, OpenMode::read, file)) return 0;
    return file->size();
}

std::uint64_t base_bytes_for(std::size_t state_bytes) noexcept {
    return page_bytes + state_bytes;
}

std::optional<Failure> delete_before(std::filesystem::path const& data, Disk& disk,
                                     std::uint64_t first) {
    if (auto const error = remove_unneeded(disk, journal_folder(data), first)) {
        return Failure{76, with_remedy("old segments cannot be deleted", error)};
    }
    return {};
}

std::optional<Failure> has_before(std::filesystem::path const& data, Disk& disk,
                                  std::uint64_t first, bool& found) {
    if (auto const error = has_unneeded(disk, journal_folder(data), first, found))
        return unreadable("journal/", 0, error);
    return {};
}

std::optional<Failure> delete_after(std::filesystem::path const& data, Disk& disk,
                                    std::uint64_t last) {
    auto const folder = journal_folder(data);
    std::vector<std::uint64_t> numbers;
    if (auto const error = list_segments(disk, folder, numbers))
        return unreadable("journal/", 0, error);
    std::erase_if(numbers, [last](std::uint64_t number) { return number <= last; });
    for (std::uint64_t const number : numbers) {
        if (auto const error = disk.remove(folder / segment_name(number)))
            return Failure{76, with_remedy(segment_name(number) + " cannot be deleted", error)};
    }
    return {};
}

}  // namespace holdfast::journal
