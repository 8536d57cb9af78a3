#include "tests/journal/fixture.hpp"
#include "tests/support/forwarding_disk.hpp"

#include <holdfast/journal/base_file.hpp>
#include <holdfast/journal/journal_copy.hpp>

#include <catch2/catch.hpp>
#include <sys/stat.h>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;
using holdfast::test::DiskWithoutLinks;

BetweenPieces const go_on = [] { return std::optional<Failure>{}; };

struct CopiedFrom {
    explicit CopiedFrom(Disk& the_disk, std::filesystem::path path)
        : disk(the_disk), data(std::move(path)) {
        CollectingSink sink;
        auto const recovered = recover(data, disk, {}, sink);
        if (!recovered) throw std::runtime_error(recovered.error().message);
        auto opened = Journal::open(small_options(data), disk, clock, recovered->tail, listener);
        if (!opened) throw std::runtime_error(opened.error().message);
        journal = std::move(*opened);
    }
    Lsn append(std::size_t count) {
        Lsn last;
        for (std::size_t at = 0; at < count; ++at) {
            last = append_record(*journal, std::string(700, 'c'));
            if (last == no_lsn || !journal->wait_durable(last)) return no_lsn;
        }
        return last;
    }
    Disk& disk;
    std::filesystem::path data;
    CountingListener listener;
    StillClock clock;
    std::unique_ptr<Journal> journal;
};

std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t lsn = first; lsn <= last; ++lsn) all.push_back(lsn);
    return all;
}

/// What recovery says of a copy; throws if it refuses.
std::vector<std::uint64_t> records_of(Disk& disk, std::filesystem::path const& copy,
                                      StoreId const& store, Lsn applied) {
    CollectingSink sink;
    auto const recovered = recover(copy, disk, StoreState{store, applied, {}}, sink);
    if (!recovered) throw std::runtime_error(recovered.error().message);
    CHECK(recovered->cut_bytes == 0);
    CHECK(recovered->tail.store_id == store);
    std::vector<std::uint64_t> lsns;
    for (Record const& record : sink.records) lsns.push_back(record.lsn);
    return lsns;
}

bool same_file(std::filesystem::path const& a, std::filesystem::path const& b) {
    return std::filesystem::equivalent(a, b);
}

void check_every_end(Disk& disk, std::filesystem::path const& root) {
    CopiedFrom source{disk, root / "data"};
    Lsn const newest = source.append(60);  // some five segments
    REQUIRE(newest == Lsn{60});
    for (std::uint64_t until : {0, 1, 12, 13, 14, 15, 16, 29, 30, 31, 45, 59, 60}) {
        CAPTURE(until);
        auto const target = root / ("copy-" + std::to_string(until));
        REQUIRE_FALSE(disk.make_folder(target));
        auto const copied = copy_journal(source.data, disk, Lsn{until}, target, go_on);
        REQUIRE(copied.has_value());
        CHECK(copied->last == Lsn{until});
        CHECK(copied->first_segment == 1);
        CHECK(records_of(disk, target, copied->store_id, Lsn{until}) == numbers(1, until));
        // A start on the copy goes on from there.
        CopiedFrom restored{disk, target};
        CHECK(restored.append(3) == Lsn{until + 3});
        restored.journal->close();
    }
    source.journal->close();
}

}  // namespace

TEST_CASE("a copy of a running journal has just the records up to where it is told to end",
          "[journal][copy]") {
    SECTION("on a disk in memory, which has no links") {
        MemoryDisk disk;
        check_every_end(disk, "/root");
    }
    SECTION("on a real one") {
        TempFolder const folder;
        PosixDisk disk;
        REQUIRE_FALSE(disk.make_folder(folder.path() / "data"));
        check_every_end(disk, folder.path());
    }
    SECTION("on a real one whose files have one name only") {
        TempFolder const folder;
        DiskWithoutLinks disk;
        REQUIRE_FALSE(disk.make_folder(folder.path() / "data"));
        check_every_end(disk, folder.path());
    }
}

