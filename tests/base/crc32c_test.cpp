#include <holdfast/base/crc32c.hpp>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

namespace {

using namespace holdfast;

std::span<std::byte const> bytes_of(std::string_view text) {
    return std::as_bytes(std::span{text.data(), text.size()});
}

std::vector<std::byte> random_bytes(std::size_t count, std::mt19937_64& random) {
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xFFU);
    return bytes;
}

// The definition, bit by bit: what both versions must agree with.
std::uint32_t crc32c_by_definition(std::span<std::byte const> bytes) {
    std::uint32_t crc = 0xFFFFFFFF;
    for (std::byte const byte : bytes) {
        crc ^= std::to_integer<std::uint32_t>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc & 1U) != 0 ? (crc >> 1U) ^ 0x82F63B78U : crc >> 1U;
        }
    }
    return ~crc;
}

}  // namespace

TEST_CASE("CRC-32C gives the known values", "[crc32c]") {
    for (auto* const crc : {&crc32c, &crc32c_portable}) {
        CHECK(crc(bytes_of("123456789"), 0) == 0xE3069283U);
        CHECK(crc({}, 0) == 0U);
        CHECK(crc({}, 0xE3069283U) == 0xE3069283U);
        // RFC 3720 B.4: 32 bytes of zeros, of ones, and 0 ... 31.
        std::vector<std::byte> bytes(32);
        CHECK(crc(bytes, 0) == 0x8A9136AAU);
        std::memset(bytes.data(), 0xFF, bytes.size());
        CHECK(crc(bytes, 0) == 0x62A8AB43U);
        for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(at);
        CHECK(crc(bytes, 0) == 0x46DD794EU);
    }
}

TEST_CASE("CRC-32C by instruction, by table and by definition are one function", "[crc32c]") {
    std::mt19937_64 random{20'250'101};
    for (std::size_t count = 0; count < 300; ++count) {
        auto const bytes = random_bytes(count + 7, random);
        // Every alignment of the start, so that unaligned reads are covered too.
        auto const part = std::span{bytes}.subspan(count % 8);
        auto const seed = static_cast<std::uint32_t>(random());
        CAPTURE(count, seed);
        REQUIRE(crc32c(part) == crc32c_by_definition(part));
        REQUIRE(crc32c_portable(part) == crc32c_by_definition(part));
        REQUIRE(crc32c(part, seed) == crc32c_portable(part, seed));
    }
}

TEST_CASE("CRC-32C goes on from the value of the bytes before", "[crc32c]") {
    std::mt19937_64 random{7};
    auto const bytes = random_bytes(100, random);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        auto const head = std::span{bytes}.first(cut);
        auto const tail = std::span{bytes}.subspan(cut);
        CAPTURE(cut);
        REQUIRE(crc32c(tail, crc32c(head)) == crc32c(bytes));
        REQUIRE(crc32c_portable(tail, crc32c_portable(head)) == crc32c(bytes));
    }
}
