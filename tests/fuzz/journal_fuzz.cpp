// Fuzzes recovery: the input is the last segment of a small journal, byte for byte.
//
// Whatever stands in it, the start is refused or goes well; what was acknowledged before it comes
// back unchanged; the same start again says the same; and a journal that was opened on it keeps
// the next record. Most mutations mend the CRCs, so that they get behind them.
#include "journal/journal_core.hpp"
#include "tests/journal/image.hpp"

#include <algorithm>
#include <cstring>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

constexpr std::size_t input_bytes_max = std::size_t{64} << 10;

/// Segment 1 holds LSN 1 to 5, all of them acknowledged; the salts are not random.
struct FixedEntropy final : Entropy {
    void fill(std::span<std::byte> bytes) noexcept override {
        std::fill(bytes.begin(), bytes.end(), std::byte{0x5A});
    }
};

Image& image() {
    static Image& made = *new Image(5);
    return made;
}

void require(bool good, char const* what) {
    if (good) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

/// Gives every group that looks like one the CRCs and the chain that it would have.
void mend(std::span<std::byte> segment, bool chain_too) {
    if (segment.size() < 2 * page_bytes) return;
    SegmentHeader header;
    std::memcpy(&header, segment.data(), sizeof header);
    encode_segment_header(header, segment.first(page_bytes));
    std::uint32_t chain = header.prev_chain;
    for (std::size_t at = page_bytes; at + page_bytes <= segment.size(); at += page_bytes) {
        auto const group = segment.subspan(at);
        GroupHeader found;
        std::memcpy(&found, group.data(), sizeof found);
        bool const fits = found.total_len >= page_bytes && found.total_len % page_bytes == 0 &&
                          found.total_len <= group.size() &&
                          found.payload_len <= found.total_len - group_header_bytes &&
                          found.record_count <= limits::group_records_max &&
                          found.last_lsn - found.first_lsn + 1 == found.record_count &&
                          (found.record_count == 0) == (found.payload_len == 0);
        if (!fits) continue;
        if (chain_too) found.prev_chain = chain;
        chain = encode_group_header(found, {header.store_id, header.segment, at, header.salt},
                                    group.first(found.total_len));
    }
}

struct Outcome {
    int exit_code{};
    Recovered recovered;
    std::vector<Record> records;
};
Outcome start(Disk& disk) {
    CollectingSink sink;
    FixedEntropy entropy;
    auto const result = recover(Image::data, disk, {}, sink, entropy);
    if (!result) return {result.error().exit_code, {}, sink.records};
    return {0, *result, sink.records};
}

void go_on(MemoryDisk& disk, Outcome const& before) {
    FixedEntropy entropy;
    Options options = small_options(Image::data);
    options.entropy = &entropy;
    CountingListener listener;
    StillClock clock;
    JournalCore core{options, disk, clock, before.recovered.tail, listener, [] {}};
    require(!core.prepare(before.recovered.tail),
            "a journal cannot be opened on what was recovered");
    require(core.reserve(100), "there is no room for a record");
    core.append(RecordType::claim, 1, bytes_of("the next one"));
    require(core.write_next(), "the next record is not written");
    Outcome const after = start(disk);
    require(after.exit_code == 0, "the next start is refused");
    require(after.records.size() == before.records.size() + 1, "the next record is lost");
    require(std::equal(before.records.begin(), before.records.end(), after.records.begin()),
            "old records have changed");
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
    if (size < 2 * page_bytes) {
        Bytes const& whole = image().disk->bytes(Image::segment_2);
        size = std::min(whole.size(), max);
        std::memcpy(data, whole.data(), size);
    }
    size = LLVMFuzzerMutate(data, size, max);
    if (seed % 4 != 0) mend(std::as_writable_bytes(std::span{data, size}), seed % 8 < 6);
    return size;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size > input_bytes_max) return 0;
    auto const disk = image().disk->copy();
    auto const bytes = std::as_bytes(std::span{data, size});
    disk->bytes(Image::segment_2).assign(bytes.begin(), bytes.end());
    Outcome const first = start(*disk);
    if (first.exit_code != 0) {
        require(first.exit_code == 77 || first.exit_code == 78, "an exit code of no row");
        return 0;
    }
    require(are_first({first.records.begin(), first.records.begin() + 5}, image().records, 5),
            "an acknowledged record has changed");
    require(first.recovered.tail.last_lsn.value() == first.records.size(), "LSNs are not dense");
    Outcome const again = start(*disk);
    require(again.exit_code == 0 && again.records == first.records, "the second start differs");
    go_on(*disk, first);
    return 0;
}
