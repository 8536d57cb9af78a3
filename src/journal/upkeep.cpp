#include "journal/upkeep.hpp"

#include <holdfast/base/log.hpp>

#include <algorithm>
#include <new>
#include <pthread.h>
#include <string>
#include <utility>

namespace holdfast::journal {
namespace {

constexpr Milliseconds look_interval{1'000};
constexpr Milliseconds spare_patience{30'000};
// Acknowledgements wait meanwhile, and there is room left in the live segment.
constexpr Milliseconds settle_patience{3'000};
// So much of free_bytes_min is worth a warning.
constexpr std::uint64_t short_of_min = 4;

}  // namespace

std::filesystem::path journal_folder(std::filesystem::path const& data) {
    return data / "journal";
}

std::filesystem::path spare_path(std::filesystem::path const& data, unsigned name) {
    return journal_folder(data) / ("next-" + std::to_string(name) + ".tmp");
}

Upkeep::Upkeep(Options const& options, Disk& disk, Clock const& clock, Meta& meta,
               SharedState& shared, std::function<void()> on_failure)
    : options_(options),
      disk_(disk),
      clock_(clock),
      meta_(meta),
      shared_(shared),
      on_failure_(std::move(on_failure)) {
    ready_.reserve(spare_count);
}

Upkeep::~Upkeep() {
    stop();
}

void Upkeep::start() {
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "upkeep");
        run();
    });
}

void Upkeep::stop() noexcept {
    {
        std::lock_guard const lock{mutex_};
        stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Upkeep::finish() {
    {
        std::lock_guard const lock{mutex_};
        finish_ = true;
    }
    changed_.notify_all();
}

template <class Settled>
void Upkeep::have_looked(std::unique_lock<std::mutex>& lock, Milliseconds patience,
                         Settled const& settled) {
    if (settled()) return;
    if (thread_.joinable()) {
        poked_ = true;
        changed_.notify_all();
        changed_.wait_for(lock, patience, settled);
        return;
    }
    lock.unlock();
    look();
    lock.lock();
}

// The upkeep thread looks at intervals and would be too late for a segment that fills up faster.
void Upkeep::settle_next() {
    bool no_next{};
    {
        std::unique_lock lock{mutex_};
        have_looked(lock, settle_patience, [this] {
            return !ready_.empty() || making_failed_ || stop_ || finish_ || shared_.failed();
        });
        // Or it is not known yet: the upkeep thread waits for the disk. A spare takes it back.
        no_next = ready_.empty() && !stop_ && !finish_;
        unsettled_ = no_next;
    }
    if (no_next) set_read_only(true);
}

std::optional<Spare> Upkeep::take_spare() {
    std::unique_lock lock{mutex_};
    // Read-only mode comes long before the end of a segment, so this wait is only met if the live
    // one filled up faster than that. It is bounded: what was appended must be decided.
    have_looked(lock, spare_patience, [this] {
        return !ready_.empty() || stop_ || shared_.failed() || (finish_ && making_failed_);
    });
    if (ready_.empty() || shared_.failed()) return {};
    Spare spare = std::move(ready_.front().spare);
    in_use_ = ready_.front().name;
    ready_.erase(ready_.begin());
    return spare;
}

void Upkeep::spare_used() {
    {
        std::lock_guard const lock{mutex_};
        in_use_ = 0;
        poked_ = true;
    }
    changed_.notify_all();
}

void Upkeep::run() {
    std::unique_lock lock{mutex_};
    while (!stop_) {
        poked_ = false;
        lock.unlock();
        look();
        lock.lock();
        // Whoever waits for what will not come looks again: the journal thread may have failed.
        changed_.notify_all();
        changed_.wait_for(lock, std::min<Milliseconds>(look_interval, options_.space_retry),
                          [this] { return stop_ || poked_; });
    }
}

void Upkeep::look() {
    bool const was_short = std::exchange(short_of_memory_, false);
    try_step(&Upkeep::refresh_first_segment);
    if (short_of_memory_) refuse_first_segment();
    for (auto const step :
         {&Upkeep::refresh_watermark, &Upkeep::look_after_space, &Upkeep::make_spares})
        try_step(step);
    if (short_of_memory_ && !was_short)
        log::error("no memory for what looks after the journal; it is tried again");
}

/// Each of them leaves things as they were if it has no memory: META is written with what it has.
void Upkeep::try_step(void (Upkeep::*step)()) {
    try {
        (this->*step)();
    } catch (std::bad_alloc const&) {
        short_of_memory_ = true;
    }
}

/// Whoever waits for it asks again later, and keeps no stop waiting.
void Upkeep::refuse_first_segment() {
    std::lock_guard const lock{mutex_};
    first_wanted_ = first_stored_;
}

void Upkeep::refresh_watermark() {
    if (shared_.failed()) return;
    MetaPage page = *meta_.page();
    std::uint64_t const durable = shared_.durable.load();
    if (durable == page.durable_lsn) return;
    page.durable_lsn = durable;
    static_cast<void>(store_meta(page));  // failed then, which is said
}

bool Upkeep::store_meta(MetaPage const& page) {
    std::error_code const error = meta_.store(page);
    if (!error) return true;
    shared_.fail();
    changed_.notify_all();
    on_failure_();
    // Last, as its text may lack memory.
    log::error("journal failed, read-only until restart",
               {{"step", "META"}, {"error", error.message()}});
    return false;
}

bool Upkeep::keep_from(std::uint64_t segment) {
    std::unique_lock lock{mutex_};
    first_wanted_ = segment;
    have_looked(lock, spare_patience, [&] {
        return first_stored_ >= segment || first_wanted_ < segment || keep_from_ended_ || stop_ ||
               finish_ || shared_.failed();
    });
    return first_stored_ >= segment && !shared_.failed();
}

void Upkeep::end_keep_from() noexcept {
    {
        std::lock_guard const lock{mutex_};
        keep_from_ended_ = true;
    }
    changed_.notify_all();
}

// Into both pages: were one damaged later, the other must not ask for a segment that is deleted.
void Upkeep::refresh_first_segment() {
    std::uint64_t wanted{};
    {
        std::lock_guard const lock{mutex_};
        wanted = first_wanted_;
        if (wanted <= first_stored_ || shared_.failed()) return;
    }
    MetaPage page = *meta_.page();
    page.first_segment = std::max(page.first_segment, wanted);
    if (!store_meta(page) || !store_meta(page)) return;
    {
        std::lock_guard const lock{mutex_};
        first_stored_ = wanted;
    }
    changed_.notify_all();
}

bool Upkeep::space_is_low() {
    std::uint64_t free{};
    // If it cannot be told, the next write will tell.
    if (disk_.free_bytes(journal_folder(options_.data), free)) return false;
    bool const is_short = free / short_of_min < options_.free_bytes_min;
    if (shared_.space_is_short.exchange(is_short) != is_short && is_short) {
        log::warn("little free space, the journal will soon be read-only",
                  {{"free_bytes", static_cast<std::int64_t>(free)},
                   {"free_bytes_min", static_cast<std::int64_t>(options_.free_bytes_min)}});
    }
    return free < options_.free_bytes_min;
}

void Upkeep::look_after_space() {
    bool const low = space_is_low();
    bool no_next{};
    {
        std::lock_guard const lock{mutex_};
        unsettled_ = unsettled_ && ready_.empty();
        no_next = (making_failed_ || unsettled_) && ready_.empty();
    }
    bool const near_end = shared_.live_bytes_left.load() < options_.segment_bytes / 4;
    // Spares are made all the same: what was accepted must find room.
    if (is_full()) return set_read_only(true, "it is as large as journal_bytes_max allows");
    if (low) return set_read_only(true, "there is less free space than free_bytes_min");
    set_read_only(no_next && near_end);
}

/// Each segment counts with all of its bytes, and the spares as if they were there.
bool Upkeep::is_full() {
    std::uint64_t const first = meta_.page()->first_segment;
    std::uint64_t const segments = shared_.live_segment.load() + 1 - first + spare_count;
    std::uint64_t const bytes = segments * options_.segment_bytes;
    shared_.bytes.store(bytes);
    return options_.journal_bytes_max != 0 && bytes > options_.journal_bytes_max;
}

void Upkeep::set_read_only(bool read_only, char const* why) {
    Mode const before = shared_.mode.load();
    shared_.set_read_only(read_only);
    if (before == Mode::running && read_only) {
        log::error("no space for the journal, read-only until there is", {{"why", why}});
    }
    if (before == Mode::read_only && !read_only) log::info("space for the journal again");
}

unsigned Upkeep::missing_name() {
    std::lock_guard const lock{mutex_};
    if (ready_.size() >= spare_count || stop_) return 0;
    for (unsigned name = 1; name <= spare_count; ++name) {
        bool const taken =
            name == in_use_ || std::any_of(ready_.begin(), ready_.end(),
                                           [name](Named const& each) { return each.name == name; });
        if (!taken) return name;
    }
    return 0;
}

bool Upkeep::is_stopping() {
    std::lock_guard const lock{mutex_};
    return stop_;
}

std::error_code Upkeep::try_spare(unsigned name, Spare& spare) {
    try {
        SparePlan const plan{spare_path(options_.data, name), next_number_, options_.segment_bytes,
                             Syncs::each_piece, [this] { return is_stopping(); }};
        return make_spare(disk_, plan, spare);
    } catch (std::bad_alloc const&) {
        short_of_memory_ = true;
        return std::make_error_code(std::errc::not_enough_memory);
    }
}

/// The first spare is made at any price. A second one must not be what makes the space low.
bool Upkeep::has_room_for_spare() {
    {
        std::lock_guard const lock{mutex_};
        if (ready_.empty()) return true;
    }
    std::uint64_t free{};
    if (disk_.free_bytes(journal_folder(options_.data), free)) return true;
    return free >= options_.free_bytes_min + options_.segment_bytes;
}

void Upkeep::make_spares() {
    TimePoint const now = clock_.now();
    bool wait_longer{};
    {
        std::lock_guard const lock{mutex_};
        wait_longer = making_failed_ && now - tried_ < options_.space_retry;
    }
    if (wait_longer) return;
    while (unsigned const name = missing_name()) {
        if (shared_.failed() || !has_room_for_spare()) return;
        tried_ = now;
        // No spare was ever taken before the first is made, so that the live segment stays.
        if (next_number_ == 0) next_number_ = shared_.live_segment.load() + 1;
        Spare spare;
        std::error_code const error = try_spare(name, spare);
        if (is_stopping()) return;  // nobody takes it
        if (!error) ++next_number_;
        {
            std::lock_guard const lock{mutex_};
            making_failed_ = static_cast<bool>(error);
            if (!error) ready_.push_back(Named{name, std::move(spare)});
        }
        changed_.notify_all();
        look_after_space();
        if (error) return;
        refresh_first_segment();  // somebody waits for it, and a spare takes its time
    }
}

}  // namespace holdfast::journal
