#include "journal/journal_core.hpp"
#include "journal/sleeper.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/journal/file_failure.hpp>
#include <holdfast/journal/journal.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::journal {
namespace {

/// Records of a turn that may wait for its end: more of them are worth a group of their own.
constexpr std::size_t turn_bytes_max = 16 * 1'024;

/// The turn that a thread is in.
struct Turn {
    Journal const* journal{};
    std::size_t bytes{};  // that nobody has asked for yet
};
thread_local Turn turn;

/// The journal on its own threads: one writes groups, one (Upkeep's) makes room for them.
class RunningJournal final : public Journal, DurableListener {
public:
    RunningJournal(Options const& options, Disk& disk, Clock const& clock, Tail const& tail,
                   DurableListener& listener)
        : idle_close_(options.idle_close),
          listener_(listener),
          core_(options, disk, clock, tail, *this, [this] { sleeper_.wake(); }) {}
    ~RunningJournal() override { close(); }

    [[nodiscard]] std::error_code prepare(Tail const& tail) { return core_.prepare(tail); }
    /// False: `first` could not be made durable.
    [[nodiscard]] bool start(std::optional<FirstRecord> const& first);

    [[nodiscard]] bool reserve(std::size_t bytes) noexcept override {
        if (core_.reserve(bytes)) return true;
        // It may be this turn's own records that take the room.
        if (turn.journal == this) ask_for_turn();
        return false;
    }
    void give_back(std::size_t bytes) noexcept override { core_.give_back(bytes); }
    Lsn append(RecordType type, std::uint8_t version,
               std::span<std::byte const> payload) noexcept override {
        Lsn const lsn = core_.append(type, version, payload);
        if (turn.journal == this) {
            turn.bytes += record_header_bytes + payload.size();
            if (turn.bytes >= turn_bytes_max) ask_for_turn();
        } else {
            ask_for_group();
        }
        return lsn;
    }
    void begin_turn() noexcept override {
        HOLDFAST_ASSERT(turn.journal == nullptr);
        turn = {this, 0};
    }
    void end_turn() noexcept override {
        HOLDFAST_ASSERT(turn.journal == this);
        ask_for_turn();
        turn.journal = nullptr;
    }
    [[nodiscard]] Lsn durable_lsn() const noexcept override { return core_.durable_lsn(); }
    [[nodiscard]] Lsn appended_lsn() const noexcept override { return core_.appended_lsn(); }
    [[nodiscard]] Mode mode() const noexcept override { return core_.mode(); }
    [[nodiscard]] Health health() const noexcept override { return core_.health(); }
    [[nodiscard]] bool wait_durable(Lsn lsn) noexcept override;
    [[nodiscard]] bool wait_durable_for(Lsn lsn, Milliseconds limit) noexcept override;
    [[nodiscard]] bool keep_from(std::uint64_t segment) override {
        return core_.upkeep().keep_from(segment);
    }
    void end_keep_from() noexcept override { core_.upkeep().end_keep_from(); }
    void close() noexcept override;

private:
    // seq_cst: see Sleeper.
    void ask_for_group() noexcept {
        wanted_.store(true);
        sleeper_.wake();
    }
    void ask_for_turn() noexcept {
        if (std::exchange(turn.bytes, 0) != 0) ask_for_group();
    }
    void run();
    void write_wanted();
    void rest();
    void durable_advanced() noexcept override;
    void finish();
    /// Blocks as `wait` does on the condition and the lock that it is given, if there is need to.
    template <class Wait>
    bool wait_until_durable(Lsn lsn, Wait const& wait) noexcept;

    std::chrono::nanoseconds const idle_close_;
    DurableListener& listener_;
    JournalCore core_;
    Sleeper sleeper_;
    std::atomic<bool> wanted_{false};  // all that was appended before shall be written
    std::atomic<bool> closing_{false};
    std::mutex waiters_mutex_;
    std::condition_variable waiters_wake_;
    std::atomic<std::uint32_t> waiters_{0};
    bool ended_{false};  // guarded by waiters_mutex_
    std::thread thread_;
};

// The upkeep comes last: its first look may turn a full journal read-only. The segment is empty
// yet, so the journal thread does not ask the upkeep for another one.
bool RunningJournal::start(std::optional<FirstRecord> const& first) {
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "journal");
        run();
    });
    if (first) {
        if (!reserve(record_header_bytes + first->payload.size())) return false;
        if (!wait_durable(append(first->type, first->version, first->payload))) return false;
    }
    core_.upkeep().start();
    return true;
}

