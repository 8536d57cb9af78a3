#include "journal/journal_core.hpp"

#include "journal/format.hpp"
#include "journal/segment_files.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/base/log.hpp>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace holdfast::journal {
namespace {

constexpr std::uint64_t segment_bytes_min = 64U << 10;
constexpr std::uint64_t segment_bytes_max = 1U << 30;
constexpr Milliseconds slow_sync{1'000};
constexpr std::int64_t shedding_ms = 10'000;

/// While it lives the disk is waited for; for too long, and mutations are refused.
class Overdue {
public:
    Overdue(SharedState& shared, Clock const& clock) : shared_(shared) {
        shared_.sync_since.store(clock.now().time_since_epoch().count() + 1);
    }
    ~Overdue() { shared_.sync_since.store(0); }
    Overdue(Overdue const&) = delete;
    Overdue& operator=(Overdue const&) = delete;

private:
    SharedState& shared_;
};

// A block of the buffer is one group at most, and a group must fit into an empty segment.
std::size_t block_bytes(Options const& options) {
    return static_cast<std::size_t>(
        std::min<std::uint64_t>(limits::group_bytes_max, options.segment_bytes - page_bytes));
}

}  // namespace

std::optional<Failure> impossible(Options const& options) {
    if (options.segment_bytes % page_bytes == 0 && options.segment_bytes >= segment_bytes_min &&
        options.segment_bytes <= segment_bytes_max) {
        return {};
    }
    return Failure{1, "journal segment size must be a multiple of 4096, 64 KiB to 1 GiB"};
}

JournalCore::JournalCore(Options const& options, Disk& disk, Clock const& clock, Tail const& tail,
                         DurableListener& listener, std::function<void()> on_failure)
    : options_(options),
      disk_(disk),
      clock_(clock),
      listener_(listener),
      buffer_(block_bytes(options_), tail.last_lsn),
      writer_(journal_folder(options_.data), disk, *options_.entropy, tail, options_.segment_bytes),
      meta_(options_.data, disk),
      upkeep_(options_, disk, clock, meta_, shared_, std::move(on_failure)),
      scratch_(page_bytes),
      piece_(block_bytes(options_)) {
    shared_.durable.store(tail.last_lsn.value());
}

std::error_code JournalCore::prepare(Tail const& tail) {
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
    SparePlan const plan{spare_path(options_.data, 1), tail.last_segment + 1,
                         options_.segment_bytes, Syncs::once};
    if (auto const error = make_spare(disk_, plan, spare)) return error;
    // The process before may have died between giving its last segment a name and syncing that: a
    // power cut could then keep the next name and lose this one, and there would be a gap.
    if (auto const error = disk_.sync_folder(journal_folder(options_.data))) return error;
    if (auto const error = writer_.begin(std::move(spare), clock_.now())) return error;
    page.boot_epoch = tail.boot_epoch + 1;
    if (auto const error = meta_.store(page)) return error;
    if (auto const error = remove_leftovers(page)) return error;
    note_live_segment();
    carried_lsn_ = writer_.last_lsn();  // The segment's header carries it.
    return {};
}

// A deletion that a crash interrupted. Which page of META asked for it is unknown, so both do now.
// Nothing needs these files to be gone, so one that cannot be removed keeps nobody from starting.
std::error_code JournalCore::remove_leftovers(MetaPage const& page) {
    bool found{};
    auto const folder = journal_folder(options_.data);
    if (auto const error = has_unneeded(disk_, folder, page.first_segment, found)) return error;
    if (!found) return {};
    if (auto const error = meta_.store(page)) return error;
    if (auto const error = remove_unneeded(disk_, folder, page.first_segment))
        log::warn("old segments cannot be deleted", {{"error", error.message()}});
    return {};
}

bool JournalCore::write_next() {
    if (failed()) return false;  // what did not get to disk stays in its block
    auto const filled = buffer_.take();
    if (filled) write_block(*filled);
    return filled.has_value();
}

void JournalCore::write_block(Buffer::Filled const& filled) {
    auto const records =
        static_cast<std::uint32_t>((filled.lsn_low - writer_.last_lsn()) & FillWord::lsn_mask);
    bool const written = records <= limits::group_records_max
                             ? write_group(filled.group, filled.payload_bytes, records, 0)
                             : write_in_pieces(filled, records);
    if (!written || !sync_and_publish()) return;
    buffer_.release();
}

// A block of very small records holds more of them than a group may.
bool JournalCore::write_in_pieces(Buffer::Filled const& filled, std::uint32_t records) {
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
        std::span<std::byte> const piece = piece_.span().first(group_bytes(bytes));
        std::ranges::fill(piece.first(group_header_bytes), std::byte{});
        std::copy_n(rest.begin(), bytes, piece.begin() + group_header_bytes);
        std::ranges::fill(piece.subspan(group_header_bytes + bytes), std::byte{});
        if (!write_group(piece, bytes, count, 0)) return false;
        rest = behind;
        records -= count;
    }
    return true;
}

