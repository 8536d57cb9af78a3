#include "journal/group_reader.hpp"

#include <cstring>

namespace holdfast::journal {
namespace {

bool follows(GroupHeader const& header, SegmentHeader const& segment,
             Cursor const& cursor) noexcept {
    return header.boot_epoch == segment.boot_epoch && header.first_lsn == cursor.lsn + 1 &&
           header.prev_chain == cursor.chain;
}

GroupPlace place_of(SegmentHeader const& segment, std::uint64_t offset) noexcept {
    return {segment.store_id, segment.segment, offset, segment.salt};
}

bool is_well_framed(Group const& group) noexcept {
    std::span<std::byte const> rest = group.payload;
    for (std::uint32_t at = 0; at < group.header.record_count; ++at) {
        if (!take_record(rest)) return false;
    }
    return rest.empty();
}

}  // namespace

bool is_zero(std::span<std::byte const> bytes) noexcept {
    // Every byte equals its neighbour, and the first one is zero.
    return bytes.empty() || (bytes[0] == std::byte{0} &&
                             std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

std::error_code GroupReader::read(File& file, SegmentHeader const& segment, Cursor const& cursor,
                                  std::optional<Group>& group) {
    group.reset();
    std::size_t got{};
    std::span<std::byte> const first = buffer_.span().first(page_bytes);
    if (auto const error = file.read_at(cursor.offset, first, got)) return error;
    auto const header = decode_group_header(place_of(segment, cursor.offset), first.first(got));
    if (!header || !follows(*header, segment, cursor)) return {};
    if (header->total_len > buffer_.span().size()) buffer_ = AlignedBytes{header->total_len};
    std::span<std::byte> const whole = buffer_.span().first(header->total_len);
    if (auto const error = file.read_at(cursor.offset, whole, got)) return error;
    if (got < header->total_len) return {};
    // The header is taken from the second read too, or a page that changes between the two could
    // pass. It may, for TailReader, only if the group is not durable yet.
    auto const again = decode_group_header(place_of(segment, cursor.offset), whole);
    if (again != header) return {};
    auto const payload = whole.subspan(group_header_bytes, header->payload_len);
    if (!body_is_good(*header, payload)) return {};
    group = Group{*header, payload};
    return {};
}

std::error_code GroupReader::look(File& file, SegmentHeader const& segment, std::uint64_t offset,
                                  Page& page) {
    std::size_t got{};
    std::span<std::byte> const bytes = buffer_.span().first(page_bytes);
    if (auto const error = file.read_at(offset, bytes, got)) return error;
    page = {};
    page.is_end = got == 0;
    page.is_zero = is_zero(bytes.first(got));
    if (page.is_zero) return {};
    page.header = decode_group_header(place_of(segment, offset), bytes.first(got));
    if (page.header && page.header->boot_epoch != segment.boot_epoch) page.header.reset();
    return {};
}

void pass(Cursor& cursor, GroupHeader const& header) noexcept {
    cursor.lsn = header.last_lsn;
    cursor.chain = header.body_crc;
    cursor.offset += header.total_len;
}

Delivery deliver(Group const& group, std::uint64_t after, std::uint64_t until, RecordSink& sink) {
    if (!is_well_framed(group)) return Delivery::bad_framing;
    std::span<std::byte const> rest = group.payload;
    for (std::uint64_t lsn = group.header.first_lsn; lsn <= group.header.last_lsn; ++lsn) {
        auto const frame = take_record(rest);
        if (lsn <= after || lsn > until) continue;
        if (!sink.record({Lsn{lsn}, frame->type, frame->version, frame->payload})) {
            return Delivery::stopped_by_sink;
        }
    }
    return Delivery::done;
}

}  // namespace holdfast::journal
