// Fuzzes the record decoders and the replay: the input is a run of records as a group holds them.
//
// Each is decoded as every kind of fact there is, and what can be encoded again must give the same
// bytes; all of them together are replayed until one of them breaks an invariant.
#include "engine/mark_bytes.hpp"
#include "journal/format.hpp"

#include <holdfast/engine/replay.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

namespace {

using namespace holdfast;
using namespace holdfast::engine;
using Bytes = std::vector<std::byte>;

constexpr EventId event{1};

void require(bool good, char const* what) {
    if (good) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

template <class Fact>
void check_same(std::optional<Fact> const& fact, std::span<std::byte const> payload) {
    if (!fact) return;
    Bytes const again = encode(*fact);
    // A mark of no bytes may follow, which is as good as none.
    require(again.size() <= payload.size(), "a fact takes more bytes than it was read from");
    require(std::equal(again.begin(), again.end(), payload.begin()), "a fact is encoded otherwise");
}

void decode_as_everything(std::span<std::byte const> payload) {
    check_same(decode_claim(payload), payload);
    check_same(decode_end(payload), payload);
    static_cast<void>(edit_kind_of(payload));
    check_same(decode_edit(payload), payload);
    check_same(decode_exchange(payload), payload);
    check_same(decode_reseat(payload), payload);
    check_same(decode_refund(payload), payload);
    check_same(decode_order(payload), payload);
    check_same(decode_cancel(payload), payload);
    check_same(decode_event(payload), payload);
    check_same(decode_clock(payload), payload);
}

void add(Bytes& run, journal::RecordType type, std::span<std::byte const> payload) {
    Bytes header(journal::record_header_bytes);
    journal::encode_record_header(payload.size(), type, fact_version, header);
    run.insert(run.end(), header.begin(), header.end());
    run.insert(run.end(), payload.begin(), payload.end());
}

Bytes mark_bytes(std::span<std::byte const> answer) {
    FactWriter writer;
    write_mark(writer, {{{1, answer.size()}, {2, 3}}, {}, TimePoint{Milliseconds{9'000}}, answer});
    return std::move(writer).take();
}

/// A life of a few holds, to begin with.
Bytes sample() {
    Bytes run;
    HoldKey const hold{event, HoldRef{std::uint64_t{1}, SlotIndex{1}}};
    add(run, journal::RecordType::event, encode(EventFact{event, LifeStep::published, {}}));
    for (std::uint32_t slot = 1; slot <= 3; ++slot) {
        FactWriter writer;
        writer.hold({event, HoldRef{std::uint64_t{1}, SlotIndex{slot}}});
        writer.number(std::uint64_t{5});
        writer.number(std::int64_t{1'000});
        writer.number(std::int64_t{2'000});
        SeatIndex const seats[] = {SeatIndex{2 * slot}, SeatIndex{2 * slot + 1}};
        writer.seats(seats);
        if (slot == 2) writer.mark(mark_bytes({}));
        add(run, journal::RecordType::claim, std::move(writer).take());
    }
    OrderFact order;
    order.order = {1, 2};
    order.method = PaymentMethod::none;
    order.total = 9'000;
    order.holds = {hold};
    auto const answer = encode(Answer{OrderAnswer{
        order.order, {}, PaymentMethod::none, 9'000, {{event, {SeatIndex{2}, SeatIndex{3}}}}}});
    auto const mark = mark_bytes(answer);
    order.mark = mark;
    add(run, journal::RecordType::order, encode(order));
    add(run, journal::RecordType::cancel, encode(CancelFact{order.order, {}, {hold}}));
    add(run, journal::RecordType::clock, encode(ClockFact{}));
    return run;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned) {
    if (size < journal::record_header_bytes) {
        Bytes const run = sample();
        size = std::min(run.size(), max);
        std::memcpy(data, run.data(), size);
    }
    return LLVMFuzzerMutate(data, size, max);
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::span<std::byte const> rest = std::as_bytes(std::span{data, size});
    Replay replay({{event, 64}, {EventId{2}, 3}});
    bool whole = true;
    for (std::uint64_t lsn = 1;; ++lsn) {
        auto const frame = journal::take_record(rest);
        if (!frame) break;
        decode_as_everything(frame->payload);
        if (whole) whole = replay.record({Lsn{lsn}, frame->type, frame->version, frame->payload});
        require(whole == replay.breach().empty(), "a stopped replay without a breach");
    }
    if (!whole) return 0;
    auto const state = replay.save();
    Replay again({{event, 64}, {EventId{2}, 3}});
    require(again.load(state), "a state of a replay is none");
    require(again.marks() == replay.marks(), "a base file loses a mark");
    for (auto const& [id, restored] : replay.take()) {
        std::vector<SeatIndex> taken;
        for (RestoredHold const& hold : restored.holds)
            taken.insert(taken.end(), hold.seats.begin(), hold.seats.end());
        std::sort(taken.begin(), taken.end());
        require(std::adjacent_find(taken.begin(), taken.end()) == taken.end(),
                "a place with two owners was replayed");
    }
    return 0;
}