bool JournalCore::write_group(std::span<std::byte> bytes, std::size_t payload_bytes,
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
    shared_.groups.fetch_add(1);
    shared_.live_bytes_left.store(writer_.bytes_left());
    return true;
}

bool JournalCore::begin_segment() {
    // The new header seals the end of this segment, which must be on disk before.
    if (!sync_and_publish()) return false;
    Overdue const overdue{shared_, clock_};
    std::optional<Spare> spare = upkeep_.take_spare();
    if (!spare) return fail("next segment", std::make_error_code(std::errc::no_space_on_device));
    if (auto const error = writer_.begin(std::move(*spare), clock_.now())) {
        return fail("new segment", error);
    }
    next_settled_ = false;
    note_live_segment();
    upkeep_.spare_used();
    return true;
}

bool JournalCore::fail(std::string_view step, std::error_code error) noexcept {
    // Logged once: what fails after the first failure is its consequence.
    bool const is_first = !shared_.failed();
    shared_.fail();
    if (!is_first) return false;
    constexpr std::string_view message = "journal failed, read-only until restart";
    try {
        log::error(message, {{"step", step}, {"error", error.message()}});
    } catch (std::bad_alloc const&) {
        log::error(message, {{"step", step}, {"error", error.value()}});
    }
    return false;
}

void JournalCore::note_live_segment() noexcept {
    shared_.live_bytes_left.store(writer_.bytes_left());
    shared_.live_segment.store(writer_.segment());
}

Health JournalCore::health() const noexcept {
    return {.slow_syncs = shared_.slow_syncs.load(),
            .sheds = is_shedding(),
            .bytes = shared_.bytes.load(),
            .bytes_max = options_.journal_bytes_max,
            .free_bytes_min = options_.free_bytes_min,
            .groups = shared_.groups.load(),
            .space_is_short = shared_.space_is_short.load()};
}

bool JournalCore::is_too_long(std::int64_t since) const noexcept {
    return clock_.now().time_since_epoch().count() - (since - 1) > shedding_ms;
}

std::error_code JournalCore::sync() {
    TimePoint const start = clock_.now();
    std::error_code const error = [this] {
        Overdue const overdue{shared_, clock_};
        return writer_.sync();
    }();
    Milliseconds const took = clock_.now() - start;
    if (took <= slow_sync) return error;
    shared_.slow_syncs.fetch_add(1);
    log::warn("journal sync is slow", {{"took_ms", took.count()}});
    return error;
}

bool JournalCore::sync_and_publish() {
    if (auto const error = sync()) return fail("sync", error);
    // A failed META write counts like a failed sync: nothing is acknowledged after it.
    if (shared_.failed()) return false;
    if (shared_.durable.load() == writer_.last_lsn()) return true;
    shared_.durable.store(writer_.last_lsn());
    listener_.durable_advanced();
    return true;
}

bool JournalCore::write_empty_group(std::uint32_t flags) {
    return write_group(scratch_.span(), 0, 0, flags) && sync_and_publish();
}

void JournalCore::write_quiet_group() {
    static_cast<void>(write_empty_group(0));  // failed then, which is said
}

void JournalCore::write_clean_seal() {
    static_cast<void>(write_empty_group(flag_seal | flag_clean));
}

void JournalCore::store_clean_meta() {
    MetaPage page = *meta_.page();
    page.durable_lsn = writer_.last_lsn();
    page.flags = meta_clean;
    try {
        if (auto const error = meta_.store(page)) static_cast<void>(fail("META", error));
    } catch (std::bad_alloc const&) {
        // Nothing was written, and the seal is there: the next start only reads a little more.
        log::warn("no memory to say in META that the journal has ended well");
    }
}

}  // namespace holdfast::journal
