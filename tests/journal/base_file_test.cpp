// Base files: what is wrong with one is found before anything of it is used.
#include "journal/segment_files.hpp"
#include "tests/journal/forge.hpp"
#include "tests/support/forwarding_disk.hpp"

#include <holdfast/base/crc32c.hpp>
#include <holdfast/journal/base_file.hpp>

#include <catch2/catch.hpp>
#include <functional>

namespace holdfast::journal::test {
namespace {

std::filesystem::path const base_path{"data/journal/0000000000000002.hfb"};

struct Based {
    Based() {
        start = *segment_start(Image::data, disk(), 2);
        for (std::size_t at = 0; at < state.size(); ++at) state[at] = std::byte(at % 241);
        REQUIRE_FALSE(write_base(Image::data, disk(), start, state));
    }
    MemoryDisk& disk() { return *image.disk; }
    /// A number of the file's header is another one, and its CRC is right.
    template <class T>
    void forge(std::size_t offset, T value) {
        Bytes& bytes = disk().bytes(base_path);
        std::memcpy(bytes.data() + offset, &value, sizeof value);
        std::uint32_t const crc = crc32c(std::span{bytes}.first(56));
        std::memcpy(bytes.data() + 56, &crc, sizeof crc);
    }
    /// The same words from all that reads it.
    std::string refused(int exit_code, Disk* from = nullptr) {
        Disk& read = from == nullptr ? disk() : *from;
        auto const found = read_base(Image::data, read, start);
        REQUIRE_FALSE(found.has_value());
        CHECK(found.error().exit_code == exit_code);
        auto const checked =
            check_base(Image::data, read, start, [] { return std::optional<Failure>{}; });
        REQUIRE(checked.has_value());
        CHECK(checked->message == found.error().message);
        return found.error().message;
    }

