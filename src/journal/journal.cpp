#include "journal/buffer.hpp"
#include "journal/format.hpp"
#include "journal/meta.hpp"
#include "journal/segment_writer.hpp"
#include "journal/shared_state.hpp"
#include "journal/sleeper.hpp"
#include "journal/upkeep.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/base/log.hpp>
#include <holdfast/journal/journal.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::journal {
namespace {

constexpr std::uint64_t segment_bytes_min = 64U << 10;
constexpr std::uint64_t segment_bytes_max = 1U << 30;
constexpr auto slow_sync = std::chrono::seconds{1};

// A block of the buffer is one group at most, and a group must fit into an empty segment.
std::size_t block_bytes(Options const& options) {
    return static_cast<std::size_t>(
        std::min<std::uint64_t>(limits::group_bytes_max, options.segment_bytes - page_bytes));
}

class RunningJournal final : public Journal {
public:
    RunningJournal(Options const& options, Disk& disk, Clock const& clock, Tail const& tail,
                   DurableListener& listener)
        : options_(options),
          disk_(disk),
          clock_(clock),
          listener_(listener),
          buffer_(block_bytes(options_), tail.last_lsn),
          writer_(journal_folder(options_.data), disk, tail, options_.segment_bytes),
          meta_(options_.data, disk),
          upkeep_(options_, disk, meta_, shared_, [this] { sleeper_.wake(); }),
          scratch_(page_bytes) {
        shared_.durable.store(tail.last_lsn.value());
    }
    ~RunningJournal() override { close(); }

    /// The steps of RELIABILITY 3.4 before anything may be appended.
    [[nodiscard]] std::error_code prepare(Tail const& tail);
    void start();

    [[nodiscard]] bool reserve(std::size_t bytes) noexcept override {
        if (shared_.mode.load(std::memory_order_acquire) != Mode::running) return false;
        return buffer_.reserve(bytes);
    }
    void give_back(std::size_t bytes) noexcept override { buffer_.give_back(bytes); }
    Lsn append(RecordType type, std::uint8_t version,
               std::span<std::byte const> payload) noexcept override {
        Lsn const lsn = buffer_.append(type, version, payload, shared_.durable);
        sleeper_.wake();
        return lsn;
    }
    [[nodiscard]] Lsn durable_lsn() const noexcept override {
        return Lsn{shared_.durable.load(std::memory_order_acquire)};
    }
    [[nodiscard]] Lsn appended_lsn() const noexcept override {
        return buffer_.appended_lsn(shared_.durable);
    }
    [[nodiscard]] Mode mode() const noexcept override {
        return shared_.mode.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool wait_durable(Lsn lsn) noexcept override;
    void close() noexcept override;

private:
    void run();
    void rest();
    void write_block(Buffer::Filled const& filled);
    [[nodiscard]] bool write_in_pieces(Buffer::Filled const& filled, std::uint32_t records);
    [[nodiscard]] bool write_group(std::span<std::byte> bytes, std::size_t payload_bytes,
                                   std::uint32_t records, std::uint32_t flags);
    [[nodiscard]] bool begin_segment();
    /// Ends all acknowledging until restart; gives false.
    [[nodiscard]] bool fail(std::string_view step, std::error_code error);
    [[nodiscard]] bool sync_and_publish();
    void announce_durable();
    void finish();

    Options const options_;
    Disk& disk_;
    Clock const& clock_;
    DurableListener& listener_;
    SharedState shared_;
    Buffer buffer_;
    Sleeper sleeper_;

    // Journal thread only.
    SegmentWriter writer_;
    std::uint64_t carried_lsn_{0};  // highest durable_lsn that a group on disk carries
    bool next_settled_{false};

    Meta meta_;  // upkeep thread while it runs
    Upkeep upkeep_;
    AlignedBytes scratch_;  // an empty group, or a piece of a block

    std::atomic<bool> closing_{false};
    std::mutex waiters_mutex_;
    std::condition_variable waiters_wake_;
    std::atomic<std::uint32_t> waiters_{0};
    bool ended_{false};  // guarded by waiters_mutex_
    std::thread thread_;
};

std::error_code RunningJournal::prepare(Tail const& tail) {
    auto const folder = journal_folder(options_.data);
    if (auto const error = disk_.make_folder(folder)) return error;
    if (auto const error = disk_.make_folder(options_.data / "quarantine")) return error;
    if (auto const error = disk_.sync_folder(options_.data)) return error;
    for (unsigned name = 1; name <= spare_count; ++name) {
        std::error_code const error = disk_.remove(spare_path(options_.data, name));
        if (error && error != std::errc::no_such_file_or_directory) return error;
    }
    if (auto const error = meta_.load()) return error;
    MetaPage page;
    page.store_id = tail.store_id;
    page.boot_epoch = tail.boot_epoch;
    page.durable_lsn = tail.last_lsn.value();
    page.first_segment = tail.first_segment;
    if (tail.last_segment == 0 && !meta_.page()) {
        // A journal without any META is refused as damaged, so META comes first.
        if (auto const error = meta_.store(page)) return error;
    }
    Spare spare;
    if (auto const error =
            make_spare(disk_, spare_path(options_.data, 1), options_.segment_bytes, spare)) {
        return error;
    }
    if (auto const error = writer_.begin(std::move(spare), clock_.now())) return error;
    page.boot_epoch = tail.boot_epoch + 1;
    return meta_.store(page);
}

void RunningJournal::start() {
    shared_.live_bytes_left.store(writer_.bytes_left());
    carried_lsn_ = writer_.last_lsn();  // The segment's header carries it.
    upkeep_.start();
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "journal");
        run();
    });
}

