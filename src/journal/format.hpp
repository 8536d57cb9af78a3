// The journal's bytes on disk, version 1. All numbers are little endian; CRC is CRC-32C.
//
// journal/NNNNNNNNNNNNNNNN.hfj ("segment"; the name is its number, 16 digits) is zero-filled to its
// full size before use: a header page of 4096 bytes, then commit groups back to back, then zeros.
//
//   Segment header: 76 bytes, then zeros up to 4096
//    0  magic "HFJ1"        4    32  base_lsn            8   first LSN that may stand here
//    4  version 1           2    40  boot_epoch          4   +1 at each start of the server
//    6  header length 4096  2    44  prev_chain          4   chain value this segment goes on from
//    8  store_id           16    48  salt                8   random
//   24  segment number      8    56  prev_last_lsn       8   = base_lsn - 1: seals what is before
//                                64  created, wall ms    8
//                                72  CRC of the 72 bytes above  4
//
//   Commit group: 72 bytes of header, then the records, then zeros up to a multiple of 4096
//    0  magic "HFG1" xor low 32 bits of salt   4
//    4  total_len     4   header + records + padding; multiple of 4096, at most 1 MiB
//    8  payload_len   4   length of the records, at most total_len - 72
//   12  record_count  4   at most 8192; 0 in a group that only carries durable_lsn or flags
//   16  first_lsn     8
//   24  last_lsn      8   last - first + 1 = record_count
//   32  durable_lsn   8   highest LSN already synced when this group was built
//   40  boot_epoch    4   that of the segment
//   44  flags         4   1 SEAL, 2 CLEAN, 4 CHECKPOINT_HINT
//   48  wall_ms       8   never less than in the group before
//   56  prev_chain    4   chain value of the group before (of the segment header for the first)
//   60  body_crc      4   CRC of the records seeded with prev_chain; it is this group's chain value
//   64  reserved      4   0
//   68  header_crc    4   CRC of the 68 bytes above, seeded with the fold of
//                         store_id xor segment number xor offset of the group in the file
//   The fold of 64 bits is low half xor high half; store_id enters as its two 64-bit words xored.
//   Padding carries nothing and is not checked.
//
//   Record: len u16 (of the payload), type u8, version u8, payload.
//
// META.a and META.b, one 4096-byte page each, written in turn; the highest good generation counts:
//    0  magic "HFM1"        4    24  generation          8
//    4  version 1 or 2      2    32  boot_epoch          4
//    6  page length 4096    2    36  flags               4   1 CLEAN
//    8  store_id           16    40  durable_lsn         8   a lower bound of what was acknowledged
//                                48  first segment       8   older segments are not needed
//   Version 2 if the first segment is not 1: a start has to read a base file then, and a program
//   that knows no base files would sell what was sold in the segments that are gone.
//                                56  CRC of the 56 bytes above  4
#pragma once

#include <holdfast/domain/limits.hpp>
#include <holdfast/journal/journal.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::journal {

static_assert(std::endian::native == std::endian::little, "the structs below are the disk format");

inline constexpr std::size_t page_bytes = 4'096;
inline constexpr std::uint16_t format_version = 1;
inline constexpr std::uint16_t meta_version_with_base = 2;

struct SegmentHeader {
    std::uint32_t magic{};
    std::uint16_t version{format_version};
    std::uint16_t header_bytes{page_bytes};
    StoreId store_id{};
    std::uint64_t segment{};
    std::uint64_t base_lsn{};
    std::uint32_t boot_epoch{};
    std::uint32_t prev_chain{};
    std::uint64_t salt{};
    std::uint64_t prev_last_lsn{};
    std::uint64_t created_ms{};
    std::uint32_t crc{};
    std::uint32_t zero{};
    friend bool operator==(SegmentHeader const&, SegmentHeader const&) = default;
};
/// What a writer makes. The start after it has a number of its own, too.
[[nodiscard]] inline bool is_possible(SegmentHeader const& header) noexcept {
    return header.base_lsn == header.prev_last_lsn + 1 && header.header_bytes == page_bytes &&
           header.boot_epoch < std::numeric_limits<std::uint32_t>::max();
}
static_assert(sizeof(SegmentHeader) == 80);
static_assert(offsetof(SegmentHeader, store_id) == 8);
static_assert(offsetof(SegmentHeader, salt) == 48);
static_assert(offsetof(SegmentHeader, crc) == 72);

