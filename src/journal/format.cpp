#include "journal/format.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/base/crc32c.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace holdfast::journal {
namespace {

constexpr std::uint32_t magic_of(char const (&text)[5]) noexcept {
    std::uint32_t magic = 0;
    for (unsigned at = 0; at < 4; ++at) {
        magic |= std::uint32_t{static_cast<unsigned char>(text[at])} << (8 * at);
    }
    return magic;
}

constexpr std::uint32_t segment_magic = magic_of("HFJ1");
constexpr std::uint32_t group_magic = magic_of("HFG1");
constexpr std::uint32_t meta_magic = magic_of("HFM1");
constexpr std::size_t segment_crc_at = offsetof(SegmentHeader, crc);
constexpr std::size_t group_crc_at = offsetof(GroupHeader, header_crc);
constexpr std::size_t meta_crc_at = offsetof(MetaPage, crc);
constexpr std::size_t name_digits = 16;
constexpr std::string_view name_ending = ".hfj";

template <class T>
std::span<std::byte const> first_bytes(T const& value, std::size_t count) noexcept {
    return std::as_bytes(std::span{&value, 1}).first(count);
}

std::uint32_t seed_of(GroupPlace const& place) noexcept {
    std::uint64_t words[2]{};
    std::memcpy(words, place.store_id.data(), sizeof words);
    std::uint64_t const mixed = words[0] ^ words[1] ^ place.segment ^ place.offset;
    return static_cast<std::uint32_t>(mixed) ^ static_cast<std::uint32_t>(mixed >> 32U);
}

std::uint32_t magic_for(std::uint64_t salt) noexcept {
    return group_magic ^ static_cast<std::uint32_t>(salt);
}

// Every field is checked although the CRC was right: a bug of the writer must not pass for data.
bool shape_is_good(GroupHeader const& header) noexcept {
    return header.reserved == 0 && header.total_len % page_bytes == 0 &&
           header.total_len >= page_bytes && header.total_len <= limits::group_bytes_max &&
           header.payload_len <= header.total_len - group_header_bytes &&
           header.record_count <= limits::group_records_max &&
           header.last_lsn - header.first_lsn + 1 == header.record_count &&
           (header.record_count == 0) == (header.payload_len == 0);
}

}  // namespace

void encode_segment_header(SegmentHeader header, std::span<std::byte> page) noexcept {
    HOLDFAST_ASSERT(page.size() == page_bytes);
    header.magic = segment_magic;
    header.crc = crc32c(first_bytes(header, segment_crc_at));
    std::memset(page.data(), 0, page.size());
    std::memcpy(page.data(), &header, sizeof header);
}

void encode_meta_page(MetaPage meta, std::span<std::byte> page) noexcept {
    HOLDFAST_ASSERT(page.size() == page_bytes);
    meta.magic = meta_magic;
    if (meta.first_segment > 1) meta.version = std::max(meta.version, meta_version_with_base);
    meta.crc = crc32c(first_bytes(meta, meta_crc_at));
    std::memset(page.data(), 0, page.size());
    std::memcpy(page.data(), &meta, sizeof meta);
}

std::uint32_t encode_group_header(GroupHeader header, GroupPlace const& place,
                                  std::span<std::byte> group) noexcept {
    HOLDFAST_ASSERT(group.size() == header.total_len);
    header.magic = magic_for(place.salt);
    header.body_crc =
        crc32c(group.subspan(group_header_bytes, header.payload_len), header.prev_chain);
    header.reserved = 0;
    header.header_crc = crc32c(first_bytes(header, group_crc_at), seed_of(place));
    HOLDFAST_ASSERT(shape_is_good(header));
    std::memcpy(group.data(), &header, sizeof header);
    return header.body_crc;
}

std::optional<SegmentHeader> decode_segment_header(std::span<std::byte const> page) noexcept {
    SegmentHeader header;
    if (page.size() < page_bytes) return {};
    std::memcpy(&header, page.data(), sizeof header);
    if (header.magic != segment_magic) return {};
    if (header.crc != crc32c(first_bytes(header, segment_crc_at))) return {};
    return header;
}

std::optional<MetaPage> decode_meta_page(std::span<std::byte const> page) noexcept {
    MetaPage meta;
    if (page.size() < page_bytes) return {};
    std::memcpy(&meta, page.data(), sizeof meta);
    if (meta.magic != meta_magic) return {};
    if (meta.crc != crc32c(first_bytes(meta, meta_crc_at))) return {};
    return meta;
}

std::optional<GroupHeader> decode_group_header(GroupPlace const& place,
                                               std::span<std::byte const> bytes) noexcept {
    GroupHeader header;
    if (bytes.size() < sizeof header) return {};
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != magic_for(place.salt)) return {};
    if (header.header_crc != crc32c(first_bytes(header, group_crc_at), seed_of(place))) return {};
    if (!shape_is_good(header)) return {};
    return header;
}

bool body_is_good(GroupHeader const& header, std::span<std::byte const> payload) noexcept {
    return payload.size() == header.payload_len &&
           crc32c(payload, header.prev_chain) == header.body_crc;
}

void encode_record_header(std::size_t payload_bytes, RecordType type, std::uint8_t version,
                          std::span<std::byte> bytes) noexcept {
    bytes[0] = static_cast<std::byte>(payload_bytes & 0xFFU);
    bytes[1] = static_cast<std::byte>(payload_bytes >> 8U);
    bytes[2] = static_cast<std::byte>(type);
    bytes[3] = static_cast<std::byte>(version);
}

std::optional<RecordFrame> take_record(std::span<std::byte const>& bytes) noexcept {
    if (bytes.size() < record_header_bytes) return {};
    std::size_t const length =
        std::to_integer<std::size_t>(bytes[0]) | std::to_integer<std::size_t>(bytes[1]) << 8U;
    if (bytes.size() - record_header_bytes < length) return {};
    RecordFrame const frame{static_cast<RecordType>(bytes[2]),
                            std::to_integer<std::uint8_t>(bytes[3]),
                            bytes.subspan(record_header_bytes, length)};
    bytes = bytes.subspan(record_header_bytes + length);
    return frame;
}

std::string segment_name(std::uint64_t segment) {
    std::string const digits = std::to_string(segment);
    HOLDFAST_ASSERT(digits.size() <= name_digits);
    return std::string(name_digits - digits.size(), '0').append(digits).append(name_ending);
}

std::optional<std::uint64_t> segment_number(std::string_view name) noexcept {
    if (name.size() != name_digits + name_ending.size()) return {};
    if (name.substr(name_digits) != name_ending) return {};
    std::uint64_t number{};
    auto const [end, error] = std::from_chars(name.data(), name.data() + name_digits, number);
    if (error != std::errc{} || end != name.data() + name_digits) return {};
    return number;
}

}  // namespace holdfast::journal
