// Upkeep: everything about the journal that must not delay an acknowledgement.
//
// Purpose: keeps two spare segments ready, looks after free space (read-only mode and back),
// refreshes the durable_lsn watermark in META at most once a second, and has META name the first
// segment that a start needs.
// Thread safety: settle_next, take_spare, spare_used: the journal thread. start, stop: the owner.
//   keep_from: one other thread; end_keep_from: any. Without start() there is no thread of its own:
//   look() does its work, and nothing waits.
// Invariants: owns Meta between start() and stop(); the first segment in META never goes back, and
//   keep_from answers only when both pages name it. Spares are made, and taken, in the order of
//   the segments that they will be. Without memory for one it is as if the disk had no space.
// Cost: its own thread; one look a second.
#pragma once

#include "journal/meta.hpp"
#include "journal/shared_state.hpp"
#include "journal/spare.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace holdfast::journal {

[[nodiscard]] std::filesystem::path journal_folder(std::filesystem::path const& data);
[[nodiscard]] std::filesystem::path spare_path(std::filesystem::path const& data, unsigned name);
inline constexpr unsigned spare_count = 2;

class Upkeep {
public:
    /// `on_failure` is called on the upkeep thread after the mode was set to failed.
    Upkeep(Options const& options, Disk& disk, Clock const& clock, Meta& meta, SharedState& shared,
           std::function<void()> on_failure);
    ~Upkeep();
    void start();
    /// Ends the thread, also in the middle of a spare; take_spare() then waits no longer.
    void stop() noexcept;
    /// One round of its work. What of it lacks memory is left to the next one.
    void look();

    /// Waits, for three seconds at most, until it is known whether a next segment can be had; if
    /// not, or if that is not known by then, turns the journal read-only. Called while the live
    /// segment still has room for all that is reserved.
    void settle_next();
    /// Waits until a spare is there. Empty: the journal stops or failed and none can be made.
    [[nodiscard]] std::optional<Spare> take_spare();
    /// The spare taken last has its final name: its old one can be used again.
    void spare_used();
    /// See Journal::keep_from. Any thread but the journal's and its own.
    [[nodiscard]] bool keep_from(std::uint64_t segment);
    void end_keep_from() noexcept;
    /// From now on take_spare() waits for no space to come free.
    void finish();

private:
    void run();
    /// Lets its thread look, and waits for what comes of it; without one, looks itself.
    template <class Settled>
    void have_looked(std::unique_lock<std::mutex>& lock, Milliseconds patience,
                     Settled const& settled);
    void try_step(void (Upkeep::*step)());
    void refuse_first_segment();
    void refresh_watermark();
    void refresh_first_segment();
    [[nodiscard]] bool store_meta(MetaPage const& page);
    void look_after_space();
    void set_read_only(bool read_only, char const* why = "there is no room for the next segment");
    [[nodiscard]] bool is_full();
    void make_spares();
    [[nodiscard]] bool is_stopping();
    [[nodiscard]] std::error_code try_spare(unsigned name, Spare& spare);
    [[nodiscard]] unsigned missing_name();  // 1 or 2; 0: none is missing
    [[nodiscard]] bool space_is_low();
    [[nodiscard]] bool has_room_for_spare();

    Options const& options_;
    Disk& disk_;
    Clock const& clock_;
    Meta& meta_;
    SharedState& shared_;
    std::function<void()> on_failure_;

    std::mutex mutex_;
    std::condition_variable changed_;
    struct Named {
        unsigned name{};
        Spare spare;
    };
    std::vector<Named> ready_;  // guarded by mutex_, as all below
    unsigned in_use_{0};        // name of the spare that is becoming the live segment
    bool stop_{false};
    bool finish_{false};
    bool keep_from_ended_{false};
    bool poked_{false};
    bool making_failed_{false};  // the last try to make a spare
    bool unsettled_{false};      // the journal thread gave up waiting to know whether there is one
    std::uint64_t first_wanted_{0};
    std::uint64_t first_stored_{0};  // in both pages of META

    // Upkeep thread only.
    TimePoint tried_{};
    std::uint64_t next_number_{0};  // of the segment that the next spare will be; 0: not known yet
    bool short_of_memory_{false};   // at the newest look
    std::thread thread_;
};

}  // namespace holdfast::journal
