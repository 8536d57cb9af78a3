// Fuzzes base files: the input is one, byte for byte.
//
// Whatever stands in it, it is read or refused, and what is read is a state of a replay or refused
// as none; a state that is one is saved as the same bytes, and no place has two owners in it. Most
// mutations mend the CRCs, so that they get behind them.
#include "engine/mark_bytes.hpp"
#include "tests/journal/fixture.hpp"

#include <holdfast/base/crc32c.hpp>
#include <holdfast/engine/facts.hpp>
#include <holdfast/engine/replay.hpp>
#include <holdfast/journal/base_file.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

namespace {

using namespace holdfast;
using namespace holdfast::engine;
using journal::test::Bytes;
using journal::test::MemoryDisk;

constexpr std::size_t page_bytes = 4'096;
constexpr std::size_t state_bytes_at = 40;
constexpr std::size_t state_crc_at = 52;
constexpr std::size_t header_crc_at = 56;
constexpr EventId event{1};
journal::SegmentStart const start{{1, 2, 3}, 7, Lsn{99}, 0x1234};
std::filesystem::path const path = "data/journal/0000000000000007.hfb";

std::map<EventId, std::uint32_t> places() {
    return {{event, 64}, {EventId{2}, 3}};
}

void require(bool good, char const* what) {
    if (good) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

/// A base file of a few holds, to begin with.
Bytes sample() {
    Replay replay(places());
    for (std::uint32_t slot = 1; slot <= 3; ++slot) {
        ClaimFact claim{{event, HoldRef{std::uint64_t{slot}, SlotIndex{slot}}}, 5, {}, {}, {}};
        claim.seats = {SeatIndex{2 * slot}, SeatIndex{2 * slot + 1}};
        FactWriter mark;
        write_mark(mark, {{{slot, 1}, {2, 3}}, {}, TimePoint{Milliseconds{9'000}}, {}});
        auto const mark_bytes = std::move(mark).take();
        if (slot > 1) claim.mark = mark_bytes;
        auto const payload = encode(claim);
        require(replay.record({Lsn{slot}, journal::RecordType::claim, fact_version, payload}),
                "a claim of the sample");
    }
    MemoryDisk disk;
    require(!journal::write_base("data", disk, start, replay.save()), "the sample is not written");
    return disk.bytes(path);
}

template <class T>
void put(std::span<std::byte> bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

void mend(std::span<std::byte> file) {
    if (file.size() < page_bytes) return;
    put(file, state_bytes_at, std::uint64_t{file.size() - page_bytes});
    put(file, state_crc_at, crc32c(file.subspan(page_bytes)));
    put(file, header_crc_at, crc32c(file.first(header_crc_at)));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
    if (size < page_bytes) {
        static Bytes const& whole = *new Bytes(sample());
        size = std::min(whole.size(), max);
        std::memcpy(data, whole.data(), size);
    }
    // The header page hides the state from mutations of the whole.
    bool const state_only = seed % 8 != 0 && size > page_bytes;
    std::size_t const from = state_only ? page_bytes : 0;
    size = from + LLVMFuzzerMutate(data + from, size - from, max - from);
    if (seed % 8 != 1) mend(std::as_writable_bytes(std::span{data, size}));
    return size;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    MemoryDisk disk;
    auto const bytes = std::as_bytes(std::span{data, size});
    disk.put(path, Bytes(bytes.begin(), bytes.end()));
    auto const state = journal::read_base("data", disk, start);
    if (!state) {
        int const code = state.error().exit_code;
        require(code == 77 || code == 78, "an exit code of no row");
        return 0;
    }
    Replay replay(places());
    if (!replay.load(*state)) {
        require(!replay.breach().empty(), "a refused state without a breach");
        return 0;
    }
    auto const saved = replay.save();
    Replay again(places());
    require(again.load(saved), "a state that was read cannot be read again");
    require(again.save() == saved, "a state is saved otherwise the second time");
    for (auto const& [id, restored] : replay.take()) {
        std::vector<SeatIndex> taken;
        for (RestoredHold const& hold : restored.holds)
            taken.insert(taken.end(), hold.seats.begin(), hold.seats.end());
        std::sort(taken.begin(), taken.end());
        require(std::adjacent_find(taken.begin(), taken.end()) == taken.end(),
                "a place has two owners");
    }
    return 0;
}
