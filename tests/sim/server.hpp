// Server: what lives from one start to the next stop.
#pragma once

#include "tests/sim/sim_journal.hpp"
#include "tests/sim/world.hpp"

#include <holdfast/engine/compaction.hpp>

namespace holdfast::sim {

struct World::Server {
    std::unique_ptr<SimJournal> journal;
    std::optional<engine::Engine> engine;
    engine::LiveEvent* event{};
    std::optional<engine::Compaction> compaction;
    std::size_t segments{};
    bool was_read_only{};
};

}  // namespace holdfast::sim
