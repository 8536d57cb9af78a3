#include <holdfast/base/assert.hpp>
#include <holdfast/engine/compaction.hpp>
#include <holdfast/engine/replay.hpp>
#include <holdfast/journal/recovery.hpp>

#include <limits>
#include <utility>

namespace holdfast::engine {

using journal::Failure;
using journal::SegmentStart;

Compaction::Compaction(std::filesystem::path data, journal::Disk& disk, std::uint64_t segment_bytes,
                       std::uint64_t first_segment, Places places)
    : data_(std::move(data)),
      disk_(disk),
      segment_bytes_(segment_bytes),
      first_segment_(first_segment),
      places_(std::move(places)) {}

ResultOf<std::optional<SegmentStart>, Failure> Compaction::find(Lsn stored) const {
    auto found = journal::first_worth_keeping(data_, disk_, first_segment_, stored, segments_kept);
    if (!found || !*found) return found;
    std::uint64_t const gain = ((*found)->segment - first_segment_) * segment_bytes_;
    if (gain < journal::base_bytes(data_, disk_, first_segment_))
        return std::optional<SegmentStart>{};
    return found;
}

std::optional<Failure> Compaction::prepare(SegmentStart const& start) {
    HOLDFAST_ASSERT(start.segment > first_segment_);
    Replay replay(places_());
    auto const from = journal::segment_start(data_, disk_, first_segment_);
    if (!from) return from.error();
    if (first_segment_ > 1) {
        auto const base = journal::read_base(data_, disk_, *from);
        if (!base) return base.error();
        if (!replay.load(*base)) return Failure{78, replay.breach()};
    }
    journal::TailReader reader(data_, disk_, from->before);
    auto const read = reader.read(start.before, std::numeric_limits<std::size_t>::max(), replay);
    if (!replay.breach().empty()) return Failure{78, replay.breach()};
    if (!read) return read.error();
    HOLDFAST_ASSERT(read->last == start.before);
    return journal::write_base(data_, disk_, start, replay.save());
}

std::optional<Failure> Compaction::commit(SegmentStart const& start, journal::Journal& journal) {
    if (!journal.keep_from(start.segment))
        return Failure{76, "META cannot be written, so that no segment is deleted"};
    first_segment_ = start.segment;
    return journal::delete_before(data_, disk_, first_segment_);
}

}  // namespace holdfast::engine
