#include "app/worker_pool.hpp"

#include <holdfast/base/log.hpp>

#include <exception>
#include <pthread.h>
#include <string>

namespace holdfast::app {

WorkerPool::WorkerPool(unsigned threads, std::size_t queue_max) : queue_max_(queue_max) {
    threads_.reserve(threads);
    try {
        for (unsigned number = 0; number < threads; ++number)
            threads_.emplace_back([this, number] { work(number); });
    } catch (...) {
        stop();  // a thread cannot be started, and nobody would end those before it
        throw;
    }
}

WorkerPool::~WorkerPool() {
    stop();
}

bool WorkerPool::submit(std::function<void()> job) {
    {
        std::lock_guard const lock(mutex_);
        if (stopping_ || queue_.size() >= queue_max_) return false;
        queue_.push_back(std::move(job));
    }
    changed_.notify_one();
    return true;
}

std::size_t WorkerPool::waiting() {
    std::lock_guard const lock(mutex_);
    return queue_.size();
}

void WorkerPool::stop() {
    {
        std::lock_guard const lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

std::function<void()> WorkerPool::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return {};
    std::function<void()> job = std::move(queue_.front());
    queue_.pop_front();
    return job;
}

void WorkerPool::work(unsigned number) {
    pthread_setname_np(pthread_self(), ("worker-" + std::to_string(number)).c_str());
    while (std::function<void()> const job = next()) {
        try {
            job();
        } catch (std::exception const& error) {
            // Handlers are caught at the session; what arrives here is a job of ours, and the pool
            // must go on serving the others.
            log::error("worker job failed", {{"what", error.what()}});
        }
    }
}

}  // namespace holdfast::app
