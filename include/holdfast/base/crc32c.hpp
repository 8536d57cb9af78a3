// CRC-32C (Castagnoli, polynomial 0x1EDC6F41 reflected), as in RFC 3720 appendix B.4.
//
// Purpose: the check of every journal header, group and META page.
// Thread safety: pure functions.
// Cost: SSE4.2 where the processor has it (chosen once at start), else a table; both give the same
//   value. Test vector: crc32c("123456789") == 0xE3069283.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast {

/// CRC of `bytes` going on from `seed`: crc32c(a + b) == crc32c(b, crc32c(a)).
[[nodiscard]] std::uint32_t crc32c(std::span<std::byte const> bytes,
                                   std::uint32_t seed = 0) noexcept;
/// The table version, for the test that compares the two.
[[nodiscard]] std::uint32_t crc32c_portable(std::span<std::byte const> bytes,
                                            std::uint32_t seed = 0) noexcept;

}  // namespace holdfast