void RunningJournal::run() {
    while (!core_.failed()) {
        if (wanted_.exchange(false)) {
            write_wanted();
        } else if (closing_.load()) {
            while (core_.write_next()) {
            }
            break;
        } else {
            rest();
        }
    }
    finish();
}

// What a turn appends while this goes on waits for the end of that turn, unless it stands in a
// block with what is wanted.
void RunningJournal::write_wanted() {
    Lsn const last = core_.appended_lsn();
    while (core_.durable_lsn() < last) {
        if (!core_.write_next()) return;
    }
}

// Sleeps until there is work. When it has been quiet for a while, an empty group carries the last
// durable_lsn to disk, so that damage to the group before it cannot pass for a torn tail.
void RunningJournal::rest() {
    bool const quiet_group_due = core_.quiet_group_due();
    auto const timeout =
        quiet_group_due ? std::optional<std::chrono::nanoseconds>{idle_close_} : std::nullopt;
    auto const since = std::chrono::steady_clock::now();
    auto const has_work = [this] { return wanted_.load() || closing_.load() || core_.failed(); };
    sleeper_.announce();
    if (has_work()) {
        sleeper_.stay_awake();
        return;
    }
    sleeper_.wait(timeout);
    if (!quiet_group_due || has_work()) return;
    if (std::chrono::steady_clock::now() - since < idle_close_) return;
    core_.write_quiet_group();
}

void RunningJournal::durable_advanced() noexcept {
    listener_.durable_advanced();
    // seq_cst with wait_durable(): either it sees the new LSN, or it is counted here.
    if (waiters_.load() == 0) return;
    {
        std::lock_guard const lock{waiters_mutex_};
    }
    waiters_wake_.notify_all();
}

template <class Wait>
bool RunningJournal::wait_until_durable(Lsn lsn, Wait const& wait) noexcept {
    auto const is_durable = [&] { return core_.durable_now() >= lsn.value(); };
    if (is_durable()) return true;
    if (turn.journal == this) ask_for_turn();
    waiters_.fetch_add(1);
    {
        std::unique_lock lock{waiters_mutex_};
        wait(lock, [&] { return is_durable() || core_.failed() || ended_; });
    }
    waiters_.fetch_sub(1);
    return is_durable();
}

bool RunningJournal::wait_durable(Lsn lsn) noexcept {
    return wait_until_durable(
        lsn, [this](auto& lock, auto const& is_over) { waiters_wake_.wait(lock, is_over); });
}

bool RunningJournal::wait_durable_for(Lsn lsn, Milliseconds limit) noexcept {
    return wait_until_durable(lsn, [this, limit](auto& lock, auto const& is_over) {
        waiters_wake_.wait_for(lock, limit, is_over);
    });
}

// The last thing on the journal thread: a CLEAN seal, or the news that the journal failed.
void RunningJournal::finish() {
    if (!core_.failed()) core_.write_clean_seal();
    {
        std::lock_guard const lock{waiters_mutex_};
        ended_ = true;
    }
    waiters_wake_.notify_all();
    if (core_.failed()) listener_.durable_advanced();
}

void RunningJournal::close() noexcept {
    if (!thread_.joinable()) return;
    closing_.store(true);
    core_.upkeep().finish();
    sleeper_.wake();
    thread_.join();
    core_.upkeep().stop();
    if (!core_.failed()) core_.store_clean_meta();
}

std::string why_not(std::string const& what, std::error_code error) {
    return with_remedy(what, error) +
           "; nothing that was answered is lost: mend that and start again";
}

}  // namespace

void throw_exception_from_error(Failure const& failure, boost::source_location const&) {
    throw std::runtime_error(failure.message);
}

ResultOf<std::unique_ptr<Journal>, Failure> Journal::open(Options const& options, Disk& disk,
                                                          Clock const& clock, Tail const& tail,
                                                          DurableListener& listener,
                                                          std::optional<FirstRecord> const& first) {
    if (auto failure = impossible(options)) return std::move(*failure);
    auto journal = std::make_unique<RunningJournal>(options, disk, clock, tail, listener);
    if (auto const error = journal->prepare(tail)) {
        return Failure{
            76,
            why_not("the journal in " + options.data.string() + " cannot be made durable", error)};
    }
    if (!journal->start(first)) {
        return Failure{76, "the first record cannot be written to the journal in " +
                               options.data.string() +
                               ": see the log; free the cause and start again"};
    }
    return std::unique_ptr<Journal>{std::move(journal)};
}

}  // namespace holdfast::journal