void RunningJournal::run() {
    while (!shared_.failed()) {
        if (auto const filled = buffer_.take()) {
            write_block(*filled);
        } else if (closing_.load()) {
            break;
        } else {
            rest();
        }
    }
    finish();
}

// Sleeps until there is work. When it has been quiet for a while, an empty group carries the last
// durable_lsn to disk, so that damage to the group before it cannot pass for a torn tail.
void RunningJournal::rest() {
    bool const quiet_group_due = carried_lsn_ < shared_.durable.load();
    auto const timeout = quiet_group_due
                             ? std::optional<std::chrono::nanoseconds>{options_.idle_close}
                             : std::nullopt;
    auto const since = std::chrono::steady_clock::now();
    auto const has_work = [this] {
        return buffer_.has_records() || closing_.load() || shared_.failed();
    };
    sleeper_.announce();
    if (has_work()) {
        sleeper_.stay_awake();
        return;
    }
    sleeper_.sleep(timeout);
    if (!quiet_group_due || has_work()) return;
    if (std::chrono::steady_clock::now() - since < options_.idle_close) return;
    if (write_group(scratch_.span().first(page_bytes), 0, 0, 0)) {
        static_cast<void>(sync_and_publish());
    }
}

void RunningJournal::write_block(Buffer::Filled const& filled) {
    auto const records =
        static_cast<std::uint32_t>((filled.lsn_low - writer_.last_lsn()) & FillWord::lsn_mask);
    bool const written = records <= limits::group_records_max
                             ? write_group(filled.group, filled.payload_bytes, records, 0)
                             : write_in_pieces(filled, records);
    if (!written || !sync_and_publish()) return;
    buffer_.release();
}

// A block of very small records holds more of them than a group may.
bool RunningJournal::write_in_pieces(Buffer::Filled const& filled, std::uint32_t records) {
    std::span<std::byte const> rest =
        filled.group.subspan(group_header_bytes, filled.payload_bytes);
    while (records > 0) {
        std::uint32_t const count = std::min(records, limits::group_records_max);
        std::span<std::byte const> behind = rest;
        for (std::uint32_t at = 0; at < count; ++at) {
            bool const whole = take_record(behind).has_value();
            HOLDFAST_ASSERT(whole);
        }
        std::size_t const bytes = rest.size() - behind.size();
        AlignedBytes const piece{group_bytes(bytes)};
        std::copy_n(rest.begin(), bytes, piece.span().begin() + group_header_bytes);
        if (!write_group(piece.span(), bytes, count, 0)) return false;
        rest = behind;
        records -= count;
    }
    return true;
}

bool RunningJournal::write_group(std::span<std::byte> bytes, std::size_t payload_bytes,
                                 std::uint32_t records, std::uint32_t flags) {
    if (!next_settled_ && writer_.bytes_left() < options_.segment_bytes / 4) {
        next_settled_ = true;
        upkeep_.settle_next();
    }
    if (!writer_.has_room(payload_bytes) && !begin_segment()) return false;
    std::uint64_t const durable = shared_.durable.load();
    if (auto const error =
            writer_.write({bytes, payload_bytes, records, flags, durable}, clock_.now())) {
        return fail("write", error);
    }
    carried_lsn_ = durable;
    shared_.live_bytes_left.store(writer_.bytes_left());
    return true;
}

