// Copies of files, groups that are read while they change, and the small parts beside them.
#include "journal/aligned_bytes.hpp"
#include "journal/group_reader.hpp"
#include "journal/spare.hpp"
#include "tests/journal/image.hpp"

#include <holdfast/journal/whole_files.hpp>

#include <catch2/catch.hpp>
#include <functional>

namespace holdfast::journal::test {
namespace {

BetweenPieces const without_end = [] { return std::optional<Failure>{}; };

/// Reads of the image's second segment, of which a test changes the later ones.
class ChangingFile final : public File {
public:
    ChangingFile(Bytes bytes, std::function<void(Bytes&)> change)
        : bytes_(std::move(bytes)), change_(std::move(change)) {}
    std::error_code write_at(std::uint64_t, std::span<std::byte const>) override { return {}; }
    std::error_code read_at(std::uint64_t offset, std::span<std::byte> bytes,
                            std::size_t& got) override {
        if (reads_++ == 1) change_(bytes_);
        got = offset < bytes_.size() ? std::min(bytes.size(), bytes_.size() - offset) : 0;
        std::copy_n(bytes_.begin() + static_cast<long>(offset), got, bytes.begin());
        return {};
    }
    std::error_code sync_data() override { return {}; }
    std::uint64_t size() const override { return bytes_.size(); }

private:
    Bytes bytes_;
    std::function<void(Bytes&)> change_;
    int reads_{};
};

/// The last group of the image, read while `change` happens between its first page and the rest.
std::optional<GroupHeader> read_while(std::function<void(Image&, Bytes&)> const& change) {
    Image image{0};
    Bytes const& bytes = image.disk->bytes(Image::segment_2);
    auto const segment = decode_segment_header(std::span{bytes}.first(page_bytes));
    auto const header = decode_group_header(image.place(image.last_group),
                                            std::span{bytes}.subspan(image.last_group));
    REQUIRE((segment && header));
    ChangingFile file{bytes, [&](Bytes& now) { change(image, now); }};
    GroupReader reader;
    std::optional<Group> group;
    Cursor const cursor{header->first_lsn - 1, header->prev_chain, image.last_group};
    REQUIRE_FALSE(reader.read(file, *segment, cursor, group));
    return group ? std::optional{group->header} : std::nullopt;
}

}  // namespace

TEST_CASE("a group that changes or ends while it is read is none", "[journal][format]") {
    CHECK(read_while([](Image&, Bytes&) {}).has_value());
    CHECK_FALSE(read_while([](Image& image, Bytes& now) {
                    now.resize(image.last_group + page_bytes);
                }).has_value());
    CHECK_FALSE(read_while([](Image& image, Bytes& now) {
                    now[image.last_group + page_bytes] ^= std::byte{1};
                }).has_value());
    // Another header, whole as the first one was: that of a group that is written meanwhile.
    CHECK_FALSE(read_while([](Image& image, Bytes& now) {
                    auto const group = std::span{now}.subspan(image.last_group);
                    auto header = decode_group_header(image.place(image.last_group), group);
                    REQUIRE(header.has_value());
                    ++header->wall_ms;
                    encode_group_header(*header, image.place(image.last_group),
                                        group.first(header->total_len));
                }).has_value());
}

TEST_CASE("a group as large as one may be is read", "[journal][format]") {
    Image image{0};
    GroupHeader header;
    header.total_len = limits::group_bytes_max;
    header.payload_len = limits::group_bytes_max - group_header_bytes;
    header.record_count = 1;
    header.first_lsn = 1;
    header.last_lsn = 1;
    AlignedBytes const group{limits::group_bytes_max};
    GroupPlace const place{image.meta.store_id, 2, 0, 0};
    encode_group_header(header, place, group.span());
    SegmentHeader segment;
    segment.store_id = place.store_id;
    segment.segment = place.segment;
    ChangingFile file{Bytes(group.span().begin(), group.span().end()), [](Bytes&) {}};
    GroupReader reader;
    std::optional<Group> found;
    REQUIRE_FALSE(reader.read(file, segment, Cursor{}, found));
    REQUIRE(found.has_value());
    CHECK(found->payload.size() == header.payload_len);
}

TEST_CASE("a copy has what was asked for, and zeros up to its least length", "[journal][copy]") {
    MemoryDisk disk;
    disk.put("from", Bytes(10'000, std::byte{1}));
    struct Asked {
        CopiedPart part;
        std::size_t copied;
        std::size_t length;
    };
    std::vector<Asked> const all{{{.bytes = 0}, 0, 0},
                                 {{.bytes = 0, .least = 4'096}, 0, 4'096},
                                 {{.bytes = 100, .least = 50}, 100, 100},
                                 {{.bytes = 20'000, .least = 10'001}, 10'000, 10'001}};
    for (Asked const& asked : all) {
        static_cast<void>(disk.remove("to"));
        REQUIRE_FALSE(copy_file(disk, "from", "to", asked.part, without_end));
        Bytes expected(asked.copied, std::byte{1});
        expected.resize(asked.length);
        CHECK((disk.bytes("to") == expected));
    }
    REQUIRE_FALSE(disk.remove("to"));
    disk.change_faults([](auto& faults) { faults.writes_until_error = 1; });
    auto const failure = copy_file(disk, "from", "to", {.bytes = 100, .least = 200}, without_end);
    REQUIRE(failure.has_value());
    CHECK(failure->exit_code == 1);
}

TEST_CASE("a spare is made anew where another file is in its way", "[journal]") {
    MemoryDisk disk;
    disk.put("data/journal/next-1.tmp", Bytes(7, std::byte{9}));
    Spare spare;
    SparePlan const plan{"data/journal/next-1.tmp", 7, 2 * page_bytes, Syncs::once};
    REQUIRE_FALSE(make_spare(disk, plan, spare));
    CHECK(spare.segment == std::filesystem::path{"data/journal"} / segment_name(7));
    CHECK((disk.bytes("data/journal/next-1.tmp") == Bytes(2 * page_bytes)));
}

}  // namespace holdfast::journal::test