    Image image{10};
    SegmentStart start;
    Bytes state = Bytes((1U << 20) + 500);
};

/// Gives less of a file than the file says it has, as one that is cut while it is read.
class CutFile final : public File {
public:
    explicit CutFile(std::unique_ptr<File> file) : file_(std::move(file)) {}
    std::error_code write_at(std::uint64_t offset, std::span<std::byte const> bytes) override {
        return file_->write_at(offset, bytes);
    }
    std::error_code read_at(std::uint64_t offset, std::span<std::byte> bytes,
                            std::size_t& got) override {
        return file_->read_at(offset, bytes.first(std::min<std::size_t>(bytes.size(), 700)), got);
    }
    std::error_code sync_data() override { return file_->sync_data(); }
    std::uint64_t size() const override { return file_->size(); }

private:
    std::unique_ptr<File> file_;
};

class CutDisk final : public holdfast::test::ForwardingDisk {
public:
    explicit CutDisk(Disk& disk) : real_(disk) {}
    std::error_code open(Path const& name, OpenMode mode, std::unique_ptr<File>& file) override {
        std::unique_ptr<File> whole;
        if (auto const error = real_.open(name, mode, whole)) return error;
        file = std::make_unique<CutFile>(std::move(whole));
        return {};
    }

private:
    Disk& real_;
};

}  // namespace

TEST_CASE("P10: a base file that is not the one of its segment is refused by name",
          "[journal][base]") {
    std::vector<std::pair<std::size_t, char const*>> const others{
        {8, "store"}, {24, "segment"}, {32, "LSN"}, {48, "chain"}};
    for (auto const& [offset, what] : others) {
        CAPTURE(what);
        Based based;
        based.forge(offset, std::uint32_t{77});
        CHECK_THAT(based.refused(77), Catch::Contains("belongs to another journal"));
    }
    Based longer;
    longer.forge(40, std::uint64_t{longer.state.size() + 1});
    CHECK_THAT(longer.refused(77), Catch::Contains("has another length"));
    Based newer;
    newer.forge(4, std::uint16_t{2});
    CHECK_THAT(newer.refused(78), Catch::Contains("has format version 2"));
    Based foreign;
    foreign.forge(0, std::uint32_t{1});
    CHECK_THAT(foreign.refused(77), Catch::Contains("has a bad header"));
}

TEST_CASE("R10: where a newer journal begins is not looked for", "[journal][base]") {
    Image image{10};
    image.meta.version = meta_version_with_base + 1;
    image.meta.first_segment = 7;  // whatever that means there
    image.store_meta(1, 10);
    auto const by_meta = first_segment_start(Image::data, *image.disk);
    REQUIRE_FALSE(by_meta.has_value());
    CHECK(by_meta.error().exit_code == 78);
    CHECK_THAT(by_meta.error().message, Catch::Contains("META has format version 3: needs the"));
    Image segment{10};
    forge_segment(*segment.disk, Image::segment_2,
                  [](SegmentHeader& header) { header.version = 2; });
    auto const by_header = segment_start(Image::data, *segment.disk, 2);
    REQUIRE_FALSE(by_header.has_value());
    CHECK(by_header.error().exit_code == 78);
}

TEST_CASE("P10: one bit flipped in a base file is found, wherever it is", "[journal][base]") {
    Based based;
    Bytes const whole = based.disk().bytes(base_path);
    for (std::size_t at = 0; at < whole.size(); at += at < 64 ? 1 : 99'991) {
        if (at >= 60 && at < page_bytes) continue;  // zeros that nobody reads
        CAPTURE(at);
        based.disk().bytes(base_path)[at] ^= std::byte{16};
        CHECK_THAT(based.refused(77), Catch::Contains("0000000000000002.hfb"));
        based.disk().bytes(base_path) = whole;
    }
    based.disk().bytes(base_path).resize(63);
    CHECK_THAT(based.refused(77), Catch::Contains("has a bad header"));
    REQUIRE_FALSE(based.disk().remove(base_path));
    CHECK_THAT(based.refused(77),
               Catch::Contains("is missing; it stands for the records up to LSN 5"));
}

TEST_CASE("P10: a base file that is cut while it is read is damaged", "[journal][base]") {
    Based based;
    CutDisk cut{based.disk()};
    CHECK_THAT(based.refused(77, &cut), Catch::Contains("is damaged"));
}

TEST_CASE("a check of a base file ends when it is told to", "[journal][base]") {
    Based based;
    int pieces = 0;
    auto const stopped =
        check_base(Image::data, based.disk(), based.start, [&]() -> std::optional<Failure> {
            if (++pieces == 1) return {};
            return Failure{1, "enough"};
        });
    REQUIRE(stopped.has_value());
    CHECK(stopped->message == "enough");
    CHECK(pieces == 2);
}

TEST_CASE("P15: writing and reading a base file can be stopped between pieces", "[journal][base]") {
    Based based;
    REQUIRE_FALSE(based.disk().remove(base_path));
    int pieces = 0;
    int pieces_left = 0;
    auto const stops = [&]() -> std::optional<Failure> {
        ++pieces;
        return pieces_left-- == 0 ? std::optional{Failure{1, "enough"}} : std::nullopt;
    };
    for (int const let : {0, 1, 4}) {
        CAPTURE(let);
        pieces_left = let;
        auto const unwritten =
            write_base(Image::data, based.disk(), based.start, based.state, stops);
        REQUIRE(unwritten.has_value());
        CHECK(unwritten->message == "enough");
        CHECK_FALSE(based.disk().has(base_path));
        CHECK_FALSE(based.disk().has(base_path.parent_path() / base_temporary));
    }
    pieces = 0;
    pieces_left = -1;
    CHECK_FALSE(write_base(Image::data, based.disk(), based.start, based.state, stops));
    CHECK(pieces == 5);
    for (int const let : {0, 1}) {
        pieces_left = let;
        auto const unread = read_base(Image::data, based.disk(), based.start, stops);
        REQUIRE_FALSE(unread.has_value());
        CHECK(unread.error().message == "enough");
    }
    pieces_left = -1;
    auto const read = read_base(Image::data, based.disk(), based.start, stops);
    REQUIRE(read.has_value());
    CHECK((*read == based.state));
}

TEST_CASE("what reads from the first segment needs no base file, and from another a state",
          "[journal][base]") {
    Based based;
    auto const first = segment_start(Image::data, based.disk(), 1);
    REQUIRE(first.has_value());
    int loads = 0;
    auto const load = [&loads](std::span<std::byte const>) { return ++loads != 1; };
    CHECK(read_from(Image::data, based.disk(), *first, load).has_value());
    CHECK(loads == 0);
    auto const refused = read_from(Image::data, based.disk(), based.start, load);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().exit_code == 78);
    CHECK(loads == 1);
    auto const taken = read_from(Image::data, based.disk(), based.start, load);
    REQUIRE(taken.has_value());
    CollectingSink sink;
    REQUIRE((*taken)->read(Lsn{10}, 100, sink).has_value());
    CHECK(sink.records.size() == 5);
}

TEST_CASE("a base file takes what its state does and a page", "[journal][base]") {
    Based based;
    CHECK(base_bytes(Image::data, based.disk(), 2) == base_bytes_for(based.state.size()));
    CHECK(base_bytes(Image::data, based.disk(), 2) == based.disk().bytes(base_path).size());
    CHECK(base_bytes(Image::data, based.disk(), 1) == 0);
}

TEST_CASE("the first segment worth keeping leaves what is not stored and as many as are wanted",
          "[journal][base]") {
    Based based;
    struct Choice {
        std::uint64_t first;
        std::uint64_t stored;
        std::uint64_t kept;
        std::uint64_t chosen;  // 0: none
    };
    for (Choice const choice : {Choice{1, 5, 1, 2},
                                {1, 10, 1, 2},
                                {1, 4, 1, 0},
                                {1, 10, 2, 0},
                                {1, 10, 3, 0},
                                {2, 10, 1, 0}}) {
        CAPTURE(choice.first, choice.stored, choice.kept);
        auto const start = first_worth_keeping(Image::data, based.disk(), choice.first,
                                               Lsn{choice.stored}, choice.kept);
        REQUIRE(start.has_value());
        CHECK((*start ? (*start)->segment : 0) == choice.chosen);
    }
    MemoryDisk empty;
    auto const none = first_worth_keeping(Image::data, empty, 1, Lsn{10}, 1);
    REQUIRE(none.has_value());
    CHECK_FALSE(none->has_value());
    auto const without_meta = first_segment_start(Image::data, empty);
    REQUIRE_FALSE(without_meta.has_value());
    CHECK(without_meta.error().exit_code == 77);
}

}  // namespace holdfast::journal::test
