#include "journal/format.hpp"

#include "tests/journal/fixture.hpp"

#include <holdfast/base/crc32c.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

// Little-endian number at a fixed place: the tests know the format by offsets, not by the structs.
std::uint64_t number_at(std::span<std::byte const> bytes, std::size_t at, std::size_t width) {
    std::uint64_t number = 0;
    for (std::size_t byte = 0; byte < width; ++byte) {
        number |= std::to_integer<std::uint64_t>(bytes[at + byte]) << (8 * byte);
    }
    return number;
}

constexpr StoreId store_id{0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
                           0x28, 0x29, 0x2A, 0x2B, 0x2C, 0x2D, 0x2E, 0x2F};

GroupHeader example_group() {
    GroupHeader header;
    header.total_len = page_bytes;
    header.payload_len = 9;
    header.record_count = 1;
    header.first_lsn = 43;
    header.last_lsn = 43;
    header.durable_lsn = 42;
    header.boot_epoch = 3;
    header.flags = flag_checkpoint_hint;
    header.wall_ms = 1'700'000'000'123;
    header.prev_chain = 0xCAFEF00D;
    return header;
}

}  // namespace

TEST_CASE("a segment header stands byte for byte where the format says", "[journal][format]") {
    SegmentHeader header;
    header.store_id = store_id;
    header.segment = 42;
    header.base_lsn = 1'001;
    header.boot_epoch = 7;
    header.prev_chain = 0x11223344;
    header.salt = 0x0102030405060708;
    header.prev_last_lsn = 1'000;
    header.created_ms = 1'700'000'000'000;
    Bytes page(page_bytes, std::byte{0xFF});
    encode_segment_header(header, page);
    CHECK(std::memcmp(page.data(), "HFJ1", 4) == 0);
    CHECK(number_at(page, 4, 2) == 1);
    CHECK(number_at(page, 6, 2) == 4'096);
    CHECK(std::memcmp(page.data() + 8, store_id.data(), 16) == 0);
    CHECK(number_at(page, 24, 8) == 42);
    CHECK(number_at(page, 32, 8) == 1'001);
    CHECK(number_at(page, 40, 4) == 7);
    CHECK(number_at(page, 44, 4) == 0x11223344);
    CHECK(number_at(page, 48, 8) == 0x0102030405060708);
    CHECK(number_at(page, 56, 8) == 1'000);
    CHECK(number_at(page, 64, 8) == 1'700'000'000'000);
    CHECK(number_at(page, 72, 4) == crc32c(std::span{page}.first(72)));
    CHECK(std::all_of(page.begin() + 76, page.end(), [](auto b) { return b == std::byte{0}; }));
    auto const back = decode_segment_header(page);
    REQUIRE(back.has_value());
    CHECK(back->segment == 42);
    CHECK(back->prev_last_lsn == 1'000);
    CHECK_FALSE(decode_segment_header(std::span{page}.first(4'095)).has_value());
}

TEST_CASE("a group header stands byte for byte where the format says", "[journal][format]") {
    Bytes group(page_bytes);
    std::string_view const record{"\x05\x00\x04\x02hello", 9};
    std::memcpy(group.data() + 72, record.data(), record.size());
    GroupPlace const place{store_id, 42, 8'192, 0xAABBCCDD01020304};
    std::uint32_t const chain = encode_group_header(example_group(), place, group);
    std::uint32_t const magic = 0x31474648U ^ 0x01020304U;  // "HFG1" little endian
    CHECK(number_at(group, 0, 4) == magic);
    CHECK(number_at(group, 4, 4) == page_bytes);
    CHECK(number_at(group, 8, 4) == 9);
    CHECK(number_at(group, 12, 4) == 1);
    CHECK(number_at(group, 16, 8) == 43);
    CHECK(number_at(group, 24, 8) == 43);
    CHECK(number_at(group, 32, 8) == 42);
    CHECK(number_at(group, 40, 4) == 3);
    CHECK(number_at(group, 44, 4) == 4);
    CHECK(number_at(group, 48, 8) == 1'700'000'000'123);
    CHECK(number_at(group, 56, 4) == 0xCAFEF00D);
    CHECK(number_at(group, 60, 4) == crc32c(bytes_of(record), 0xCAFEF00D));
    CHECK(number_at(group, 60, 4) == chain);
    CHECK(number_at(group, 64, 4) == 0);
    std::uint64_t const mixed = 0x1716151413121110ULL ^ 0x2F2E2D2C2B2A2928ULL ^ 42ULL ^ 8'192ULL;
    auto const seed = static_cast<std::uint32_t>(mixed ^ (mixed >> 32U));
    CHECK(number_at(group, 68, 4) == crc32c(std::span{group}.first(68), seed));

    auto const back = decode_group_header(place, group);
    REQUIRE(back.has_value());
    CHECK(back->last_lsn == 43);
    CHECK(body_is_good(*back, std::span{group}.subspan(72, 9)));
    CHECK_FALSE(body_is_good(*back, std::span{group}.subspan(72, 8)));
    std::span<std::byte const> rest = std::span{group}.subspan(72, 9);
    auto const frame = take_record(rest);
    REQUIRE(frame.has_value());
    CHECK(frame->type == RecordType::order);
    CHECK(frame->version == 2);
    CHECK(frame->payload.size() == 5);
    CHECK(rest.empty());
}

TEST_CASE("a group is good only at its own place", "[journal][format]") {
    Bytes group(page_bytes);
    std::memcpy(group.data() + 72, "\x05\x00\x04\x02hello", 9);
    GroupPlace const place{store_id, 42, 8'192, 5};
    encode_group_header(example_group(), place, group);
    REQUIRE(decode_group_header(place, group).has_value());
    auto elsewhere = place;
    elsewhere.offset += page_bytes;
    CHECK_FALSE(decode_group_header(elsewhere, group).has_value());
    elsewhere = place;
    elsewhere.segment = 43;
    CHECK_FALSE(decode_group_header(elsewhere, group).has_value());
    elsewhere = place;
    elsewhere.salt = 6;
    CHECK_FALSE(decode_group_header(elsewhere, group).has_value());
    elsewhere = place;
    elsewhere.store_id[3] ^= 1;
    CHECK_FALSE(decode_group_header(elsewhere, group).has_value());
    CHECK_FALSE(decode_group_header(place, std::span{group}.first(71)).has_value());
}

TEST_CASE("a META page stands byte for byte where the format says", "[journal][format]") {
    MetaPage meta;
    meta.store_id = store_id;
    meta.generation = 99;
    meta.boot_epoch = 4;
    meta.flags = meta_clean;
    meta.durable_lsn = 77;
    meta.first_segment = 12;
    Bytes page(page_bytes);
    encode_meta_page(meta, page);
    CHECK(std::memcmp(page.data(), "HFM1", 4) == 0);
    CHECK(number_at(page, 4, 2) == 2);
    CHECK(number_at(page, 6, 2) == 4'096);
    CHECK(std::memcmp(page.data() + 8, store_id.data(), 16) == 0);
    CHECK(number_at(page, 24, 8) == 99);
    CHECK(number_at(page, 32, 4) == 4);
    CHECK(number_at(page, 36, 4) == 1);
    CHECK(number_at(page, 40, 8) == 77);
    CHECK(number_at(page, 48, 8) == 12);
    CHECK(number_at(page, 56, 4) == crc32c(std::span{page}.first(56)));
    auto const back = decode_meta_page(page);
    REQUIRE(back.has_value());
    CHECK(back->generation == 99);
    meta.first_segment = 1;
    encode_meta_page(meta, page);
    CHECK(number_at(page, 4, 2) == 1);
}

TEST_CASE("records are taken off whole or not at all", "[journal][format]") {
    std::string_view const bytes{"\x02\x00\x01\x01xy\x00\x00\x03\x01", 10};
    for (std::size_t length = 0; length <= bytes.size(); ++length) {
        auto rest = bytes_of(bytes.substr(0, length));
        std::size_t whole = 0;
        while (take_record(rest)) ++whole;
        CAPTURE(length);
        CHECK(whole == (length < 6 ? 0U : length < 10 ? 1U : 2U));
        CHECK(rest.size() == (length < 6 ? length : length < 10 ? length - 6 : 0U));
    }
}

TEST_CASE("segment names are sixteen digits and nothing else", "[journal][format]") {
    CHECK(segment_name(42) == "0000000000000042.hfj");
    CHECK(segment_number("0000000000000042.hfj") == 42);
    CHECK(segment_number(segment_name(9'999'999'999'999'999)) == 9'999'999'999'999'999);
    for (std::string_view const name :
         {"", "42.hfj", "0000000000000042.tmp", "next-1.tmp", "00000000000000x2.hfj",
          "-000000000000042.hfj", "0000000000000042.hfj~", "00000000000000042.hfj"}) {
        CAPTURE(name);
        CHECK_FALSE(segment_number(name).has_value());
    }
}
