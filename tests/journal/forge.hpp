// Forged parts of a journal: headers that say something else, with CRCs that are right.
//
// Purpose: what no crash leaves behind, but a misdirected write, a mixed-up restore or a bug of the
// writer might; a CRC does not find it.
#pragma once

#include "tests/journal/image.hpp"

#include <holdfast/base/crc32c.hpp>

namespace holdfast::journal::test {

template <class Change>
void forge_segment(MemoryDisk& disk, std::filesystem::path const& path, Change const& change) {
    auto const page = std::span{disk.bytes(path)}.first(page_bytes);
    auto header = decode_segment_header(page);
    if (!header) throw std::logic_error("no header to forge");
    change(*header);
    encode_segment_header(*header, page);
}

/// The last group of the image, also with a header that the writer would not make.
template <class Change>
void forge_last_group(Image& image, Change const& change) {
    GroupPlace const place = image.place(image.last_group);
    auto const group = std::span{image.disk->bytes(Image::segment_2)}.subspan(image.last_group);
    auto header = decode_group_header(place, group);
    if (!header) throw std::logic_error("no group to forge");
    change(*header);
    std::uint64_t words[2]{};
    std::memcpy(words, place.store_id.data(), sizeof words);
    std::uint64_t const mixed = words[0] ^ words[1] ^ place.segment ^ place.offset;
    std::memcpy(group.data(), &*header, sizeof *header);
    header->header_crc = crc32c(group.first(offsetof(GroupHeader, header_crc)),
                                static_cast<std::uint32_t>(mixed ^ (mixed >> 32U)));
    std::memcpy(group.data(), &*header, sizeof *header);
}

/// A length of its records is wrong, and its CRCs are right.
inline void misframe_last_group(Image& image) {
    GroupPlace const place = image.place(image.last_group);
    auto const group = std::span{image.disk->bytes(Image::segment_2)}.subspan(image.last_group);
    auto const header = decode_group_header(place, group);
    if (!header) throw std::logic_error("no group to forge");
    group[group_header_bytes] ^= std::byte{1};
    encode_group_header(*header, place, group.first(header->total_len));
}

}  // namespace holdfast::journal::test
