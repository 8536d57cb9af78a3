// Keeper: deletes old segments of the journal once the store has all they say.
//
// Purpose: looks every second whether segments could go, has the store make a checkpoint, has the
//   compaction write the next base file, and deletes on the store thread, where nobody reads them.
// Thread safety: stop() by the owner; the rest is its own thread. Invariants: those of
//   engine::Compaction. After a failure nothing is deleted; it is logged once and tried again.
// Cost: one thread; a look lists one folder.
#pragma once

#include <holdfast/engine/compaction.hpp>
#include <holdfast/engine/projector.hpp>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace holdfast::app {

class Keeper {
public:
    Keeper(engine::Projector& projector, journal::Journal& journal, engine::Compaction compaction);
    ~Keeper();
    Keeper(Keeper const&) = delete;
    Keeper& operator=(Keeper const&) = delete;
    void stop();

private:
    void run();
    [[nodiscard]] std::optional<journal::Failure> look();
    [[nodiscard]] bool wait_for(std::chrono::milliseconds time);

    engine::Projector& projector_;
    journal::Journal& journal_;
    engine::Compaction compaction_;
    std::string told_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_{};
    std::thread thread_;
};

}  // namespace holdfast::app