struct GroupHeader {
    std::uint32_t magic{};
    std::uint32_t total_len{};
    std::uint32_t payload_len{};
    std::uint32_t record_count{};
    std::uint64_t first_lsn{};
    std::uint64_t last_lsn{};
    std::uint64_t durable_lsn{};
    std::uint32_t boot_epoch{};
    std::uint32_t flags{};
    std::uint64_t wall_ms{};
    std::uint32_t prev_chain{};
    std::uint32_t body_crc{};
    std::uint32_t reserved{};
    std::uint32_t header_crc{};
    friend bool operator==(GroupHeader const&, GroupHeader const&) = default;
};
static_assert(sizeof(GroupHeader) == 72);
static_assert(offsetof(GroupHeader, first_lsn) == 16);
static_assert(offsetof(GroupHeader, boot_epoch) == 40);
static_assert(offsetof(GroupHeader, prev_chain) == 56);
static_assert(offsetof(GroupHeader, header_crc) == 68);

inline constexpr std::size_t group_header_bytes = sizeof(GroupHeader);
inline constexpr std::uint32_t flag_seal = 1;
inline constexpr std::uint32_t flag_clean = 2;
inline constexpr std::uint32_t flag_checkpoint_hint = 4;

struct MetaPage {
    std::uint32_t magic{};
    std::uint16_t version{format_version};
    std::uint16_t page_length{page_bytes};
    StoreId store_id{};
    std::uint64_t generation{};
    std::uint32_t boot_epoch{};
    std::uint32_t flags{};
    std::uint64_t durable_lsn{};
    std::uint64_t first_segment{1};
    std::uint32_t crc{};
    std::uint32_t zero{};
    friend bool operator==(MetaPage const&, MetaPage const&) = default;
};
static_assert(sizeof(MetaPage) == 64);
static_assert(offsetof(MetaPage, generation) == 24);
static_assert(offsetof(MetaPage, crc) == 56);
inline constexpr std::uint32_t meta_clean = 1;

/// Where a group stands. Only a group written for exactly this place passes its header check.
struct GroupPlace {
    StoreId store_id{};
    std::uint64_t segment{};
    std::uint64_t offset{};
    std::uint64_t salt{};
};

/// Bytes of a group on disk, padding included.
[[nodiscard]] constexpr std::size_t group_bytes(std::size_t payload_bytes) noexcept {
    return (group_header_bytes + payload_bytes + page_bytes - 1) / page_bytes * page_bytes;
}

/// Fill in magic and CRC and write the bytes; `page` is 4096 bytes and zero behind the header. A
/// META with a first segment after 1 gets the version that says so.
void encode_segment_header(SegmentHeader header, std::span<std::byte> page) noexcept;
void encode_meta_page(MetaPage meta, std::span<std::byte> page) noexcept;
/// `group` has the payload in place behind the header's room; total_len, payload_len, record_count,
/// LSNs, epoch, flags, wall and prev_chain are set by the caller. Gives body_crc, the new chain.
std::uint32_t encode_group_header(GroupHeader header, GroupPlace const& place,
                                  std::span<std::byte> group) noexcept;

/// Empty: not a header at all. A header with another version is returned as it is (R10).
[[nodiscard]] std::optional<SegmentHeader> decode_segment_header(
    std::span<std::byte const> page) noexcept;
[[nodiscard]] std::optional<MetaPage> decode_meta_page(std::span<std::byte const> page) noexcept;
/// Empty unless magic, CRC, lengths, count and reserved are right for this place.
[[nodiscard]] std::optional<GroupHeader> decode_group_header(
    GroupPlace const& place, std::span<std::byte const> bytes) noexcept;
[[nodiscard]] bool body_is_good(GroupHeader const& header,
                                std::span<std::byte const> payload) noexcept;

void encode_record_header(std::size_t payload_bytes, RecordType type, std::uint8_t version,
                          std::span<std::byte> bytes) noexcept;
struct RecordFrame {
    RecordType type{};
    std::uint8_t version{};
    std::span<std::byte const> payload;
};
/// Takes one record off the front of `bytes`; empty if what is there is not a whole record.
[[nodiscard]] std::optional<RecordFrame> take_record(std::span<std::byte const>& bytes) noexcept;

[[nodiscard]] std::string segment_name(std::uint64_t segment);
/// The number in a segment's name; empty for any other file.
[[nodiscard]] std::optional<std::uint64_t> segment_number(std::string_view name) noexcept;

}  // namespace holdfast::journal
