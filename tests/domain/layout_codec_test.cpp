#include "tests/domain/layout_samples.hpp"

#include <holdfast/base/crc32c.hpp>
#include <holdfast/domain/layout_codec.hpp>

#include <algorithm>
#include <catch2/catch.hpp>

using namespace holdfast;

namespace {

using Bytes = std::vector<std::byte>;

void seal(Bytes& bytes) {
    bytes.resize(bytes.size() - 4);
    auto const crc = crc32c(bytes);
    for (unsigned shift = 0; shift < 32; shift += 8) {
        bytes.push_back(static_cast<std::byte>((crc >> shift) & 0xFFU));
    }
}

void check_same(Layout const& a, Layout const& b) {
    REQUIRE(a.seats().size() == b.seats().size());
    REQUIRE(a.sections().size() == b.sections().size());
    REQUIRE(a.rows().size() == b.rows().size());
    CHECK(a.focal() == b.focal());
    CHECK(a.place_count() == b.place_count());
    for (std::uint32_t i = 0; i < a.labelled_count(); ++i) {
        SeatIndex const seat{i};
        CHECK(a.name_of(seat) == b.name_of(seat));
        CHECK(a.label_of(seat) == b.label_of(seat));
        CHECK(a.seats()[i].at == b.seats()[i].at);
        CHECK(a.seats()[i].flags == b.seats()[i].flags);
        CHECK(a.seats()[i].category == b.seats()[i].category);
        CHECK(b.find_seat(a.name_of(seat)) == seat);
    }
    for (std::size_t i = 0; i < a.sections().size(); ++i) {
        auto const& left = a.sections()[i];
        auto const& right = b.sections()[i];
        CHECK(left.id == right.id);
        CHECK(left.name == right.name);
        CHECK(left.category == right.category);
        CHECK(left.zone == right.zone);
        CHECK(left.focal == right.focal);
        CHECK(left.general == right.general);
        CHECK(left.first == right.first);
        CHECK(left.capacity == right.capacity);
        CHECK(left.first_row == right.first_row);
        CHECK(left.row_count == right.row_count);
    }
    for (std::size_t i = 0; i < a.rows().size(); ++i) {
        CHECK(a.rows()[i].label == b.rows()[i].label);
        CHECK(a.rows()[i].first == b.rows()[i].first);
        CHECK(a.rows()[i].count == b.rows()[i].count);
        CHECK(a.rows()[i].section == b.rows()[i].section);
    }
}

}  // namespace

TEST_CASE("a layout comes back from its bytes unchanged", "[layout]") {
    auto const layout = samples::built(samples::mixed());
    auto const bytes = encode_layout(layout);
    auto const again = decode_layout(bytes);
    REQUIRE(again.has_value());
    check_same(layout, *again);
    CHECK(again->categories()[0].name == "VIP");
    CHECK(again->categories()[1].price == 4'500);
    CHECK(again->zones()[0].focal == Point{1.5, -2});
    CHECK(encode_layout(*again) == bytes);
}

TEST_CASE("every truncation of a layout is refused, with and without a fitting checksum",
          "[layout]") {
    auto const bytes = encode_layout(samples::built(samples::mixed()));
    for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
        CAPTURE(kept);
        Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(kept));
        REQUIRE(!decode_layout(cut).has_value());
        if (kept < 4 || kept + 4 >= bytes.size() + 4) continue;
        seal(cut);
        REQUIRE(!decode_layout(cut).has_value());
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    seal(longer);
    CHECK(!decode_layout(longer).has_value());
}

TEST_CASE("every single flipped bit of a layout is refused", "[layout]") {
    auto bytes = encode_layout(samples::built(samples::mixed()));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        auto const mask = static_cast<std::byte>(1U << (bit % 8));
        bytes[bit / 8] ^= mask;
        CAPTURE(bit);
        REQUIRE(!decode_layout(bytes).has_value());
        bytes[bit / 8] ^= mask;
    }
}

TEST_CASE("damage under a fitting checksum gives a valid layout or none", "[layout][fuzz]") {
    auto const bytes = encode_layout(samples::built(samples::mixed()));
    std::mt19937_64 random(samples::seed());
    std::size_t accepted = 0;
    for (int round = 0; round < 20'000; ++round) {
        auto damaged = bytes;
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            damaged[random() % (damaged.size() - 4)] = static_cast<std::byte>(random() & 0xFFU);
        }
        seal(damaged);
        auto const layout = decode_layout(damaged);
        if (!layout) continue;
        ++accepted;
        // What is accepted must be a whole layout: it encodes to the very bytes it came from.
        REQUIRE(encode_layout(*layout) == damaged);
    }
    CHECK(accepted > 0);
    CHECK(accepted < 20'000);
}

TEST_CASE("joined seats make a version that an older reader refuses", "[layout]") {
    CHECK(encode_layout(samples::built(samples::mixed())).front() == std::byte{1});
    auto builder = samples::mixed();
    auto const joined = static_cast<std::uint8_t>(SeatFlag::joined);
    builder.add_section(samples::section("C"));
    builder.add_row("sofa");
    builder.add_seat({"C-1", "1", {}});
    builder.add_seat({"C-2", "2", {{}, {}, joined}});
    auto const layout = samples::built(std::move(builder));
    auto bytes = encode_layout(layout);
    CHECK(bytes.front() == std::byte{2});
    auto const again = decode_layout(bytes);
    REQUIRE(again.has_value());
    check_same(layout, *again);
    CHECK(again->largest_group() == 2);
    bytes.front() = std::byte{1};
    seal(bytes);
    CHECK(!decode_layout(bytes).has_value());
    // Of the seats' flags, the last is that of C-2; the first of a row is joined to none.
    bytes.front() = std::byte{2};
    auto const flag = std::find(bytes.rbegin(), bytes.rend(), std::byte{joined});
    REQUIRE(flag != bytes.rend());
    auto const seat_bytes = 16 + 4 + 1;
    *(flag + seat_bytes) = std::byte{joined};
    seal(bytes);
    CHECK(!decode_layout(bytes).has_value());
    *(flag + seat_bytes) = std::byte{0};
    *flag = std::byte{64};
    seal(bytes);
    CHECK(!decode_layout(bytes).has_value());
}

TEST_CASE("a layout of 100,000 seats costs at most 60 bytes a seat, as bytes at most 45",
          "[layout]") {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 1});
    for (int section = 0; section < 20; ++section) {
        auto const id = "S" + std::to_string(section);
        builder.add_section(samples::section(id));
        samples::add_rows(builder, id, 100, 50);
    }
    auto const layout = samples::built(std::move(builder));
    CHECK(layout.labelled_count() == 100'000);
    CHECK(layout.memory_bytes() < 60U * 100'000);
    auto const bytes = encode_layout(layout);
    CHECK(bytes.size() < 45U * 100'000);
    auto const again = decode_layout(bytes);
    REQUIRE(again.has_value());
    CHECK(again->memory_bytes() == layout.memory_bytes());
    CHECK(again->find_seat("S19-100-50") == SeatIndex{99'999});
}
