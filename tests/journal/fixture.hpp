// What the journal's tests share: sinks, a listener, a clock, temporary folders, small records.
#pragma once

#include "tests/journal/memory_disk.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/journal/journal.hpp>
#include <holdfast/journal/recovery.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::journal::test {

inline constexpr std::uint64_t small_segment = 64U << 10;

using holdfast::test::TempFolder;

struct Record {
    std::uint64_t lsn{};
    RecordType type{};
    std::uint8_t version{};
    std::string payload;
    friend bool operator==(Record const&, Record const&) = default;
};

struct CollectingSink final : RecordSink {
    std::vector<Record> records;
    std::size_t stop_at = ~std::size_t{0};
    bool begin(SegmentStart const&) override { return true; }  // what was before is not asked
    bool record(RecordView const& view) override {
        if (records.size() >= stop_at) return false;
        records.push_back(
            {view.lsn.value(), view.type, view.version,
             std::string(reinterpret_cast<char const*>(view.payload.data()), view.payload.size())});
        return true;
    }
};

struct CountingListener final : DurableListener {
    std::atomic<std::uint64_t> calls{0};
    void durable_advanced() noexcept override { calls.fetch_add(1); }
};

struct StillClock final : Clock {
    std::atomic<std::int64_t> ms{1'700'000'000'000};
    [[nodiscard]] TimePoint now() const noexcept override {
        return TimePoint{Milliseconds{ms.load()}};
    }
};

inline std::span<std::byte const> bytes_of(std::string_view text) {
    return std::as_bytes(std::span{text.data(), text.size()});
}

inline std::uint64_t seed_of_run() {
    char const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("HOLDFAST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    return seed;
}

inline Options small_options(std::filesystem::path data) {
    Options options;
    options.data = std::move(data);
    options.segment_bytes = small_segment;
    options.free_bytes_min = 0;
    return options;
}

/// Recovered and opened; throws if either is refused.
inline std::unique_ptr<Journal> opened(Options const& options, Disk& disk, Clock const& clock,
                                       DurableListener& listener,
                                       std::optional<FirstRecord> const& first = {}) {
    CollectingSink sink;
    auto const recovered = recover(options.data, disk, {}, sink);
    if (!recovered) throw std::runtime_error(recovered.error().message);
    auto journal = Journal::open(options, disk, clock, recovered->tail, listener, first);
    if (!journal) throw std::runtime_error(journal.error().message);
    return std::move(*journal);
}

/// Reserves and appends one record; no_lsn if there was no room.
inline Lsn append_record(Journal& journal, std::string_view payload,
                         RecordType type = RecordType::claim, std::uint8_t version = 1) {
    if (!journal.reserve(record_header_bytes + payload.size())) return no_lsn;
    return journal.append(type, version, bytes_of(payload));
}

}  // namespace holdfast::journal::test
