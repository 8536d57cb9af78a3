#include "journal/format.hpp"
#include "journal/group_reader.hpp"
#include "journal/segment_files.hpp"
#include "journal/upkeep.hpp"

#include <holdfast/journal/recovery.hpp>

#include <limits>
#include <utility>

namespace holdfast::journal {

struct TailReader::State {
    State(std::filesystem::path data, Disk& the_disk, Lsn after)
        : folder(journal_folder(data)), disk(the_disk), last(after.value()) {}

    std::filesystem::path folder;
    Disk& disk;
    GroupReader reader;
    std::uint64_t last;  // given to the sink, or what the reading begins after
    std::uint32_t chain{};
    std::unique_ptr<File> file;  // of the segment being read
    SegmentHeader segment;
    Cursor cursor{};
    // The end that the next segment seals. What stands behind it may be the torn tail of an earlier
    // start, which looks whole in the page cache only. The live segment has no next one.
    std::uint64_t sealed{};

    [[nodiscard]] std::optional<Failure> open(std::uint64_t number);
    [[nodiscard]] std::optional<Failure> find_seal();
    [[nodiscard]] std::optional<Failure> find_first();
    [[nodiscard]] std::optional<Failure> next_segment();
    [[nodiscard]] std::optional<Failure> next_group(std::optional<Group>& group);
    [[nodiscard]] bool exists(std::uint64_t number, std::unique_ptr<File>& found,
                              std::error_code& error);
};

namespace {

Failure tail_lost(std::string const& what) {
    return damaged("reading on behind the running journal: " + what);
}

}  // namespace

// The page cache is what we want here: these bytes were written a moment ago by this process.
bool TailReader::State::exists(std::uint64_t number, std::unique_ptr<File>& found,
                               std::error_code& error) {
    error = disk.open(folder / segment_name(number), OpenMode::read, found);
    if (error == std::errc::no_such_file_or_directory) error.clear();
    return found != nullptr;
}

std::optional<Failure> TailReader::State::open(std::uint64_t number) {
    std::string const name = segment_name(number);
    std::unique_ptr<File> found;
    std::error_code error;
    if (!exists(number, found, error)) {
        if (error) return unreadable(name, 0, error);
        return tail_lost("segment " + name + " is missing");
    }
    std::optional<SegmentHeader> header;
    if (auto const failed = read_segment_header(*found, header)) return unreadable(name, 0, failed);
    if (!header || header->segment != number) return tail_lost("the header of " + name + " is bad");
    file = std::move(found);
    segment = *header;
    cursor = {header->prev_last_lsn, header->prev_chain, page_bytes};
    return find_seal();
}

std::optional<Failure> TailReader::State::find_seal() {
    sealed = std::numeric_limits<std::uint64_t>::max();
    std::unique_ptr<File> next;
    std::error_code error;
    std::string const name = segment_name(segment.segment + 1);
    if (!exists(segment.segment + 1, next, error)) {
        if (error) return unreadable(name, 0, error);
        return {};
    }
    std::optional<SegmentHeader> header;
    if (auto const failed = read_segment_header(*next, header)) return unreadable(name, 0, failed);
    if (!header) return tail_lost("the header of " + name + " is bad");
    sealed = header->prev_last_lsn;
    return {};
}

std::optional<Failure> TailReader::State::find_first() {
    std::vector<std::uint64_t> numbers;
    if (auto const error = list_segments(disk, folder, numbers)) {
        return unreadable("journal/", 0, error);
    }
    // From the newest back: a reader that follows the journal closely finds its place at once.
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
        if (auto failure = open(*number)) return failure;
        if (cursor.lsn <= last) return {};
    }
    file.reset();
    return tail_lost("LSN " + std::to_string(last + 1) + " is in no segment");
}

std::optional<Failure> TailReader::State::next_segment() {
    Cursor const end = cursor;
    std::uint64_t const number = segment.segment + 1;
    if (auto failure = open(number)) {
        // One without records, of a group that only ended the one before, may be deleted by now.
        if (auto const lost = find_first()) return lost;
        bool const goes_on = segment.segment > number && cursor.lsn == end.lsn;
        return goes_on ? std::nullopt : std::move(failure);
    }
    if (cursor.lsn == end.lsn && cursor.chain == end.chain) return {};
    return tail_lost(segment_name(number) + " does not go on from LSN " + std::to_string(end.lsn));
}

/// The group at the cursor, in the next segment if this one is at its end. The caller knows that
/// there is one.
std::optional<Failure> TailReader::State::next_group(std::optional<Group>& group) {
    group.reset();
    if (cursor.lsn < sealed) {
        if (auto const error = reader.read(*file, segment, cursor, group)) {
            return unreadable(segment_name(segment.segment), cursor.offset, error);
        }
        if (group) return {};
        if (sealed != std::numeric_limits<std::uint64_t>::max()) {
            return tail_lost(segment_name(segment.segment) + ", offset " +
                             std::to_string(cursor.offset) + ": LSN " +
                             std::to_string(cursor.lsn + 1) + " is missing");
        }
    }
    return next_segment();
}

TailReader::TailReader(std::filesystem::path data, Disk& disk, Lsn after)
    : state_(std::make_unique<State>(std::move(data), disk, after)) {}

TailReader::~TailReader() = default;

ResultOf<TailReader::Chunk, Failure> TailReader::read(Lsn until, std::size_t records_max,
                                                      RecordSink& sink) {
    State& state = *state_;
    std::uint64_t const first = state.last;
    if (state.last < until.value() && !state.file) {
        if (auto failure = state.find_first()) return std::move(*failure);
    }
    std::optional<Group> group;
    while (state.last < until.value() && state.last - first < records_max) {
        if (auto failure = state.next_group(group)) return std::move(*failure);
        if (!group) continue;  // a new segment
        Delivery const delivery = deliver(*group, state.last, until.value(), sink);
        if (delivery == Delivery::bad_framing) {
            return tail_lost(segment_name(state.segment.segment) + " holds malformed records");
        }
        if (delivery == Delivery::stopped_by_sink) {
            return Failure{78, "a record cannot be applied: LSN " +
                                   std::to_string(group->header.first_lsn) + " to " +
                                   std::to_string(group->header.last_lsn)};
        }
        if (group->header.last_lsn > state.last) {
            state.last = std::min(group->header.last_lsn, until.value());
            state.chain = group->header.body_crc;
        }
        // A group that goes on behind `until` is read again from its start the next time.
        if (group->header.last_lsn <= until.value()) pass(state.cursor, group->header);
    }
    return Chunk{Lsn{state.last}, state.chain};
}

}  // namespace holdfast::journal
