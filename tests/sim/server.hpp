// Server: what lives from one start to the next stop.
#pragma once

#include "tests/sim/sim_journal.hpp"
#include "tests/sim/world.hpp"

#include <holdfast/engine/compaction.hpp>
#include <holdfast/journal/recovery.hpp>

namespace holdfast::sim {

inline std::filesystem::path const data = "data";

/// What a record says is somebody else's business.
class AnyRecord final : public journal::RecordSink {
public:
    bool begin(journal::SegmentStart const&) override { return true; }
    bool record(journal::RecordView const&) override { return true; }
};

struct World::Server {
    std::unique_ptr<SimJournal> journal;
    std::optional<engine::Engine> engine;
    engine::LiveEvent* event{};
    std::optional<engine::Compaction> compaction;
    std::optional<journal::TailReader> follower;  // of the store
    std::size_t segments{};
    bool was_read_only{};
};

}  // namespace holdfast::sim