TEST_CASE("finished segments are linked, the live one is copied, and both are private",
          "[journal][copy]") {
    TempFolder const folder;
    PosixDisk disk;
    auto const target = folder.path() / "copy";
    REQUIRE_FALSE(disk.make_folder(folder.path() / "data"));
    REQUIRE_FALSE(disk.make_folder(target));
    CopiedFrom source{disk, folder.path() / "data"};
    Lsn const newest = source.append(40);
    auto const copied = copy_journal(source.data, disk, newest, target, go_on);
    REQUIRE(copied.has_value());
    REQUIRE(copied->files.size() > 4);
    for (std::string const& name : copied->files) {
        CAPTURE(name);
        bool const is_live = name == copied->files[copied->files.size() - 3];  // META.b, META.a
        bool const is_segment = name.ends_with(".hfj");
        CHECK(same_file(source.data / name, target / name) == (is_segment && !is_live));
        struct stat status{};
        REQUIRE(::stat((target / name).c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0600);
    }
    // Deleting in one place leaves the other.
    REQUIRE_FALSE(disk.remove(source.data / copied->files.front()));
    CHECK(records_of(disk, target, copied->store_id, newest) == numbers(1, newest.value()));
    source.journal->close();
}

TEST_CASE("a copy of a journal whose first segments were deleted begins with its base file",
          "[journal][copy]") {
    TempFolder const folder;
    auto const data = folder.path() / "data";
    auto const target = folder.path() / "copy";
    PosixDisk linking;
    DiskWithoutLinks copying;
    Disk& disk = GENERATE(0, 1) == 0 ? static_cast<Disk&>(linking) : copying;
    REQUIRE_FALSE(disk.make_folder(data));
    REQUIRE_FALSE(disk.make_folder(target));
    CopiedFrom source{disk, data};
    Lsn const newest = source.append(40);
    auto const start = segment_start(data, disk, 3);
    REQUIRE(start.has_value());
    std::vector<std::byte> const state(3'000'000, std::byte{7});
    REQUIRE_FALSE(write_base(data, disk, *start, state));
    REQUIRE(source.journal->keep_from(3));
    REQUIRE_FALSE(delete_before(data, disk, 3));
    auto const copied = copy_journal(data, disk, newest, target, go_on);
    REQUIRE(copied.has_value());
    CHECK(copied->first_segment == 3);
    auto const base = read_base(target, disk, *start);
    REQUIRE(base.has_value());
    CHECK(*base == state);
    CHECK(records_of(disk, target, copied->store_id, newest) ==
          numbers(start->before.value() + 1, newest.value()));
    source.journal->close();
}

TEST_CASE("P10: damage in a finished segment or a base file is found, also where it is linked",
          "[journal][copy]") {
    TempFolder const folder;
    auto const data = folder.path() / "data";
    PosixDisk linking;
    DiskWithoutLinks copying;
    Disk& disk = GENERATE(0, 1) == 0 ? static_cast<Disk&>(linking) : copying;
    std::string const name = GENERATE("0000000000000003.hfb", "0000000000000003.hfj");
    for (auto const& made : {data, folder.path() / "copy"}) REQUIRE_FALSE(disk.make_folder(made));
    CopiedFrom source{disk, data};
    Lsn const newest = source.append(60);
    auto const start = segment_start(data, disk, 3);
    REQUIRE(start.has_value());
    std::vector<std::byte> const state(3'000'000, std::byte{7});
    REQUIRE_FALSE(write_base(data, disk, *start, state));
    REQUIRE(source.journal->keep_from(3));
    std::unique_ptr<File> file;
    REQUIRE_FALSE(disk.open(data / "journal" / name, OpenMode::write, file));
    REQUIRE_FALSE(file->write_at(4'096 + 100, bytes_of("rot")));
    auto const copied = copy_journal(data, disk, newest, folder.path() / "copy", go_on);
    REQUIRE_FALSE(copied.has_value());
    CHECK(copied.error().exit_code == 77);
    CHECK_THAT(copied.error().message, Catch::Contains(name));
    source.journal->close();
}

TEST_CASE("a live segment's first page is not copied before it is durable", "[journal][copy]") {
    MemoryDisk disk;
    CopiedFrom source{disk, "/root/data"};
    // The journal's first group may be anything up to one that never was acknowledged.
    auto& live = disk.bytes("/root/data/journal/0000000000000001.hfj");
    std::fill(live.begin() + 4'096, live.begin() + 8'192, std::byte{0xA5});
    auto const copied = copy_journal(source.data, disk, no_lsn, "/root/copy", go_on);
    REQUIRE(copied.has_value());
    auto const& copy = disk.bytes("/root/copy/journal/0000000000000001.hfj");
    REQUIRE(copy.size() == 8'192);
    CHECK(copy[4'096] == std::byte{0});
    CHECK(records_of(disk, "/root/copy", copied->store_id, no_lsn).empty());
    source.journal->close();
}

TEST_CASE("a copy of a journal says what it cannot copy", "[journal][copy]") {
    MemoryDisk disk;
    CopiedFrom source{disk, "/root/data"};
    Lsn const newest = source.append(20);
    source.journal->close();
    SECTION("records that are not there") {
        auto const copied =
            copy_journal(source.data, disk, Lsn{newest.value() + 1}, "/root/copy", go_on);
        REQUIRE_FALSE(copied.has_value());
        CHECK(copied.error().exit_code == 77);
        CHECK_THAT(copied.error().message, Catch::Contains("LSN 21 is missing"));
    }
    SECTION("damage in what it reads") {
        auto& live = disk.bytes("/root/data/journal/0000000000000002.hfj");
        live[4'096 + 100] ^= std::byte{1};
        auto const copied = copy_journal(source.data, disk, newest, "/root/copy", go_on);
        REQUIRE_FALSE(copied.has_value());
        CHECK_THAT(copied.error().message, Catch::Contains("0000000000000002.hfj, offset 4096"));
    }
    SECTION("a disk that is full") {
        disk.change_faults([](auto& faults) { faults.writes_until_error = 1; });
        auto const copied = copy_journal(source.data, disk, newest, "/root/copy", go_on);
        REQUIRE_FALSE(copied.has_value());
        CHECK(copied.error().exit_code == 1);
        CHECK_THAT(copied.error().message, Catch::Contains("cannot be written"));
    }
    SECTION("when it is told to stop") {
        auto const copied = copy_journal(source.data, disk, newest, "/root/copy",
                                         [] { return Failure{1, "enough"}; });
        REQUIRE_FALSE(copied.has_value());
        CHECK(copied.error().message == "enough");
    }
}

namespace {

/// A disk that has lost a bit of one file, which the page cache still has whole.
class DiskBehindItsCache final : public holdfast::test::ForwardingDisk {
public:
    std::error_code open(Path const& name, OpenMode mode, std::unique_ptr<File>& file) override {
        bool const from_disk = mode == OpenMode::read_device && name == rotten;
        return ForwardingDisk::open(from_disk ? on_disk : name, mode, file);
    }
    Path rotten;
    Path on_disk;
};

}  // namespace

TEST_CASE("P10: a backup reads what the disk has, not what the page cache has", "[journal][copy]") {
    TempFolder const folder;
    DiskBehindItsCache disk;
    REQUIRE_FALSE(disk.make_folder(folder.path() / "data"));
    REQUIRE_FALSE(disk.make_folder(folder.path() / "good"));
    REQUIRE_FALSE(disk.make_folder(folder.path() / "bad"));
    CopiedFrom source{disk, folder.path() / "data"};
    Lsn const newest = source.append(40);
    auto const whole = copy_journal(source.data, disk, newest, folder.path() / "good", go_on);
    REQUIRE(whole.has_value());
    REQUIRE(whole->files.size() > 4);
    disk.rotten = source.data / whole->files[1];
    disk.on_disk = folder.path() / "rotten";
    std::filesystem::copy_file(disk.rotten, disk.on_disk);
    std::unique_ptr<File> file;
    REQUIRE_FALSE(disk.open(disk.on_disk, OpenMode::write, file));
    REQUIRE_FALSE(file->write_at(4'096 + 100, bytes_of("rot")));
    auto const copied = copy_journal(source.data, disk, newest, folder.path() / "bad", go_on);
    REQUIRE_FALSE(copied.has_value());
    CHECK(copied.error().exit_code == 77);
    CHECK(copied.error().message.find("0000000000000002.hfj, offset 4096") != std::string::npos);
    source.journal->close();
}

TEST_CASE("P10: a backup finds a first header that only the page cache has", "[journal][copy]") {
    TempFolder const folder;
    DiskBehindItsCache disk;
    REQUIRE_FALSE(disk.make_folder(folder.path() / "data"));
    REQUIRE_FALSE(disk.make_folder(folder.path() / "copy"));
    CopiedFrom source{disk, folder.path() / "data"};
    Lsn const newest = source.append(2);
    disk.rotten = source.data / "journal" / "0000000000000001.hfj";
    disk.on_disk = folder.path() / "rotten";
    std::filesystem::copy_file(disk.rotten, disk.on_disk);
    std::unique_ptr<File> file;
    REQUIRE_FALSE(disk.open(disk.on_disk, OpenMode::write, file));
    REQUIRE_FALSE(file->write_at(10, bytes_of("rot")));
    auto const copied = copy_journal(source.data, disk, newest, folder.path() / "copy", go_on);
    REQUIRE_FALSE(copied.has_value());
    CHECK_THAT(copied.error().message,
               Catch::Contains("the header of 0000000000000001.hfj is bad"));
    source.journal->close();
}

TEST_CASE("R6: a copy ends before a segment that was named and no more", "[journal][copy]") {
    MemoryDisk disk;
    CopiedFrom source{disk, "/root/data"};
    Lsn const newest = source.append(2);
    source.journal->close();
    disk.put("/root/data/journal/0000000000000002.hfj", Bytes(small_segment));
    auto const copied = copy_journal(source.data, disk, newest, "/root/copy", go_on);
    REQUIRE(copied.has_value());
    CHECK(copied->last == newest);
    CHECK(records_of(disk, "/root/copy", copied->store_id, newest) == numbers(1, 2));
}

TEST_CASE("a copy of very many small groups asks in between whether to go on", "[journal][copy]") {
    MemoryDisk disk;
    Options options = small_options("/root/data");
    options.segment_bytes = 4U << 20;
    StillClock clock;
    CountingListener listener;
    auto const journal = opened(options, disk, clock, listener);
    Lsn last;
    for (int at = 0; at < 600; ++at) {
        last = append_record(*journal, "small");
        REQUIRE(journal->wait_durable(last));
    }
    journal->close();
    int asked = 0;
    int end_after = 0;
    auto const between = [&]() -> std::optional<Failure> {
        if (++asked != end_after) return {};
        return Failure{1, "enough"};
    };
    auto const copied = copy_journal("/root/data", disk, last, "/root/copy", between);
    REQUIRE(copied.has_value());
    int const all = std::exchange(asked, 0);
    CHECK(all > 3);
    for (end_after = 1; end_after <= all; ++end_after, asked = 0) {
        auto const stopped =
            copy_journal("/root/data", disk, last, "/root/" + std::to_string(end_after), between);
        REQUIRE_FALSE(stopped.has_value());
        CHECK(stopped.error().message == "enough");
        CHECK(asked == end_after);
    }
}
