#include "journal/format.hpp"
#include "journal/group_reader.hpp"
#include "journal/meta.hpp"
#include "journal/segment_files.hpp"
#include "journal/upkeep.hpp"

#include <holdfast/journal/base_file.hpp>
#include <holdfast/journal/file_failure.hpp>
#include <holdfast/journal/salvage.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::journal {
namespace {

using Trouble = std::optional<Failure>;

constexpr std::uint64_t open_end = std::numeric_limits<std::uint64_t>::max();

/// Only the framing of records is looked at; what they say is the replay's business.
class AnyRecord final : public RecordSink {
public:
    bool record(RecordView const&) override { return true; }
};

struct ReadSegment {
    std::unique_ptr<File> file;
    std::optional<SegmentHeader> header;
    std::string why;  // it cannot be used
};

std::string at_offset(std::string const& name, std::uint64_t offset) {
    return name + ", offset " + std::to_string(offset) + ": ";
}

/// Reads forward as a recovery does, but notes what it meets instead of refusing.
class Search {
public:
    Search(std::filesystem::path const& data, Disk& disk, Lsn promised)
        : data_(data), disk_(disk), meta_(data, disk) {
        see_acknowledged(promised.value());
    }
    [[nodiscard]] ResultOf<WholePart, Failure> run();

private:
    [[nodiscard]] Trouble find_first();
    [[nodiscard]] ReadSegment open(std::uint64_t number);
    [[nodiscard]] std::string why_not(SegmentHeader const& header, std::uint64_t number);
    void begin(SegmentHeader const& header);
    void check_goes_on(SegmentHeader const& header);
    [[nodiscard]] std::uint64_t seal_by(std::uint64_t number);
    void read_segment(ReadSegment& segment, std::uint64_t sealed);
    [[nodiscard]] bool read_group(ReadSegment& segment);
    void look_behind(ReadSegment& segment, std::uint64_t offset);
    [[nodiscard]] bool is_unborn(ReadSegment& segment);
    void read_forward();
    void note(std::string const& what) {
        if (!part_.damage.empty()) part_.damage += "; ";
        part_.damage += what;
    }
    /// Nothing behind is whole; the first reason counts.
    void stop_at(std::string const& what) {
        if (!std::exchange(broken_, true)) note(what);
    }
    /// What is only not to be had now says nothing of the journal, so nothing is said of it.
    bool is_no_damage(std::string const& name, std::error_code error) {
        bool const is_none = error && exit_code_of(error, Access::read) == 76;
        if (is_none && !trouble_) trouble_ = unreadable(name, 0, error);
        return is_none;
    }
    [[nodiscard]] Trouble check_base_file();
    void see_acknowledged(std::uint64_t lsn) {
        part_.acknowledged = std::max(part_.acknowledged, Lsn{lsn});
    }

