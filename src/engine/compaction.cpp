#include <holdfast/base/assert.hpp>
#include <holdfast/engine/compaction.hpp>
#include <holdfast/engine/replay.hpp>
#include <holdfast/journal/recovery.hpp>

#include <string>
#include <utility>

namespace holdfast::engine {

using journal::Failure;
using journal::SegmentStart;

namespace {

constexpr std::size_t records_between_looks = 20'000;
constexpr std::uint64_t segments_of_scarcity = 8;

std::optional<Failure> failure_if_stopped(CompactionTerms const& terms) {
    if (terms.stopped && terms.stopped()) return Failure{1, "the server is being stopped"};
    return {};
}

}  // namespace

Compaction::Compaction(std::filesystem::path data, journal::Disk& disk, std::uint64_t segment_bytes,
                       std::uint64_t first_segment, Places places, std::size_t mark_bytes_max)
    : data_(std::move(data)),
      disk_(disk),
      segment_bytes_(segment_bytes),
      first_segment_(first_segment),
      places_(std::move(places)),
      mark_bytes_max_(mark_bytes_max) {}

ResultOf<std::optional<SegmentStart>, Failure> Compaction::find(Lsn stored,
                                                                bool at_any_gain) const {
    auto found = journal::first_worth_keeping(data_, disk_, first_segment_, stored, segments_kept);
    if (!found || !*found || at_any_gain) return found;
    std::uint64_t const gain = ((*found)->segment - first_segment_) * segment_bytes_;
    if (gain < journal::base_bytes(data_, disk_, first_segment_))
        return std::optional<SegmentStart>{};
    return found;
}

std::optional<Failure> Compaction::prepare(SegmentStart const& start, Terms const& terms) {
    HOLDFAST_ASSERT(start.segment > first_segment_);
    auto const state = state_before(start, terms);
    if (!state) return state.error();
    if (auto failure = no_space_for(state->size(), terms)) return failure;
    auto const between = [&terms] { return failure_if_stopped(terms); };
    if (auto failure = journal::write_base(data_, disk_, start, *state, between)) return failure;
    return read_back(start, *state, terms);
}

ResultOf<std::vector<std::byte>, Failure> Compaction::state_before(SegmentStart const& start,
                                                                   Terms const& terms) const {
    Replay replay(places_(), mark_bytes_max_);
    auto const from = journal::segment_start(data_, disk_, first_segment_);
    if (!from) return from.error();
    auto const reader = journal::read_from(
        data_, disk_, *from, [&replay](auto const base) { return replay.load(base); },
        [&terms] { return failure_if_stopped(terms); });
    if (!replay.breach().empty()) return Failure{78, replay.breach()};
    if (!reader) return reader.error();
    for (Lsn last = from->before; last < start.before;) {
        if (auto stopped = failure_if_stopped(terms)) return std::move(*stopped);
        auto const read = (*reader)->read(start.before, records_between_looks, replay);
        if (!replay.breach().empty()) return Failure{78, replay.breach()};
        if (!read) return read.error();
        last = read->last;
    }
    if (auto stopped = failure_if_stopped(terms)) return std::move(*stopped);
    return replay.save();
}

/// The disk must not be filled by what is to make room on it: a base file is there before anything
/// goes.
std::optional<Failure> Compaction::no_space_for(std::size_t state_bytes, Terms const& terms) const {
    std::uint64_t free{};
    // If it cannot be told, the writing will tell.
    if (disk_.free_bytes(data_, free)) return {};
    std::uint64_t const wanted = journal::base_bytes_for(state_bytes) + terms.bytes_left_free;
    if (free >= wanted) return {};
    return Failure{76, "not enough space for the base file: " + std::to_string(wanted) +
                           " bytes are needed and " + std::to_string(free) + " are free"};
}

/// It replaces gigabytes of groups that have their own checks, so what the disk has is compared
/// before they go.
std::optional<Failure> Compaction::read_back(SegmentStart const& start,
                                             std::vector<std::byte> const& state,
                                             Terms const& terms) const {
    auto const between = [&terms] { return failure_if_stopped(terms); };
    {
        auto const written = journal::read_base(data_, disk_, start, between);
        if (!written) return written.error();
        if (*written != state) return Failure{76, "the base file is not what was written"};
    }
    if (auto stopped = between()) return stopped;
    Replay replay(places_(), 0);  // its marks are looked at, and need not be kept
    if (!replay.load(state)) return Failure{76, "the base file is of no use: " + replay.breach()};
    return {};
}

bool Compaction::space_is_scarce(std::uint64_t floor) const {
    std::uint64_t free{};
    if (disk_.free_bytes(data_, free)) return false;
    std::uint64_t const base = journal::base_bytes(data_, disk_, first_segment_);
    return free < floor + 2 * base + segments_of_scarcity * segment_bytes_;
}

std::optional<Failure> Compaction::begin_with(SegmentStart const& start,
                                              journal::Journal& journal) {
    if (!journal.keep_from(start.segment))
        return Failure{76,
                       "META does not name the next first segment yet, so that none is deleted"};
    // All that is read begins there from now on, whenever the older ones go.
    first_segment_ = start.segment;
    undone_ = start;
    return {};
}

std::optional<Failure> Compaction::look_for_undone() {
    if (looked_for_undone_) return {};
    bool found{};
    if (auto failure = journal::has_before(data_, disk_, first_segment_, found)) return failure;
    if (found) {
        auto const start = journal::segment_start(data_, disk_, first_segment_);
        if (!start) return start.error();
        undone_ = *start;
        oldest_left_ = 0;
    }
    looked_for_undone_ = true;
    return {};
}

std::optional<Failure> Compaction::delete_before(SegmentStart const& start) {
    HOLDFAST_ASSERT(start.segment == first_segment_);
    if (auto failure = journal::delete_before(data_, disk_, first_segment_)) return failure;
    undone_.reset();
    oldest_left_ = first_segment_;
    return {};
}

}  // namespace holdfast::engine
