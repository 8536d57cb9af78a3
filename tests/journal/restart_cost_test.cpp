#include "tests/journal/fixture.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

struct Cost {
    std::uint64_t journal_bytes{};
    std::uint64_t bytes_read{};
    std::uint64_t records{};
};

/// A journal of so many groups of one small record, the dearest kind to read: a page for each.
Cost cost_of_start(std::uint64_t groups) {
    MemoryDisk disk;
    StillClock const clock;
    CountingListener listener;
    auto journal = opened(small_options("data"), disk, clock, listener);
    for (std::uint64_t at = 0; at < groups; ++at)
        REQUIRE(journal->wait_durable(append_record(*journal, "a claim of two seats")));
    journal->close();
    journal.reset();

    Cost cost;
    for (std::string const& path : disk.paths())
        if (path.ends_with(".hfj")) cost.journal_bytes += disk.bytes(path).size();
    CollectingSink sink;
    std::uint64_t const before = disk.bytes_read();
    auto const again = recover("data", disk, {}, sink);
    REQUIRE(again.has_value());
    cost.bytes_read = disk.bytes_read() - before;
    cost.records = again->records;
    return cost;
}

/// Counts the files of the device that are open; only a start opens them here.
class DiskThatCountsFiles final : public MemoryDisk {
public:
    std::error_code open(std::filesystem::path const& path, OpenMode mode,
                         std::unique_ptr<File>& file) override {
        std::unique_ptr<File> opened;
        if (auto const error = MemoryDisk::open(path, mode, opened)) return error;
        bool const counts = mode == OpenMode::read_device;
        if (counts) file = std::make_unique<CountedFile>(std::move(opened), open_);
        if (!counts) file = std::move(opened);
        most_open_ = std::max(most_open_, open_);
        return {};
    }
    /// Since the last call.
    [[nodiscard]] int most_open() { return std::exchange(most_open_, 0); }

private:
    class CountedFile final : public File {
    public:
        CountedFile(std::unique_ptr<File> file, int& open) : file_(std::move(file)), open_(open) {
            ++open_;
        }
        ~CountedFile() override { --open_; }
        CountedFile(CountedFile const&) = delete;
        CountedFile& operator=(CountedFile const&) = delete;
        std::error_code write_at(std::uint64_t at, std::span<std::byte const> bytes) override {
            return file_->write_at(at, bytes);
        }
        std::error_code read_at(std::uint64_t at, std::span<std::byte> bytes,
                                std::size_t& got) override {
            return file_->read_at(at, bytes, got);
        }
        std::error_code sync_data() override { return file_->sync_data(); }
        [[nodiscard]] std::uint64_t size() const override { return file_->size(); }

    private:
        std::unique_ptr<File> file_;
        int& open_;
    };

    int open_{};
    int most_open_{};
};

}  // namespace

// How long a start takes is measured by bench_restart; that it cannot grow faster than the journal
// is tested here.
TEST_CASE("P12: a start reads each byte of the journal at most twice", "[journal][recovery]") {
    for (std::uint64_t const groups : {10U, 100U, 1'000U}) {
        CAPTURE(groups);
        Cost const cost = cost_of_start(groups);
        CHECK(cost.records == groups);
        CHECK(cost.bytes_read >= groups * 4'096);
        // The header of a group is read before the group, and two pages of META are.
        CHECK(cost.bytes_read <= 2 * cost.journal_bytes + 4 * 4'096);
    }
}

TEST_CASE("P12: a start has two segments open at a time, however many there are",
          "[journal][recovery]") {
    DiskThatCountsFiles disk;
    StillClock const clock;
    CountingListener listener;
    auto journal = opened(small_options("data"), disk, clock, listener);
    for (int at = 0; at < 1'000; ++at)
        REQUIRE(journal->wait_durable(append_record(*journal, "a claim of two seats")));
    journal->close();
    journal.reset();
    auto const segments = std::ranges::count_if(
        disk.paths(), [](std::string const& path) { return path.ends_with(".hfj"); });
    REQUIRE(segments > 50);

    static_cast<void>(disk.most_open());
    CollectingSink sink;
    REQUIRE(recover("data", disk, {}, sink).has_value());
    CHECK(sink.records.size() == 1'000);
    // The last one, of which a torn tail may have to be kept, and the one that is read.
    CHECK(disk.most_open() == 2);
}

TEST_CASE("P12: a start syncs the zeros of its first segment once, however many they are",
          "[journal][recovery]") {
    MemoryDisk disk;
    StillClock const clock;
    CountingListener listener;
    auto options = small_options("data");
    options.segment_bytes = 16 * synced_piece_bytes;
    // Behind those of a start come those of spares, in pieces; that they fail stops nothing.
    disk.change_faults([](MemoryDisk::Faults& faults) { faults.syncs_until_error = 10; });
    CHECK_NOTHROW(opened(options, disk, clock, listener));
}
