#include <holdfast/base/crc32c.hpp>

#include <array>
#include <cstring>
#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace holdfast {
namespace {

constexpr std::uint32_t polynomial_reflected = 0x82F63B78;

// tables[0] advances the CRC by one byte; tables[k] does so with k zero bytes behind it, so that
// eight look-ups take in eight bytes at once.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc & 1U) != 0 ? (crc >> 1U) ^ polynomial_reflected : crc >> 1U;
        }
        tables[0][byte] = crc;
    }
    for (std::size_t k = 1; k < tables.size(); ++k) {
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            std::uint32_t const before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
        }
    }
    return tables;
}

constexpr Tables tables = make_tables();

std::uint32_t byte_at(std::span<std::byte const> bytes, std::size_t at) noexcept {
    return std::to_integer<std::uint32_t>(bytes[at]);
}

#if defined(__SSE4_2__)
std::uint32_t crc32c_sse42(std::span<std::byte const> bytes, std::uint32_t seed) noexcept {
    std::uint64_t crc = ~seed;
    while (bytes.size() >= 8) {
        std::uint64_t word{};
        std::memcpy(&word, bytes.data(), sizeof word);
        crc = _mm_crc32_u64(crc, word);
        bytes = bytes.subspan(8);
    }
    auto rest = static_cast<std::uint32_t>(crc);
    for (std::byte const byte : bytes) {
        rest = _mm_crc32_u8(rest, std::to_integer<std::uint8_t>(byte));
    }
    return ~rest;
}
#endif

bool processor_has_sse42() noexcept {
#if defined(__SSE4_2__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2") != 0;
#else
    return false;
#endif
}

// Before this is set, during static initialization, the table serves; the values are the same.
bool const has_sse42 = processor_has_sse42();

}  // namespace

std::uint32_t crc32c(std::span<std::byte const> bytes, std::uint32_t seed) noexcept {
#if defined(__SSE4_2__)
    if (has_sse42) return crc32c_sse42(bytes, seed);
#endif
    return crc32c_portable(bytes, seed);
}

std::uint32_t crc32c_portable(std::span<std::byte const> bytes, std::uint32_t seed) noexcept {
    std::uint32_t crc = ~seed;
    while (bytes.size() >= 8) {
        std::uint32_t const low = crc ^ (byte_at(bytes, 0) | byte_at(bytes, 1) << 8U |
                                         byte_at(bytes, 2) << 16U | byte_at(bytes, 3) << 24U);
        crc = tables[7][low & 0xFFU] ^ tables[6][(low >> 8U) & 0xFFU] ^
              tables[5][(low >> 16U) & 0xFFU] ^ tables[4][low >> 24U] ^
              tables[3][byte_at(bytes, 4)] ^ tables[2][byte_at(bytes, 5)] ^
              tables[1][byte_at(bytes, 6)] ^ tables[0][byte_at(bytes, 7)];
        bytes = bytes.subspan(8);
    }
    for (std::byte const byte : bytes) {
        crc = (crc >> 8U) ^ tables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
    }
    return ~crc;
}

}  // namespace holdfast