    std::filesystem::path const& data_;
    Disk& disk_;
    Meta meta_;
    GroupReader reader_;
    std::vector<std::uint64_t> numbers_;
    WholePart part_;
    Cursor end_{};
    std::string stop_;  // why the group at the cursor cannot be read
    bool broken_{};
    std::optional<SegmentStart> start_;  // of the first segment
    Trouble trouble_;
};

Trouble Search::find_first() {
    // A page of META that cannot be read is as one that is damaged: the segments know it all.
    auto const unread = meta_.load();
    if (is_no_damage("META", unread)) return meta_.why_not_loaded(unread);
    if (auto newer = meta_.refuse_newer()) return newer;
    if (auto const error = list_segments(disk_, journal_folder(data_), numbers_))
        return unreadable("journal/", 0, error);
    if (meta_.page()) {
        part_.first_segment = meta_.page()->first_segment;
        part_.store_id = meta_.page()->store_id;
        see_acknowledged(meta_.page()->durable_lsn);
    } else {
        note("neither META.a nor META.b is good");
        for (std::uint64_t const number : numbers_) {
            std::unique_ptr<File> base;
            auto const name = base_name(number);
            auto const none = disk_.open(journal_folder(data_) / name, OpenMode::read, base);
            if (is_no_damage(name, none)) return trouble_;
            bool const first = number == 1 || !none;
            if (first && part_.first_segment == 0) part_.first_segment = number;
        }
    }
    std::erase_if(numbers_, [this](std::uint64_t number) { return number < part_.first_segment; });
    bool const there = part_.first_segment != 0 && !numbers_.empty();
    if (there && numbers_.front() == part_.first_segment) return {};
    return beyond_salvage(damaged("segment " +
                                  segment_name(std::max<std::uint64_t>(part_.first_segment, 1)) +
                                  " is missing"));
}

ReadSegment Search::open(std::uint64_t number) {
    ReadSegment segment;
    std::string const name = segment_name(number);
    auto const failed =
        disk_.open(journal_folder(data_) / name, OpenMode::read_device, segment.file);
    if (failed) {
        is_no_damage(name, failed);
        segment.why = name + " cannot be opened: " + failed.message();
        return segment;
    }
    auto const unread = read_segment_header(*segment.file, segment.header);
    is_no_damage(name, unread);
    if (unread)
        segment.why = at_offset(name, 0) + unread.message();
    else if (!segment.header)
        segment.why = "the header of " + name + " is bad";
    else
        segment.why = why_not(*segment.header, number);
    if (!segment.why.empty()) segment.header.reset();
    return segment;
}

std::string Search::why_not(SegmentHeader const& header, std::uint64_t number) {
    std::string const name = segment_name(number);
    if (auto const newer = refuse_newer(name, header.version, format_version)) {
        if (!trouble_) trouble_ = newer;  // no damage
        return newer->message;
    }
    if (header.segment != number)
        return name + " is segment " + std::to_string(header.segment) + " by its header";
    if (part_.store_id != StoreId{} && header.store_id != part_.store_id)
        return name + " belongs to another store";
    if (!is_possible(header)) return "the header of " + name + " is impossible";
    return {};
}

bool Search::read_group(ReadSegment& segment) {
    std::optional<Group> group;
    if (auto const error = reader_.read(*segment.file, *segment.header, end_, group)) {
        is_no_damage(segment_name(segment.header->segment), error);
        stop_ = "cannot be read: " + error.message();
        return false;
    }
    AnyRecord any;
    bool const whole = group && deliver(*group, 0, open_end, any) == Delivery::done;
    if (!whole) {
        stop_ = "is no group that follows LSN " + std::to_string(end_.lsn);
        return false;
    }
    see_acknowledged(group->header.durable_lsn);
    pass(end_, group->header);
    return true;
}

void Search::read_segment(ReadSegment& segment, std::uint64_t sealed) {
    SegmentHeader const& header = *segment.header;
    end_.offset = page_bytes;
    while (end_.lsn < sealed && read_group(segment)) {
    }
    part_.last_segment = header.segment;
    part_.end_offset = end_.offset;
    part_.boot_epoch = header.boot_epoch;
    part_.last_lsn = Lsn{end_.lsn};
    if (sealed != open_end && end_.lsn < sealed)
        stop_at(at_offset(segment_name(header.segment), end_.offset) + stop_);
    if (broken_ || sealed == open_end) look_behind(segment, end_.offset);
}

/// Groups after the damage that are whole in themselves.
void Search::look_behind(ReadSegment& segment, std::uint64_t offset) {
    std::uint64_t const size = segment.file->size();
    while (offset < size) {
        GroupReader::Page page;
        std::uint64_t const here = std::exchange(offset, offset + page_bytes);
        auto const unread_page = reader_.look(*segment.file, *segment.header, here, page);
        is_no_damage(segment_name(segment.header->segment), unread_page);
        if (unread_page || !page.header) continue;
        GroupHeader const& header = *page.header;
        see_acknowledged(header.durable_lsn);
        if (header.record_count == 0 || header.first_lsn <= end_.lsn) continue;
        std::optional<Group> group;
        Cursor const cursor{header.first_lsn - 1, header.prev_chain, here};
        auto const unread = reader_.read(*segment.file, *segment.header, cursor, group);
        is_no_damage(segment_name(segment.header->segment), unread);
        if (unread || !group) continue;
        offset = here + header.total_len;
        if (part_.groups_behind++ == 0) part_.first_behind = Lsn{header.first_lsn};
        part_.records_behind += header.record_count;
        part_.last_behind = std::max(part_.last_behind, Lsn{header.last_lsn});
    }
}

/// R6: a last segment that got its name and nothing else.
bool Search::is_unborn(ReadSegment& segment) {
    if (segment.header || !segment.file) return false;
    for (std::uint64_t offset = page_bytes; offset < segment.file->size(); offset += page_bytes) {
        GroupReader::Page page;
        if (reader_.look(*segment.file, SegmentHeader{}, offset, page) || !page.is_zero)
            return false;
    }
    return true;
}

void Search::begin(SegmentHeader const& header) {
    start_ = start_of(header);
    part_.store_id = header.store_id;
    part_.before = Lsn{header.prev_last_lsn};
    end_ = {header.prev_last_lsn, header.prev_chain, page_bytes};
}

void Search::check_goes_on(SegmentHeader const& header) {
    if (header.prev_last_lsn == end_.lsn && header.prev_chain == end_.chain) return;
    stop_at(segment_name(header.segment) + " goes on from LSN " +
            std::to_string(header.prev_last_lsn) +
            ", but what is before it ends with another record at LSN " + std::to_string(end_.lsn));
}

/// Where the segment of that number says that the one before it ends.
std::uint64_t Search::seal_by(std::uint64_t number) {
    ReadSegment const next = open(number);
    return next.header ? next.header->prev_last_lsn : open_end;
}

void Search::read_forward() {
    std::uint64_t expected = part_.first_segment;
    for (std::uint64_t const number : numbers_) {
        bool const is_last = number == numbers_.back();
        ReadSegment segment = open(number);
        if (!broken_ && is_last && number != part_.first_segment && is_unborn(segment)) return;
        if (number != expected) stop_at("segment " + segment_name(expected) + " is missing");
        expected = number + 1;
        if (!segment.header) {
            stop_at(segment.why);
            continue;
        }
        see_acknowledged(segment.header->prev_last_lsn);
        if (number == part_.first_segment)
            begin(*segment.header);
        else if (!broken_)
            check_goes_on(*segment.header);
        if (broken_)
            look_behind(segment, page_bytes);
        else
            read_segment(segment, is_last ? open_end : seal_by(number + 1));
    }
}

/// Without it the segments say changes to nobody knows what.
Trouble Search::check_base_file() {
    if (!start_ || part_.first_segment == 1) return {};
    auto failure = check_base(data_, disk_, *start_, [] { return Trouble{}; });
    return failure ? beyond_salvage(*failure) : failure;
}

ResultOf<WholePart, Failure> Search::run() {
    if (auto trouble = find_first()) return std::move(*trouble);
    read_forward();
    if (!trouble_) trouble_ = check_base_file();
    if (trouble_) return *trouble_;
    if (part_.last_segment == 0) return beyond_salvage(damaged(part_.damage));
    if (meta_.page() && meta_.page()->boot_epoch > part_.boot_epoch) {
        stop_at("META knows start " + std::to_string(meta_.page()->boot_epoch) +
                ", of which no segment is whole");
    }
    if (part_.acknowledged > part_.last_lsn)
        stop_at(at_offset(segment_name(part_.last_segment), part_.end_offset) + stop_);
    return part_;
}

}  // namespace

ResultOf<WholePart, Failure> find_whole_part(std::filesystem::path const& data, Disk& disk,
                                             Lsn promised) {
    return Search{data, disk, promised}.run();
}

}  // namespace holdfast::journal
