#include "journal/segment_writer.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::journal {
namespace {

std::uint64_t random_salt(Entropy& entropy) {
    std::uint64_t salt{};
    entropy.fill(std::as_writable_bytes(std::span{&salt, 1}));
    return salt;
}

}  // namespace

SegmentWriter::SegmentWriter(std::filesystem::path folder, Disk& disk, Entropy& entropy,
                             Tail const& tail, std::uint64_t segment_bytes)
    : folder_(std::move(folder)),
      disk_(disk),
      entropy_(entropy),
      segment_bytes_(segment_bytes),
      store_id_(tail.store_id),
      boot_epoch_(tail.boot_epoch + 1),
      segment_(tail.last_segment),
      offset_(segment_bytes),
      last_lsn_(tail.last_lsn.value()),
      wall_ms_(static_cast<std::uint64_t>(
          std::max<std::int64_t>(tail.last_wall.time_since_epoch().count(), 0))),
      chain_(tail.chain),
      page_(page_bytes) {}

std::uint64_t SegmentWriter::wall_ms(TimePoint now) noexcept {
    auto const ms = std::max<std::int64_t>(now.time_since_epoch().count(), 0);
    wall_ms_ = std::max(wall_ms_, static_cast<std::uint64_t>(ms));
    return wall_ms_;
}

std::error_code SegmentWriter::begin(Spare spare, TimePoint now) {
    SegmentHeader header;
    header.store_id = store_id_;
    header.segment = segment_ + 1;
    header.base_lsn = last_lsn_ + 1;
    header.boot_epoch = boot_epoch_;
    header.prev_chain = chain_;
    header.salt = random_salt(entropy_);
    header.prev_last_lsn = last_lsn_;
    header.created_ms = wall_ms(now);
    HOLDFAST_ASSERT(spare.number == header.segment);
    std::ranges::fill(page_.span(), std::byte{});
    encode_segment_header(header, page_.span());
    if (auto const error = spare.file->write_at(0, page_.span())) return error;
    if (auto const error = spare.file->sync_data()) return error;
    // Only a whole, synced header gets a segment's name, so that a crash leaves no half segment.
    if (auto const error = disk_.rename(spare.path, spare.segment)) return error;
    if (auto const error = disk_.sync_folder(folder_)) return error;
    file_ = std::move(spare.file);
    segment_ = header.segment;
    salt_ = header.salt;
    offset_ = page_bytes;
    return {};
}

bool SegmentWriter::has_room(std::size_t payload_bytes) const noexcept {
    return offset_ + group_bytes(payload_bytes) <= segment_bytes_;
}

std::error_code SegmentWriter::write(Group const& group, TimePoint now) {
    HOLDFAST_ASSERT(has_room(group.payload_bytes));
    HOLDFAST_ASSERT(group.bytes.size() == group_bytes(group.payload_bytes));
    HOLDFAST_ASSERT(group.durable_lsn <= last_lsn_);
    GroupHeader header;
    header.total_len = static_cast<std::uint32_t>(group.bytes.size());
    header.payload_len = static_cast<std::uint32_t>(group.payload_bytes);
    header.record_count = group.record_count;
    header.first_lsn = last_lsn_ + 1;
    header.last_lsn = last_lsn_ + group.record_count;
    header.durable_lsn = group.durable_lsn;
    header.boot_epoch = boot_epoch_;
    header.flags = group.flags;
    header.wall_ms = wall_ms(now);
    header.prev_chain = chain_;
    GroupPlace const place{store_id_, segment_, offset_, salt_};
    std::uint32_t const chain = encode_group_header(header, place, group.bytes);
    // Read back what goes to disk: a fault of the memory under it must stop us before the write.
    auto const written = decode_group_header(place, group.bytes);
    HOLDFAST_ASSERT(written.has_value());
    HOLDFAST_ASSERT(
        body_is_good(*written, group.bytes.subspan(group_header_bytes, group.payload_bytes)));
    if (auto const error = file_->write_at(offset_, group.bytes)) return error;
    offset_ += group.bytes.size();
    last_lsn_ = header.last_lsn;
    chain_ = chain;
    return {};
}

}  // namespace holdfast::journal
