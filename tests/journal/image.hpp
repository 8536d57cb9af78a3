// Image: a small journal on a MemoryDisk whose every byte is known, for tests that damage it.
//
// segment 1: LSN 1-3, 4-5; segment 2: LSN 6-8, 9-10. The last group spans three pages.
#pragma once

#include "journal/aligned_bytes.hpp"
#include "journal/meta.hpp"
#include "journal/segment_writer.hpp"
#include "journal/spare.hpp"
#include "tests/journal/fixture.hpp"

#include <stdexcept>

namespace holdfast::journal::test {

class Image {
public:
    static constexpr std::uint64_t segment_bytes = 32U << 10;
    inline static std::filesystem::path const data{"data"};
    inline static std::filesystem::path const segment_1{"data/journal/0000000000000001.hfj"};
    inline static std::filesystem::path const segment_2{"data/journal/0000000000000002.hfj"};

    /// META says that everything up to `watermark` was acknowledged.
    explicit Image(std::uint64_t watermark) : disk(std::make_unique<MemoryDisk>()) {
        Tail tail;
        tail.store_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
        meta.store_id = tail.store_id;
        SegmentWriter writer{data / "journal", *disk, system_entropy(), tail, segment_bytes};
        store_meta(0, 0);
        begin(writer);
        store_meta(1, 0);
        write(writer, {20, 600, 0}, 0);
        write(writer, {5, 4'500}, 3);
        begin(writer);
        write(writer, {1, 2, 300}, 5);
        last_group = segment_bytes - writer.bytes_left();
        write(writer, {7'000, 1'500}, 8);
        end = segment_bytes - writer.bytes_left();
        if (watermark != 0) store_meta(1, watermark);
    }
    /// An idle group or a seal behind the last records.
    static Image with_empty_group(std::uint32_t flags, std::uint64_t watermark) {
        Image image{0};
        AlignedBytes const group{page_bytes};
        GroupHeader header;
        header.total_len = page_bytes;
        header.first_lsn = 11;
        header.last_lsn = 10;
        header.durable_lsn = 10;
        header.boot_epoch = 1;
        header.flags = flags;
        header.wall_ms = 1'700'000'000'000;
        Bytes& bytes = image.disk->bytes(segment_2);
        auto const segment = decode_segment_header(std::span{bytes}.first(page_bytes));
        auto const place = image.place(image.last_group);
        auto const last = decode_group_header(place, std::span{bytes}.subspan(image.last_group));
        if (!segment || !last) throw std::logic_error("the image is bad");
        header.prev_chain = last->body_crc;
        encode_group_header(header, image.place(image.end), group.span());
        std::copy(group.span().begin(), group.span().end(),
                  bytes.begin() + static_cast<long>(image.end));
        image.end += page_bytes;
        if (watermark != 0) image.store_meta(1, watermark);
        return image;
    }

    [[nodiscard]] GroupPlace place(std::uint64_t offset) {
        auto const segment =
            decode_segment_header(std::span{disk->bytes(segment_2)}.first(page_bytes));
        if (!segment) throw std::logic_error("the image is bad");
        return {meta.store_id, 2, offset, segment->salt};
    }
    void store_meta(std::uint32_t boot_epoch, std::uint64_t durable) {
        Meta pages{data, *disk};
        if (pages.load()) throw std::logic_error("META cannot be read");
        meta.boot_epoch = boot_epoch;
        meta.durable_lsn = durable;
        if (pages.store(meta)) throw std::logic_error("META cannot be written");
    }

    std::unique_ptr<MemoryDisk> disk;
    MetaPage meta;
    std::vector<Record> records;
    std::uint64_t last_group{};  // offset of the last group with records, in segment 2
    std::uint64_t end{};         // of the last group, in segment 2

private:
    void begin(SegmentWriter& writer) {
        Spare spare;
        SparePlan const plan{data / "journal" / "next-1.tmp", writer.segment() + 1, segment_bytes,
                             Syncs::once};
        if (make_spare(*disk, plan, spare) ||
            writer.begin(std::move(spare), TimePoint{Milliseconds{1'700'000'000'000}})) {
            throw std::logic_error("no segment");
        }
    }
    void write(SegmentWriter& writer, std::vector<std::size_t> const& sizes,
               std::uint64_t durable) {
        Bytes payload;
        for (std::size_t const size : sizes) {
            std::string text(size, '\0');
            for (char& each : text) each = static_cast<char>('a' + records.size());
            Bytes bytes(record_header_bytes);
            encode_record_header(size, RecordType::order, 3, bytes);
            payload.insert(payload.end(), bytes.begin(), bytes.end());
            auto const view = bytes_of(text);
            payload.insert(payload.end(), view.begin(), view.end());
            records.push_back({records.size() + 1, RecordType::order, 3, std::move(text)});
        }
        AlignedBytes const group{group_bytes(payload.size())};
        std::copy(payload.begin(), payload.end(), group.span().begin() + group_header_bytes);
        auto const count = static_cast<std::uint32_t>(sizes.size());
        if (writer.write({group.span(), payload.size(), count, 0, durable},
                         TimePoint{Milliseconds{1'700'000'000'000}})) {
            throw std::logic_error("no write");
        }
    }
};

/// The records are the first `count` of the image's.
inline bool are_first(std::vector<Record> const& found, std::vector<Record> const& all,
                      std::size_t count) {
    return found.size() == count && count <= all.size() &&
           std::equal(found.begin(), found.end(), all.begin());
}

}  // namespace holdfast::journal::test
