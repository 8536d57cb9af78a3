// Compaction: makes old segments of a running journal needless, and deletes them.
//
// Purpose: a start needs the holds, generations and life steps that deleted records spoke of. They
//   are what a replay of those very records knows, so that is what is kept: find() says which
//   segments may go, prepare() replays them on top of the last base file, writes the next one and
//   reads it back, begin_with() has META name it, delete_before() deletes.
// Thread safety: one thread at a time; delete_before where nobody reads those segments.
// Invariants: only records that the store has durably are deleted, the newest four segments stay,
//   and base file + records left give the very state that all records gave: one replay, cut in two.
//   A crash anywhere leaves a start that reads either the old segments or the new base file.
// Cost: find lists a folder. prepare reads what goes once more, about a second for each few million
//   records, with the memory of a replay of the events in it (some 90 bytes a live or sold hold, 20
//   a slot used, 4 a place) and twice the base file, which is not rewritten for less than its size.
#pragma once

#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/journal/base_file.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace holdfast::engine {

/// Of one prepare().
struct CompactionTerms {
    std::uint64_t bytes_left_free{};  // on the disk, beside the base file
    std::function<bool()> stopped;    // asked between pieces of all that it does; true: give up
};

class Compaction {
public:
    static constexpr std::uint64_t segments_kept = 4;
    /// The catalogue's events with their number of places, as of the call.
    using Places = std::function<std::map<EventId, std::uint32_t>()>;

    /// `first_segment`: of the recovered tail.
    Compaction(std::filesystem::path data, journal::Disk& disk, std::uint64_t segment_bytes,
               std::uint64_t first_segment, Places places,
               std::size_t mark_bytes_max = limits::mark_bytes_default);

    /// The segment to begin with, if the store has all before it; nothing if it is not worth it.
    [[nodiscard]] ResultOf<std::optional<journal::SegmentStart>, journal::Failure> find(
        Lsn stored, bool at_any_gain = false) const;
    using Terms = CompactionTerms;
    /// After a failure nothing has changed but for an unused base file.
    [[nodiscard]] std::optional<journal::Failure> prepare(journal::SegmentStart const& start,
                                                          Terms const& terms = {});
    /// With what prepare() prepared. After a failure META may still come to name it.
    [[nodiscard]] std::optional<journal::Failure> begin_with(journal::SegmentStart const& start,
                                                             journal::Journal& journal);
    /// With what begin_with() went well for. After a failure it is undone().
    [[nodiscard]] std::optional<journal::Failure> delete_before(journal::SegmentStart const& start);
    /// Once, before anything is found: what the start could not delete is undone(), too.
    [[nodiscard]] std::optional<journal::Failure> look_for_undone();
    /// META names it, and the deletion before it was not done, or has failed: it is to be done
    /// before anything else is found.
    [[nodiscard]] std::optional<journal::SegmentStart> const& undone() const noexcept {
        return undone_;
    }
    [[nodiscard]] std::uint64_t first_segment() const noexcept { return first_segment_; }
    /// Older than the first one if a deletion is undone; 0 if it is one of before the start.
    [[nodiscard]] std::uint64_t oldest_left() const noexcept { return oldest_left_; }
    /// Less than two base files, some segments and `floor` are free; false if it cannot be told.
    [[nodiscard]] bool space_is_scarce(std::uint64_t floor) const;

private:
    [[nodiscard]] ResultOf<std::vector<std::byte>, journal::Failure> state_before(
        journal::SegmentStart const& start, Terms const& terms) const;
    [[nodiscard]] std::optional<journal::Failure> no_space_for(std::size_t state_bytes,
                                                               Terms const& terms) const;
    [[nodiscard]] std::optional<journal::Failure> read_back(journal::SegmentStart const& start,
                                                            std::vector<std::byte> const& state,
                                                            Terms const& terms) const;

    std::filesystem::path data_;
    journal::Disk& disk_;
    std::uint64_t segment_bytes_;
    std::uint64_t first_segment_;
    std::uint64_t oldest_left_{first_segment_};
    std::optional<journal::SegmentStart> undone_;
    bool looked_for_undone_{false};
    Places places_;
    std::size_t mark_bytes_max_;
};

}  // namespace holdfast::engine
