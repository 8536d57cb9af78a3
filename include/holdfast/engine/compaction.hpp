// Compaction: makes old segments of a running journal needless, and deletes them.
//
// Purpose: a start needs the holds, generations and life steps that deleted records spoke of. They
//   are what a replay of those very records knows, so that is what is kept: find() says which
//   segments may go, prepare() replays them on top of the last base file and writes the next one,
//   commit() has META name it and deletes.
// Thread safety: find and prepare: one thread at a time. commit: where nobody reads those segments.
// Invariants: only records that the store has durably are deleted, the newest four segments stay,
//   and base file + records left give the very state that all records gave: one replay, cut in two.
//   A crash anywhere leaves a start that reads either the old segments or the new base file.
// Cost: find lists a folder. prepare reads what goes once more: about a second and the memory of a
//   replay for each few million records; a base file is not rewritten for less than its own size.
#pragma once

#include <holdfast/domain/ids.hpp>
#include <holdfast/journal/base_file.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

namespace holdfast::engine {

class Compaction {
public:
    static constexpr std::uint64_t segments_kept = 4;
    /// The catalogue's events with their number of places, as of the call.
    using Places = std::function<std::map<EventId, std::uint32_t>()>;

    /// `first_segment`: of the recovered tail.
    Compaction(std::filesystem::path data, journal::Disk& disk, std::uint64_t segment_bytes,
               std::uint64_t first_segment, Places places);

    /// The segment to begin with, if the store has all before it; nothing if it is not worth it.
    [[nodiscard]] ResultOf<std::optional<journal::SegmentStart>, journal::Failure> find(
        Lsn stored) const;
    [[nodiscard]] std::optional<journal::Failure> prepare(journal::SegmentStart const& start);
    /// What prepare() prepared.
    [[nodiscard]] std::optional<journal::Failure> commit(journal::SegmentStart const& start,
                                                         journal::Journal& journal);
    [[nodiscard]] std::uint64_t first_segment() const noexcept { return first_segment_; }

private:
    std::filesystem::path data_;
    journal::Disk& disk_;
    std::uint64_t segment_bytes_;
    std::uint64_t first_segment_;
    Places places_;
};

}  // namespace holdfast::engine
