// What a projector is made of; its two halves are projector.cpp (the faces of other threads) and
// projector_run.cpp (the store thread).
#pragma once

#include "engine/projection.hpp"

#include <holdfast/base/published.hpp>
#include <holdfast/engine/projector.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <mutex>
#include <new>
#include <optional>
#include <string>

namespace holdfast::engine {

/// Why the store does not follow, and whether that may pass.
struct StoreTrouble {
    std::string why;
    bool passes{};
};

enum class Submitted : std::uint8_t { yes, full, stopping };

/// Short enough for a string that needs no memory.
inline constexpr char const* no_memory_for_it = "out of memory";

struct Projector::State {
    using SteadyTime = std::chrono::steady_clock::time_point;

    State(store::Store& the_store, journal::Journal& the_journal, journal::Disk& the_disk,
          std::filesystem::path folder, FindSpec find, ServerKey const& the_key,
          Milliseconds the_retry)
        : store(the_store),
          journal(the_journal),
          disk(the_disk),
          data(std::move(folder)),
          find_spec(std::move(find)),
          key(the_key),
          retry(the_retry),
          kept(the_store.identity().applied_lsn),
          applied(kept) {}

    void run();
    /// A piece of the store thread's work. Without memory for it the store has failed, and follows
    /// anew: what was begun in it and in the projection may be half.
    template <class Work>
    void with_memory(Work const& piece);
    void turn();
    [[nodiscard]] bool wait();
    void wait_for_work(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] std::uint64_t backlog() const noexcept;
    [[nodiscard]] bool urgent() const noexcept;
    void run_jobs();
    void follow();
    [[nodiscard]] std::optional<StoreTrouble> begin_following();
    void try_again();
    void go_back_to(Lsn lsn);
    void look_whether_well();
    [[nodiscard]] bool can_write();
    void apply_batch();
    [[nodiscard]] bool read_batch(std::uint32_t& chain);
    [[nodiscard]] StoreTrouble trouble_of_projection() const;
    void rest();
    void checkpoint();
    void note_doubt() noexcept;
    void degrade(StoreTrouble const& trouble) noexcept;
    void tell(StoreTrouble const& trouble);
    void publish(Lsn lsn);
    /// Has the store thread run it, if it takes any more.
    [[nodiscard]] Submitted submit(std::packaged_task<void()> job);

    store::Store& store;
    journal::Journal& journal;
    journal::Disk& disk;
    std::filesystem::path data;
    FindSpec find_spec;
    ServerKey const& key;
    Milliseconds retry;
    // Of the store thread alone.
    std::unique_ptr<journal::TailReader> reader;
    std::optional<Projection> projection;
    Lsn position{};        // read so far
    bool following{};      // there is a reader; degraded may go on for others
    Lsn kept{};            // of what is applied the disk has so much for certain
    Lsn resumed_at{};      // applied when it began to follow again
    SteadyTime stop_at{};  // under the mutex
    std::uint64_t checkpoint_at{};
    std::string trouble_told;
    SteadyTime retry_at{};
    Milliseconds retry_after{};
    // Any thread may read.
    Published<Lsn> applied;
    Published<std::uint64_t> times_gone_back{};
    Published<Lsn> store_durable{};
    Published<bool> degraded{false};
    // A sync has failed (RELIABILITY.md F1). What the file says since is what the disk has, but a
    // disk that failed once is not trusted with the only copy of a record: nothing is deleted on
    // its word until a restart.
    Published<bool> in_doubt{false};
    Published<std::uint64_t> wal_bytes{};
    Published<std::uint64_t> checkpoint_misses{};

    std::mutex mutex;
    std::condition_variable work;     // the store thread waits here
    std::condition_variable changed;  // wait_applied waits here
    // Under the mutex.
    std::deque<std::packaged_task<void()>> jobs;  // limits::store_jobs_max at most
    bool idle{};                                  // the store thread waits for notify()
    bool stopping{};
    bool checkpoint_wanted{};
    bool checkpoints_held{};
    bool checkpoint_missed{};  // one was due while they were held
    unsigned waiters{};
    Lsn wanted{};  // the newest LSN that a waiter needs
};

template <class Work>
void Projector::State::with_memory(Work const& piece) {
    try {
        piece();
    } catch (std::bad_alloc const&) {
        store.give_up();
        degrade({no_memory_for_it, true});
    }
}

}  // namespace holdfast::engine
