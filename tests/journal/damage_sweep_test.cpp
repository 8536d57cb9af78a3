#include "tests/journal/image.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

struct Tally {
    std::size_t whole{};     // all records came back
    std::size_t cut{};       // a tail that nobody was promised was cut
    std::size_t refused{};   // exit 77 or 78
    std::size_t wrong{};     // anything else
    std::size_t wrong_at{};  // the first such byte
};

// Flips one bit of each byte of the file and recovers. `acknowledged` is what must never be lost.
Tally flip_every_byte(Image& image, std::filesystem::path const& path, std::size_t from,
                      std::size_t to, std::uint64_t acknowledged) {
    Tally tally;
    Bytes const original = image.disk->bytes(path);
    for (std::size_t at = from; at < to; ++at) {
        image.disk->bytes(path)[at] ^= static_cast<std::byte>(1U << (at % 8));
        CollectingSink sink;
        auto const result = recover(Image::data, *image.disk, {}, sink);
        std::size_t const found = sink.records.size();
        bool const true_to_the_original = are_first(sink.records, image.records, found);
        if (!true_to_the_original) {
            if (tally.wrong++ == 0) tally.wrong_at = at;
        } else if (!result) {
            int const code = result.error().exit_code;
            code == 77 || code == 78 ? ++tally.refused : ++tally.wrong;
        } else if (found < acknowledged || result->tail.last_lsn.value() != found) {
            if (tally.wrong++ == 0) tally.wrong_at = at;
        } else {
            found == image.records.size() ? ++tally.whole : ++tally.cut;
        }
        image.disk->bytes(path)[at] = original[at];
    }
    return tally;
}

}  // namespace

TEST_CASE("P10: one bit flipped at any byte of a segment is found or harmless",
          "[journal][recovery]") {
    // Who acknowledged what: META 10; or META 5 and the last group, which carries 8.
    for (auto const& [watermark, acknowledged] : {std::pair{10U, 10U}, std::pair{5U, 8U}}) {
        Image image{watermark};
        for (auto const& [path, to] :
             {std::pair{Image::segment_1, std::size_t{5 * page_bytes}},
              std::pair{Image::segment_2, std::size_t{image.end + page_bytes}}}) {
            auto const tally = flip_every_byte(image, path, 0, to, acknowledged);
            CAPTURE(path, watermark, tally.whole, tally.cut, tally.refused, tally.wrong_at);
            CHECK(tally.wrong == 0);
            CHECK(tally.refused > 100);
            bool const may_cut = watermark == 5 && path == Image::segment_2;
            CHECK((tally.cut > 8'000) == may_cut);
            if (!may_cut) CHECK(tally.cut == 0);
        }
    }
}

TEST_CASE("one bit flipped at any byte behind a clean stop is found or harmless",
          "[journal][recovery]") {
    auto image = Image::with_empty_group(flag_seal | flag_clean, 0);
    image.meta.flags = meta_clean;
    image.store_meta(1, 10);
    auto const tally = flip_every_byte(image, Image::segment_2, 0, image.end + page_bytes, 10);
    CAPTURE(tally.wrong_at);
    CHECK(tally.wrong == 0);
    CHECK(tally.cut == 0);
}

TEST_CASE("one bit flipped at any byte of META falls back to the other page",
          "[journal][recovery]") {
    Image image{8};
    for (std::string const path : {"data/META.a", "data/META.b"}) {
        auto const tally = flip_every_byte(image, path, 0, page_bytes, 8);
        CAPTURE(path, tally.wrong_at);
        CHECK(tally.wrong == 0);
        CHECK(tally.whole == page_bytes);
    }
}

TEST_CASE("a group at another place than it was written for is not accepted",
          "[journal][recovery]") {
    // Misdirected writes: the good group of LSN 9-10 stands one page further, or in segment 1.
    Image moved{0};
    Bytes& segment = moved.disk->bytes(Image::segment_2);
    Bytes const group(segment.begin() + static_cast<long>(moved.last_group),
                      segment.begin() + static_cast<long>(moved.end));
    std::fill(segment.begin() + static_cast<long>(moved.last_group),
              segment.begin() + static_cast<long>(moved.end), std::byte{0});
    std::copy(group.begin(), group.end(),
              segment.begin() + static_cast<long>(moved.last_group + page_bytes));
    CollectingSink sink;
    auto const torn = recover(Image::data, *moved.disk, {}, sink);
    REQUIRE(torn.has_value());
    CHECK(are_first(sink.records, moved.records, 8));
    CHECK(torn->cut_bytes == group.size() + page_bytes);

    Image known{10};
    known.disk->bytes(Image::segment_2) = segment;
    auto const refused = recover(Image::data, *known.disk, {}, sink);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().exit_code == 77);
}
