#include "journal/format.hpp"
#include "journal/group_reader.hpp"
#include "journal/meta.hpp"
#include "journal/segment_files.hpp"
#include "journal/upkeep.hpp"

#include <holdfast/journal/base_file.hpp>
#include <holdfast/journal/file_failure.hpp>
#include <holdfast/journal/journal_copy.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::journal {
namespace {

constexpr std::uint64_t groups_between_looks = 256;

Failure not_copied(std::filesystem::path const& name, std::error_code error) {
    return {1, with_remedy(name.string() + " cannot be copied", error)};
}

/// One of the segments that there are, with what its header says.
struct ListedSegment {
    SegmentHeader header;
    std::unique_ptr<File> file;
    [[nodiscard]] std::string name() const { return segment_name(header.segment); }
};

class JournalCopier {
public:
    JournalCopier(std::filesystem::path const& data, Disk& disk, Lsn until,
                  std::filesystem::path const& target, BetweenPieces const& between)
        : data_(data), disk_(disk), until_(until.value()), target_(target), between_(between) {}

    [[nodiscard]] ResultOf<JournalCopy, Failure> run();

private:
    using Refusal = std::optional<Failure>;
    [[nodiscard]] Refusal open(std::uint64_t number, std::optional<ListedSegment>& segment);
    [[nodiscard]] Refusal copy_segments(std::uint64_t first);
    [[nodiscard]] Refusal take(ListedSegment& segment, std::uint64_t until, bool is_sealed);
    [[nodiscard]] Refusal take_base(SegmentStart const& start);
    [[nodiscard]] Refusal find_end(ListedSegment& segment, std::uint64_t until, Cursor& end);
    [[nodiscard]] bool link(std::string const& name);
    void add(std::string const& name) { copy_.files.push_back("journal/" + name); }
    [[nodiscard]] Refusal make_meta(std::uint32_t epoch);

    std::filesystem::path const& data_;
    Disk& disk_;
    std::uint64_t until_;
    std::filesystem::path const& target_;
    BetweenPieces const& between_;
    std::uint32_t epoch_{};
    JournalCopy copy_;
};

/// Empty, and no failure: its header is bad, as that of an interrupted rotation may be (R6).
std::optional<Failure> JournalCopier::open(std::uint64_t number,
                                           std::optional<ListedSegment>& segment) {
    segment.reset();
    std::string const name = segment_name(number);
    std::unique_ptr<File> file;
    // What the page cache holds was never read back: a link to a rotten sector would pass.
    if (auto const error = disk_.open(journal_folder(data_) / name, OpenMode::read_device, file))
        return unreadable(name, 0, error);
    std::optional<SegmentHeader> header;
    if (auto const error = read_segment_header(*file, header)) return unreadable(name, 0, error);
    if (header && header->segment == number)
        segment.emplace(ListedSegment{*header, std::move(file)});
    return {};
}

bool JournalCopier::link(std::string const& name) {
    return !disk_.link(journal_folder(data_) / name, journal_folder(target_) / name);
}

/// Behind the group with `until`; behind the header if that is in no group of this segment.
std::optional<Failure> JournalCopier::find_end(ListedSegment& segment, std::uint64_t until,
                                               Cursor& end) {
    SegmentHeader const& header = segment.header;
    end = {header.prev_last_lsn, header.prev_chain, page_bytes};
    GroupReader reader;
    std::optional<Group> group;
    for (std::uint64_t read = 1; end.lsn < until; ++read) {
        if (auto const error = reader.read(*segment.file, header, end, group))
            return unreadable(segment.name(), end.offset, error);
        if (!group) {
            return damaged(segment.name() + ", offset " + std::to_string(end.offset) + ": LSN " +
                           std::to_string(end.lsn + 1) + " is missing");
        }
        pass(end, group->header);
        if (read % groups_between_looks != 0) continue;
        if (auto stopped = between_()) return stopped;
    }
    return {};
}

std::optional<Failure> JournalCopier::take(ListedSegment& segment, std::uint64_t until,
                                           bool is_sealed) {
    Cursor end;
    if (auto failure = find_end(segment, until, end)) return failure;
    copy_.last = Lsn{end.lsn};
    std::string const name = segment.name();
    add(name);
    if (is_sealed && link(name)) return {};
    // A segment has a page behind its header, and that of the live one may be in use already.
    return copy_file(disk_, journal_folder(data_) / name, journal_folder(target_) / name,
                     {end.offset, 2 * page_bytes}, between_);
}

std::optional<Failure> JournalCopier::take_base(SegmentStart const& start) {
    if (auto failure = check_base(data_, disk_, start, between_)) return failure;
    std::string const name = base_name(start.segment);
    add(name);
    if (link(name)) return {};
    return copy_file(disk_, journal_folder(data_) / name, journal_folder(target_) / name, {},
                     between_);
}

std::optional<Failure> JournalCopier::copy_segments(std::uint64_t first) {
    std::vector<std::uint64_t> numbers;
    if (auto const error = list_segments(disk_, journal_folder(data_), numbers))
        return unreadable("journal/", 0, error);
    std::erase_if(numbers, [first](std::uint64_t number) { return number < first; });
    std::optional<ListedSegment> segment;
    if (auto failure = open(first, segment)) return failure;
    while (segment) {
        epoch_ = segment->header.boot_epoch;
        copy_.store_id = segment->header.store_id;
        std::optional<ListedSegment> next;
        std::uint64_t const number = segment->header.segment + 1;
        if (std::ranges::find(numbers, number) != numbers.end()) {
            if (auto failure = open(number, next)) return failure;
        }
        // Where the next one begins, this one ends for good.
        bool const goes_on = next && next->header.prev_last_lsn < until_;
        std::uint64_t const end = goes_on ? next->header.prev_last_lsn : until_;
        if (auto failure = take(*segment, end, goes_on)) return failure;
        if (!goes_on) return {};
        segment = std::move(next);
    }
    return damaged("the header of " + segment_name(first) + " is bad");
}

std::optional<Failure> JournalCopier::make_meta(std::uint32_t epoch) {
    Meta meta{target_, disk_};
    MetaPage page;
    page.store_id = copy_.store_id;
    page.boot_epoch = epoch;
    page.durable_lsn = copy_.last.value();
    page.first_segment = copy_.first_segment;
    if (auto const error = meta.store_both(page)) return not_copied("META", error);
    for (char const* const name : {"META.a", "META.b"}) copy_.files.emplace_back(name);
    return {};
}

ResultOf<JournalCopy, Failure> JournalCopier::run() {
    auto const first = first_segment_start(data_, disk_);
    if (!first) return first.error();
    copy_.first_segment = first->segment;
    auto const folder = journal_folder(target_);
    if (auto const error = disk_.make_folder(folder)) return not_copied("journal/", error);
    if (first->segment > 1) {
        if (auto failure = take_base(*first)) return std::move(*failure);
    }
    if (auto failure = copy_segments(first->segment)) return std::move(*failure);
    if (auto failure = make_meta(epoch_)) return std::move(*failure);
    for (auto const& synced : {folder, target_})
        if (auto const error = disk_.sync_folder(synced)) return not_copied(synced, error);
    return copy_;
}

}  // namespace

ResultOf<JournalCopy, Failure> copy_journal(std::filesystem::path const& data, Disk& disk,
                                            Lsn until, std::filesystem::path const& target,
                                            BetweenPieces const& between) {
    return JournalCopier{data, disk, until, target, between}.run();
}

}  // namespace holdfast::journal
