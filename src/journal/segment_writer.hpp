// SegmentWriter: writes groups to the live segment, one behind the other, and begins new segments.
//
// Thread safety: the journal thread (and open(), before it starts).
// Invariants: a page is written once; a group never follows one that was not written whole; the
//   header of a segment seals what is before it and is on disk before its first group. Once it is
//   made it needs no memory: what is acknowledged must not wait for any.
#pragma once

#include "journal/aligned_bytes.hpp"
#include "journal/format.hpp"
#include "journal/spare.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>

namespace holdfast::journal {

class SegmentWriter {
public:
    SegmentWriter(std::filesystem::path folder, Disk& disk, Entropy& entropy, Tail const& tail,
                  std::uint64_t segment_bytes);

    /// Turns `spare`, made for it, into the next segment: header, sync, rename, sync of the folder.
    [[nodiscard]] std::error_code begin(Spare spare, TimePoint now);
    [[nodiscard]] bool has_room(std::size_t payload_bytes) const noexcept;

    struct Group {
        std::span<std::byte> bytes;  // header's room, records, padding
        std::size_t payload_bytes{};
        std::uint32_t record_count{};
        std::uint32_t flags{};
        std::uint64_t durable_lsn{};
    };
    [[nodiscard]] std::error_code write(Group const& group, TimePoint now);
    [[nodiscard]] std::error_code sync() { return file_->sync_data(); }

    [[nodiscard]] std::uint64_t segment() const noexcept { return segment_; }
    [[nodiscard]] std::uint64_t last_lsn() const noexcept { return last_lsn_; }
    [[nodiscard]] std::uint64_t bytes_left() const noexcept { return segment_bytes_ - offset_; }

private:
    [[nodiscard]] std::uint64_t wall_ms(TimePoint now) noexcept;

    std::filesystem::path folder_;
    Disk& disk_;
    Entropy& entropy_;
    std::uint64_t const segment_bytes_;
    StoreId const store_id_;
    std::uint32_t const boot_epoch_;
    std::unique_ptr<File> file_;
    std::uint64_t segment_;
    std::uint64_t offset_;
    std::uint64_t salt_{0};
    std::uint64_t last_lsn_;
    std::uint64_t wall_ms_;
    std::uint32_t chain_;
    AlignedBytes page_;  // of a header, kept so that a change of segments needs no memory
};

}  // namespace holdfast::journal
