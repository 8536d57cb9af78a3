// Each single call to the disk fails once, in everything that the journal does with its files: that
// is told, or it does no harm, and a second try ends well.
#include "journal/journal_core.hpp"
#include "journal/segment_files.hpp"
#include "tests/journal/image.hpp"
#include "tests/support/nth_call_disk.hpp"

#include <holdfast/journal/base_file.hpp>
#include <holdfast/journal/journal_copy.hpp>
#include <holdfast/journal/salvage.hpp>

#include <catch2/catch.hpp>
#include <functional>

namespace holdfast::journal::test {
namespace {

using holdfast::test::NthCallDisk;

std::filesystem::path const nth_folder{"data/journal"};
std::filesystem::path const nth_target{"out"};
BetweenPieces const never_stopped = [] { return std::optional<Failure>{}; };

/// Something that is done to an image of a journal.
struct Doing {
    std::function<std::unique_ptr<MemoryDisk>()> begin;
    std::function<std::optional<Failure>(Disk&)> run;
    std::function<bool(MemoryDisk&)> is_right;  // what it has made
    int harmless{};                             // calls that may fail without a word
    std::errc kind{std::errc::io_error};
};

void clear_target(MemoryDisk& disk) {
    for (std::string const& path : disk.paths())
        if (path.starts_with(nth_target.string())) REQUIRE_FALSE(disk.remove(path));
}

/// How many calls there were; each was the one that failed.
int fail_each_call(Doing const& doing) {
    int harmless = 0;
    for (int nth = 0;; ++nth) {
        REQUIRE(nth < 1'000);
        auto const files = doing.begin();
        NthCallDisk disk{*files, nth, doing.kind};
        auto const failure = doing.run(disk);
        CAPTURE(nth, disk.failed_call(), failure ? failure->message : "");
        if (!failure) REQUIRE(doing.is_right(*files));
        if (!disk.has_failed()) {
            REQUIRE_FALSE(failure);
            CHECK(harmless == doing.harmless);
            return nth;
        }
        if (!failure) {
            ++harmless;
            continue;
        }
        REQUIRE(failure->exit_code != 0);
        REQUIRE_FALSE(failure->message.empty());
        // Nothing is in the way of another try.
        clear_target(*files);
        auto const again = doing.run(*files);
        if (again) FAIL(again->message);
        REQUIRE(doing.is_right(*files));
    }
}

std::unique_ptr<MemoryDisk> nth_image(std::function<void(Image&)> const& change) {
    Image image{0};
    change(image);
    return std::move(image.disk);
}

std::optional<Failure> recovered_by(Disk& disk) {
    CollectingSink sink;
    auto const recovered = recover(Image::data, disk, {}, sink);
    return recovered ? std::optional<Failure>{} : recovered.error();
}

std::size_t records_in(MemoryDisk& disk, std::filesystem::path const& data = Image::data) {
    CollectingSink sink;
    if (!recover(data, disk, {}, sink)) return 0;
    return sink.records.size();
}

SegmentStart start_of_second(Disk& disk) {
    auto const start = segment_start(Image::data, disk, 2);
    if (!start) throw std::logic_error(start.error().message);
    return *start;
}

Bytes long_state() {
    Bytes state(3 * synced_piece_bytes + 100);
    for (std::size_t at = 0; at < state.size(); ++at) state[at] = std::byte(at % 251);
    return state;
}

/// Its first segment is deleted, and a base file stands for it.
std::unique_ptr<MemoryDisk> image_with_base() {
    return nth_image([](Image& image) {
        auto const start = start_of_second(*image.disk);
        REQUIRE_FALSE(write_base(Image::data, *image.disk, start, long_state()));
        image.meta.first_segment = 2;
        image.store_meta(1, 10);
        image.store_meta(1, 10);
        REQUIRE_FALSE(delete_before(Image::data, *image.disk, 2));
    });
}

template <class T>
std::optional<Failure> failure_of(ResultOf<T, Failure> const& result) {
    return result ? std::optional<Failure>{} : result.error();
}

}  // namespace

TEST_CASE(
    "P11: R2, R6: whichever call of a start fails, nothing is lost and the next start ends well",
    "[journal][fault][recovery]") {
    Doing torn;
    torn.begin = [] {
        return nth_image([](Image& image) {
            image.disk->bytes(Image::segment_2)[image.last_group + 5'000] ^= std::byte{1};
        });
    };
    torn.run = recovered_by;
    torn.is_right = [](MemoryDisk& disk) {
        auto const files = disk.paths();
        return records_in(disk) == 8 && std::ranges::any_of(files, [](std::string const& path) {
                   return path.starts_with("data/quarantine/0000000000000002.hfj.from-");
               });
    };
    CHECK(fail_each_call(torn) > 20);
    Doing unborn = torn;
    unborn.begin = [] {
        return nth_image([](Image& image) {
            auto& bytes = image.disk->bytes(Image::segment_2);
            std::fill(bytes.begin(), bytes.end(), std::byte{0});
        });
    };
    unborn.is_right = [](MemoryDisk& disk) {
        return records_in(disk) == 5 && disk.has("data/quarantine/0000000000000002.hfj.from-0");
    };
    CHECK(fail_each_call(unborn) > 20);
}

TEST_CASE("P11: R2: a torn tail that ends while it is copied to quarantine is not cut",
          "[journal][fault][recovery]") {
    int refused = 0;
    for (int nth = 0;; ++nth) {
        Image image{0};
        image.disk->bytes(Image::segment_2)[image.last_group + 5'000] ^= std::byte{1};
        NthCallDisk disk{*image.disk, nth, std::errc{}};
        auto const failure = recovered_by(disk);
        if (!disk.has_failed()) break;
        bool const by_quarantine =
            failure && failure->message.find("cannot be copied") != std::string::npos;
        refused += by_quarantine ? 1 : 0;
        CHECK(records_in(*image.disk) == 8);
    }
    CHECK(refused == 1);
}

TEST_CASE("P9: whichever call of opening a journal fails, the next start ends well",
          "[journal][fault]") {
    StillClock clock;
    CountingListener listener;
    Options const options = small_options(Image::data);
    auto const open = [&](Disk& disk) -> std::optional<Failure> {
        CollectingSink sink;
        auto const recovered = recover(Image::data, disk, {}, sink);
        if (!recovered) return recovered.error();
        JournalCore core{options, disk, clock, recovered->tail, listener, [] {}};
        if (auto const error = core.prepare(recovered->tail)) return Failure{76, error.message()};
        return {};
    };
    Doing new_folder{
        [] { return std::make_unique<MemoryDisk>(); }, open,
        [](MemoryDisk& disk) { return !recovered_by(disk) && disk.has(Image::segment_1); }};
    CHECK(fail_each_call(new_folder) > 20);
    Doing existing{[] { return nth_image([](Image&) {}); }, open,
                   [](MemoryDisk& disk) {
                       return records_in(disk) == 10 &&
                              disk.has("data/journal/0000000000000003.hfj");
                   }};
    CHECK(fail_each_call(existing) > 30);
    // A deletion was interrupted: the start goes on with it, and starts if it cannot.
    Doing leftovers = existing;
    leftovers.begin = [] {
        auto disk = image_with_base();
        disk->put(Image::segment_1, Bytes(Image::segment_bytes));
        disk->put(nth_folder / "base.tmp", Bytes(5));
        return disk;
    };
    leftovers.is_right = [](MemoryDisk& disk) { return records_in(disk) == 5; };
    leftovers.harmless = 4;  // list, two files, sync of the folder
    CHECK(fail_each_call(leftovers) > 30);
}

TEST_CASE("whichever call of making or reading a base file fails is told", "[journal][fault]") {
    Doing write;
    write.begin = [] {
        return nth_image(
            [](Image& image) { image.disk->put(nth_folder / base_temporary, Bytes(9)); });
    };
    write.run = [](Disk& disk) -> std::optional<Failure> {
        auto const start = segment_start(Image::data, disk, 2);
        return start ? write_base(Image::data, disk, *start, long_state()) : start.error();
    };
    write.is_right = [](MemoryDisk& disk) {
        auto const read = read_base(Image::data, disk, start_of_second(disk));
        return read && *read == long_state() && !disk.has(nth_folder / base_temporary);
    };
    CHECK(fail_each_call(write) > 10);

    Doing read;
    read.begin = image_with_base;
    read.is_right = [](MemoryDisk&) { return true; };
    read.run = [](Disk& disk) -> std::optional<Failure> {
        auto const first = first_segment_start(Image::data, disk);
        if (!first) return first.error();
        if (first->segment != 2) return Failure{1, "it begins elsewhere"};
        if (auto failure = check_base(Image::data, disk, *first, never_stopped)) return failure;
        auto const load = [](std::span<std::byte const> bytes) {
            return std::ranges::equal(bytes, long_state());
        };
        auto const reader = read_from(Image::data, disk, *first, load);
        if (!reader) return reader.error();
        CollectingSink sink;
        auto const chunk = (*reader)->read(Lsn{10}, 100, sink);
        if (!chunk) return chunk.error();
        return sink.records.size() == 5 ? std::optional<Failure>{} : Failure{1, "records lack"};
    };
    CHECK(fail_each_call(read) > 15);
}

TEST_CASE("whichever call of choosing and deleting segments fails is told", "[journal][fault]") {
    Doing choose;
    choose.begin = [] { return nth_image([](Image&) {}); };
    choose.is_right = [](MemoryDisk&) { return true; };
    choose.run = [](Disk& disk) -> std::optional<Failure> {
        auto const start = first_worth_keeping(Image::data, disk, 1, Lsn{5}, 1);
        if (!start) return start.error();
        return *start && (*start)->segment == 2 ? std::optional<Failure>{}
                                                : Failure{1, "another segment"};
    };
    CHECK(fail_each_call(choose) > 2);

    Doing before = choose;
    before.run = [](Disk& disk) { return delete_before(Image::data, disk, 2); };
    before.is_right = [](MemoryDisk& disk) {
        return !disk.has(Image::segment_1) && disk.has(Image::segment_2);
    };
    CHECK(fail_each_call(before) == 3);
    Doing after = choose;
    after.run = [](Disk& disk) { return delete_after(Image::data, disk, 1); };
    after.is_right = [](MemoryDisk& disk) {
        return disk.has(Image::segment_1) && !disk.has(Image::segment_2);
    };
    CHECK(fail_each_call(after) == 2);
}

TEST_CASE("P3: whichever call of a backup's copy fails is told", "[journal][fault][copy]") {
    for (bool const has_base : {false, true}) {
        Doing copy;
        copy.begin = [has_base] { return has_base ? image_with_base() : nth_image([](Image&) {}); };
        copy.run = [](Disk& disk) {
            return failure_of(
                copy_journal(Image::data, disk, Lsn{9 + 1}, nth_target, never_stopped));
        };
        copy.is_right = [has_base](MemoryDisk& disk) {
            return records_in(disk, nth_target) == (has_base ? 5 : 10);
        };
        copy.harmless = 1;  // the link of what is finished: it is copied then
        CHECK(fail_each_call(copy) > 30);
    }
}

TEST_CASE("whichever call of a salvage fails is told", "[journal][fault][salvage]") {
    for (bool const has_base : {false, true}) {
        Doing salvage;
        salvage.begin = [has_base] {
            return has_base ? image_with_base() : nth_image([](Image&) {});
        };
        salvage.run = [](Disk& disk) -> std::optional<Failure> {
            auto const part = find_whole_part(Image::data, disk, Lsn{10});
            if (!part) return part.error();
            // What cannot be read counts as damage, and is said so.
            if (!part->damage.empty()) return Failure{77, part->damage};
            return copy_whole_part(Image::data, disk, *part, nth_target);
        };
        salvage.is_right = [has_base](MemoryDisk& disk) {
            return records_in(disk, nth_target) == (has_base ? 5 : 10);
        };
        // Either page of META, the seal of a segment, and what is behind the end of the last one.
        salvage.harmless = has_base ? 8 : 10;
        CHECK(fail_each_call(salvage) > 30);
    }
}

TEST_CASE("whichever call of following the journal fails is told", "[journal][fault][tail]") {
    Doing follow;
    follow.begin = [] { return nth_image([](Image&) {}); };
    follow.is_right = [](MemoryDisk&) { return true; };
    follow.run = [](Disk& disk) -> std::optional<Failure> {
        TailReader reader{Image::data, disk, Lsn{2}};
        CollectingSink sink;
        for (std::uint64_t last = 2; last < 10;) {
            auto const chunk = reader.read(Lsn{10}, 1, sink);
            if (!chunk) return chunk.error();
            last = chunk->last.value();
        }
        return sink.records.size() == 8 ? std::optional<Failure>{} : Failure{1, "records lack"};
    };
    CHECK(fail_each_call(follow) > 10);
}

TEST_CASE("a file that is written whole is there or not, whichever call fails",
          "[journal][fault]") {
    Bytes const old_bytes(3, std::byte{'o'});
    Bytes const new_bytes(5, std::byte{'n'});
    for (std::filesystem::path const file : {"note", "data/note"}) {
        Doing write;
        write.begin = [&] {
            auto disk = std::make_unique<MemoryDisk>();
            disk->put(file, old_bytes);
            return disk;
        };
        write.run = [&](Disk& disk) -> std::optional<Failure> {
            auto const error = write_whole(disk, file, new_bytes);
            if (!error) return {};
            return Failure{76, error.message()};
        };
        write.is_right = [&](MemoryDisk& disk) { return disk.bytes(file) == new_bytes; };
        CHECK(fail_each_call(write) == 6);
    }
}

}  // namespace holdfast::journal::test
