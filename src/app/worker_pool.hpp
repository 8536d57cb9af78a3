// Worker pool: threads for what must not stop an io thread.
//
// Purpose: SQLite reads, imports, building an event's seats. Thread safety: submit from any thread;
// stop by the owner, once. Invariants: at most `queue_max` jobs wait; a job that was taken runs,
// also while stopping. Cost: one mutex, held for a push or a pop.
#pragma once

#include <holdfast/http/server.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::app {

class WorkerPool final : public http::Workers {
public:
    WorkerPool(unsigned threads, std::size_t queue_max);
    ~WorkerPool() override;
    WorkerPool(WorkerPool const&) = delete;
    WorkerPool& operator=(WorkerPool const&) = delete;

    /// False: the queue is full or the pool stops.
    [[nodiscard]] bool submit(std::function<void()> job) override;
    /// Jobs that no thread has begun.
    [[nodiscard]] std::size_t waiting();
    /// Runs what was taken, then ends the threads.
    void stop();

private:
    void work(unsigned number);
    [[nodiscard]] std::function<void()> next();

    std::size_t queue_max_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> queue_;
    bool stopping_{};
    std::vector<std::thread> threads_;
};

}  // namespace holdfast::app
