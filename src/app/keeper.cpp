#include "app/keeper.hpp"

#include <holdfast/base/log.hpp>

#include <pthread.h>
#include <utility>

namespace holdfast::app {
namespace {

using namespace std::chrono_literals;
using journal::Failure;

constexpr auto look_interval = 1s;
constexpr auto failure_rest = 60s;

}  // namespace

Keeper::Keeper(engine::Projector& projector, journal::Journal& journal,
               engine::Compaction compaction)
    : projector_(projector),
      journal_(journal),
      compaction_(std::move(compaction)),
      thread_([this] { run(); }) {}

Keeper::~Keeper() {
    stop();
}

void Keeper::stop() {
    {
        std::lock_guard const lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

bool Keeper::wait_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [this] { return stopping_; });
}

void Keeper::run() {
    pthread_setname_np(pthread_self(), "keeper");
    std::chrono::milliseconds rest = look_interval;
    while (wait_for(rest)) {
        auto const failure = look();
        rest = failure ? std::chrono::milliseconds{failure_rest} : look_interval;
        std::string const why = failure ? failure->message : std::string{};
        if (failure && why != told_) log::warn("no segment is deleted", {{"why", why}});
        told_ = why;
    }
}

std::optional<Failure> Keeper::look() {
    // A failed journal writes no META; a degraded store makes no checkpoint.
    bool const able = journal_.mode() != journal::Mode::failed && !projector_.degraded();
    if (!able) return {};
    if (projector_.has_failed())
        return Failure{
            1, "the store has failed since the start: its file may say what the disk has not"};
    auto const wanted = compaction_.find(projector_.applied_lsn());
    if (!wanted) return wanted.error();
    if (!*wanted) return {};
    auto const found = compaction_.find(projector_.store_durable_lsn());
    if (!found) return found.error();
    if (!*found) {
        projector_.request_checkpoint();
        return {};
    }
    if (auto failure = compaction_.prepare(**found)) return failure;
    std::optional<Failure> failure;
    std::uint64_t const before = compaction_.first_segment();
    bool const done = projector_.when_stored(
        (*found)->before, [&] { failure = compaction_.commit(**found, journal_); });
    if (done && !failure) {
        log::info("segments deleted",
                  {{"from", static_cast<std::int64_t>(before)},
                   {"first_kept", static_cast<std::int64_t>((*found)->segment)}});
    }
    return failure;
}

}  // namespace holdfast::app
