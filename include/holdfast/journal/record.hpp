// A journal record: `len u16 . type u8 . ver u8 . payload`, little endian.
//
// Purpose: the unit of meaning. One action is one record and is never split. len counts the
//   payload. There is no checksum per record: the commit group around it has one
//   (journal/format.hpp).
// Thread safety: values.
#pragma once

#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/limits.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast::journal {

/// Numbers are part of the file format: add, never reuse.
enum class RecordType : std::uint8_t {
    claim = 1,
    edit = 2,
    end = 3,
    order = 4,
    cancel = 5,
    refund = 6,
    credit = 7,
    debit = 8,
    reservation = 9,
    queue = 10,
    outbox_done = 11,
    event = 12,
    clock = 13,
    seal = 14,
    mark = 0x81,  // may be skipped: it has the bit below
};
/// Set on a type that an older program may skip; every other unknown type stops the start.
inline constexpr std::uint8_t ignorable_type_bit = 0x80;

inline constexpr std::size_t record_header_bytes = 4;
inline constexpr std::size_t payload_bytes_max = limits::record_bytes_max - record_header_bytes;

struct RecordView {
    Lsn lsn{};
    RecordType type{};
    std::uint8_t version{};
    std::span<std::byte const> payload;
};

using StoreId = std::array<std::uint8_t, 16>;

/// Where a segment goes on from.
struct SegmentStart {
    StoreId store_id{};
    std::uint64_t segment{};
    Lsn before{};           // the last record before it
    std::uint32_t chain{};  // the chain value it goes on from
};

/// Takes records in LSN order.
class RecordSink {
public:
    virtual ~RecordSink() = default;
    /// Before the first record, if older segments were deleted: what they said must be known from
    /// the base file of this one (journal/base_file.hpp). Only recover() says so. False stops it,
    /// as every sink does that has not thought of it.
    virtual bool begin(SegmentStart const&) { return false; }
    /// False stops the reading; the sink keeps its own reason.
    virtual bool record(RecordView const& record) = 0;
};

}  // namespace holdfast::journal