bool RunningJournal::begin_segment() {
    // The new header seals the end of this segment, which must be on disk before.
    if (!sync_and_publish()) return false;
    std::optional<Spare> spare = upkeep_.take_spare();
    if (!spare) return fail("next segment", std::make_error_code(std::errc::no_space_on_device));
    if (auto const error = writer_.begin(std::move(*spare), clock_.now())) {
        return fail("new segment", error);
    }
    next_settled_ = false;
    shared_.live_bytes_left.store(writer_.bytes_left());
    upkeep_.spare_used();
    return true;
}

bool RunningJournal::fail(std::string_view step, std::error_code error) {
    // Logged once: what fails after the first failure is its consequence.
    if (!shared_.failed()) {
        log::error("journal failed, read-only until restart",
                   {{"step", step}, {"error", error.message()}});
    }
    shared_.fail();
    return false;
}

bool RunningJournal::sync_and_publish() {
    auto const start = std::chrono::steady_clock::now();
    if (auto const error = writer_.sync()) return fail("sync", error);
    auto const took = std::chrono::steady_clock::now() - start;
    if (took > slow_sync) {
        log::warn("journal sync is slow",
                  {{"took_ms", std::chrono::duration_cast<Milliseconds>(took).count()}});
    }
    // A failed META write counts like a failed sync: nothing is acknowledged after it.
    if (shared_.failed()) return false;
    if (shared_.durable.load() == writer_.last_lsn()) return true;
    shared_.durable.store(writer_.last_lsn());
    announce_durable();
    return true;
}

void RunningJournal::announce_durable() {
    listener_.durable_advanced();
    // seq_cst with wait_durable(): either it sees the new LSN, or it is counted here.
    if (waiters_.load() == 0) return;
    {
        std::lock_guard const lock{waiters_mutex_};
    }
    waiters_wake_.notify_all();
}

bool RunningJournal::wait_durable(Lsn lsn) noexcept {
    auto const is_durable = [&] { return shared_.durable.load() >= lsn.value(); };
    if (is_durable()) return true;
    waiters_.fetch_add(1);
    {
        std::unique_lock lock{waiters_mutex_};
        waiters_wake_.wait(lock, [&] { return is_durable() || shared_.failed() || ended_; });
    }
    waiters_.fetch_sub(1);
    return is_durable();
}

// The last thing on the journal thread: a CLEAN seal, or the news that the journal failed.
void RunningJournal::finish() {
    if (!shared_.failed()) {
        if (write_group(scratch_.span().first(page_bytes), 0, 0, flag_seal | flag_clean)) {
            static_cast<void>(sync_and_publish());
        }
    }
    {
        std::lock_guard const lock{waiters_mutex_};
        ended_ = true;
    }
    waiters_wake_.notify_all();
    if (shared_.failed()) listener_.durable_advanced();
}

void RunningJournal::close() noexcept {
    if (!thread_.joinable()) return;
    closing_.store(true);
    upkeep_.finish();
    sleeper_.wake();
    thread_.join();
    upkeep_.stop();
    if (shared_.failed()) return;
    MetaPage page = *meta_.page();
    page.durable_lsn = writer_.last_lsn();
    page.flags = meta_clean;
    if (meta_.store(page)) shared_.fail();
}

std::string why_not(std::string const& what, std::error_code error) {
    return what + ": " + error.message() + "; nothing was changed, free the cause and start again";
}

}  // namespace

void throw_exception_from_error(Failure const& failure, boost::source_location const&) {
    throw std::runtime_error(failure.message);
}

ResultOf<std::unique_ptr<Journal>, Failure> Journal::open(Options const& options, Disk& disk,
                                                          Clock const& clock, Tail const& tail,
                                                          DurableListener& listener) {
    if (options.segment_bytes % page_bytes != 0 || options.segment_bytes < segment_bytes_min ||
        options.segment_bytes > segment_bytes_max) {
        return Failure{1, "journal segment size must be a multiple of 4096, 64 KiB to 1 GiB"};
    }
    auto journal = std::make_unique<RunningJournal>(options, disk, clock, tail, listener);
    if (auto const error = journal->prepare(tail)) {
        return Failure{
            76,
            why_not("the journal in " + options.data.string() + " cannot be made durable", error)};
    }
    journal->start();
    return std::unique_ptr<Journal>{std::move(journal)};
}

}  // namespace holdfast::journal
