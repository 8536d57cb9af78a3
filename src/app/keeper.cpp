#include "app/keeper.hpp"

#include <holdfast/base/log.hpp>

#include <malloc.h>
#include <new>
#include <pthread.h>
#include <utility>

namespace holdfast::app {
namespace {

using namespace std::chrono_literals;
using journal::Failure;
using journal::Mode;
using journal::SegmentStart;

constexpr Milliseconds checkpoint_patience{1'000};
// So many go in the middle of a sale: 1 GiB of the usual size.
constexpr std::uint64_t segments_worth_a_stir = 16;

}  // namespace

Keeper::Keeper(engine::Projector& projector, journal::Journal& journal,
               engine::Compaction compaction, journal::Options const& options,
               KeeperRests const& rests)
    : projector_(projector),
      journal_(journal),
      compaction_(std::move(compaction)),
      free_bytes_min_(options.free_bytes_min),
      segment_bytes_(options.segment_bytes),
      rests_(rests),
      seen_(journal.durable_lsn()),
      thread_([this] { run(); }) {}

Keeper::~Keeper() {
    stop();
}

void Keeper::stop() {
    {
        std::lock_guard const lock(mutex_);
        stopping_.set(true);
    }
    changed_.notify_all();
    // The upkeep may be busy with a spare, for longer than a stop may take.
    journal_.end_keep_from();
    if (thread_.joinable()) thread_.join();
}

bool Keeper::wait_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [this] { return stopping_.get(); });
    return !stopping_.get();
}

void Keeper::run() {
    pthread_setname_np(pthread_self(), "keeper");
    // At once: a start is before the sale.
    std::chrono::milliseconds rest{0};
    while (wait_for(rest)) {
        auto failure = look_unless_paused();
        if (stopping_.get()) return;
        rest = failure ? rests_.after_failure : rests_.between_looks;
        std::string why = failure ? std::move(failure->message) : std::string{};
        if (failure && why != told_) log::warn("no segment is deleted", {{"why", why}});
        told_ = std::move(why);
    }
}

std::optional<Failure> Keeper::look_unless_paused() {
    std::unique_lock const looking(looking_, std::try_to_lock);
    if (!looking) return {};
    try {
        return look();
    } catch (std::bad_alloc const&) {
        // Short enough for a string that needs no memory. What was begun the next look begins anew,
        // or finds done.
        return Failure{1, "out of memory"};
    }
}

std::optional<Failure> Keeper::look() {
    // A failed journal writes no META; a degraded store makes no checkpoint.
    bool const able = journal_.mode() != Mode::failed && !projector_.degraded();
    if (!able) return {};
    if (projector_.in_doubt())
        return Failure{
            1, "the store has failed since the start: its file may say what the disk has not"};
    if (auto failure = compaction_.look_for_undone()) return failure;
    if (auto const undone = compaction_.undone())
        return is_stored(undone->before) ? remove(*undone) : std::nullopt;
    // A large base file is written for a small gain if else nothing more could be sold.
    bool const at_any_gain = journal_.mode() == Mode::read_only;
    auto const found = compaction_.find(projector_.applied_lsn(), at_any_gain);
    if (!found) return found.error();
    if (!*found || !is_time_for(**found)) return {};
    SegmentStart const& start = **found;
    if (!is_stored(start.before)) return {};
    if (auto failure = prepare(start)) return failure;
    // Not on the store thread: the upkeep may be busy with a spare.
    if (auto failure = compaction_.begin_with(start, journal_)) return failure;
    return remove(start);
}

bool Keeper::is_stored(Lsn before) {
    if (projector_.store_durable_lsn() < before) projector_.request_checkpoint();
    return projector_.wait_stored(before, checkpoint_patience);
}

bool Keeper::is_time_for(SegmentStart const& start) {
    Lsn const durable = journal_.durable_lsn();
    if (std::exchange(seen_, durable) == durable) return true;
    if (start.segment - compaction_.first_segment() >= segments_worth_a_stir) return true;
    journal::Health const health = journal_.health();
    bool const grows_full = health.bytes_max != 0 && health.bytes > health.bytes_max / 4 * 3;
    return grows_full || compaction_.space_is_scarce(free_bytes_min_);
}

std::optional<Failure> Keeper::prepare(SegmentStart const& start) {
    // A journal without space writes nothing that would need what the base file takes.
    std::uint64_t const left =
        journal_.mode() == Mode::read_only ? 0 : free_bytes_min_ + 2 * segment_bytes_;
    std::optional<Failure> failure;
    try {
        failure = compaction_.prepare(start, {left, [this] { return stopping_.get(); }});
    } catch (std::bad_alloc const&) {
        failure = Failure{1, "there is not enough memory to replay what would go"};
    }
    // What the replay had, as much as the engine itself, is given back to the system: malloc
    // keeps it otherwise, and the next replay may find it in pieces.
    ::malloc_trim(0);
    return failure;
}

std::optional<Failure> Keeper::remove(SegmentStart const& start) {
    std::optional<Failure> failure;
    std::uint64_t const before = compaction_.oldest_left();
    bool const done =
        projector_.when_stored(start.before, [&] { failure = compaction_.delete_before(start); });
    if (done && !failure) {
        log::info("segments deleted", {{"from", static_cast<std::int64_t>(before)},
                                       {"first_kept", static_cast<std::int64_t>(start.segment)}});
    }
    return failure;
}

}  // namespace holdfast::app
