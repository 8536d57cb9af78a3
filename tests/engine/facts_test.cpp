#include "tests/domain/layout_samples.hpp"

#include <holdfast/engine/facts.hpp>
#include <holdfast/journal/record.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <random>

namespace holdfast::engine {
namespace {

using Bytes = std::vector<std::byte>;

HoldKey const key{EventId{7}, HoldRef{std::uint64_t{3}, SlotIndex{11}}};
HoldKey const other_key{EventId{8}, HoldRef{HoldRef::generation_max, SlotIndex{0xFFFFFF}}};
OrderId const order{0x0102030405060708, 0x1112131415161718};

TimePoint at(std::int64_t ms) {
    return TimePoint{Milliseconds{ms}};
}

ClaimFact claim() {
    return {key, 42, at(1'000), no_deadline, {SeatIndex{1}, SeatIndex{5}, SeatIndex{0x01020304}}};
}
OrderFact sale() {
    return {order, at(5'000), PaymentMethod::wallet, 24'000, {key, other_key}};
}

ExchangeFact exchange() {
    return {key, {SeatIndex{1}, SeatIndex{5}}, {SeatIndex{0x01020304}}};
}
ReseatFact reseat() {
    return {order,
            at(7'000),
            {{key, {{SeatIndex{1}, SeatIndex{2}}, {SeatIndex{5}, SeatIndex{1}}}},
             {other_key, {{SeatIndex{9}, SeatIndex{0x01020304}}}}}};
}
RefundFact refund() {
    return {order, at(7'000), {{key, {SeatIndex{1}, SeatIndex{5}}}, {other_key, {SeatIndex{9}}}}};
}

/// One valid payload of each kind and its decoder, as "does it decode".
struct Sample {
    char const* name;
    Bytes bytes;
    std::function<bool(std::span<std::byte const>)> decodes;
};

template <class Decoder>
auto accepts(Decoder decoder) {
    return [decoder](std::span<std::byte const> payload) { return decoder(payload).has_value(); };
}

std::vector<Sample> samples() {
    return {
        {"claim", encode(claim()), accepts(decode_claim)},
        {"edit", encode(EditFact{key, 42, at(9)}), accepts(decode_edit)},
        {"exchange", encode(exchange()), accepts(decode_exchange)},
        {"reseat", encode(reseat()), accepts(decode_reseat)},
        {"refund", encode(refund()), accepts(decode_refund)},
        {"end", encode(EndFact{key, EndCause::expired}), accepts(decode_end)},
        {"order", encode(sale()), accepts(decode_order)},
        {"cancel", encode(CancelFact{order, at(6'000), {key}}), accepts(decode_cancel)},
        {"event", encode(EventFact{EventId{7}, LifeStep::paused, at(3)}), accepts(decode_event)},
        {"clock", encode(ClockFact{at(77)}), accepts(decode_clock)},
    };
}

Bytes with_mark(Bytes bytes, std::size_t length) {
    bytes.push_back(std::byte{0x49});
    bytes.push_back(static_cast<std::byte>(length & 0xFF));
    bytes.push_back(static_cast<std::byte>(length >> 8));
    bytes.insert(bytes.end(), length, std::byte{0xAB});
    return bytes;
}

/// `bytes` with the number at `offset` replaced.
template <class T>
Bytes with(Bytes bytes, std::size_t offset, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        bytes.at(offset + i) =
            static_cast<std::byte>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xFF);
    }
    return bytes;
}

}  // namespace

TEST_CASE("each fact comes back as it was written", "[facts]") {
    auto const claimed = decode_claim(encode(claim()));
    REQUIRE(claimed);
    CHECK(claimed->hold == key);
    CHECK(claimed->holder == 42);
    CHECK(claimed->created_at == at(1'000));
    CHECK(claimed->expires_at == no_deadline);
    CHECK(claimed->seats == claim().seats);
    auto const edited = decode_edit(encode(EditFact{other_key, ~std::uint64_t{0}, at(9)}));
    REQUIRE(edited);
    CHECK(edited->hold == other_key);
    CHECK(edited->holder == ~std::uint64_t{0});
    CHECK(edited->expires_at == at(9));
    auto const ended = decode_end(encode(EndFact{key, EndCause::closed}));
    REQUIRE(ended);
    CHECK(ended->hold == key);
    CHECK(ended->cause == EndCause::closed);
    auto const sold = decode_order(encode(sale()));
    REQUIRE(sold);
    CHECK(sold->order == order);
    CHECK(sold->created_at == at(5'000));
    CHECK(sold->method == PaymentMethod::wallet);
    CHECK(sold->total == 24'000);
    CHECK(sold->holds == sale().holds);
    auto const cancelled = decode_cancel(encode(CancelFact{order, at(6), {other_key}}));
    REQUIRE(cancelled);
    CHECK(cancelled->order == order);
    CHECK(cancelled->at == at(6));
    CHECK(cancelled->holds == std::vector{other_key});
    auto const step = decode_event(encode(EventFact{EventId{9}, LifeStep::cancelled, at(4)}));
    REQUIRE(step);
    CHECK(step->event == EventId{9});
    CHECK(step->step == LifeStep::cancelled);
    CHECK(step->at == at(4));
    auto const clock = decode_clock(encode(ClockFact{at(77)}));
    REQUIRE(clock);
    CHECK(clock->at == at(77));
}

TEST_CASE("the bytes of a claim are those of the format", "[facts]") {
    Bytes const bytes = encode(ClaimFact{key, 0x42, at(0x0201), at(0x0403), {SeatIndex{0x0506}}});
    std::vector<unsigned> const expected{
        7,    0,    0, 0,                    // event
        11,   0,    0, 3, 0,    0,    0, 0,  // ref: slot in the low 24 bits
        0x42, 0,    0, 0, 0,    0,    0, 0,  // holder
        0x01, 0x02, 0, 0, 0,    0,    0, 0,  // created_at
        0x03, 0x04, 0, 0, 0,    0,    0, 0,  // expires_at
        1,    0,    0, 0, 0x06, 0x05, 0, 0,  // seats
    };
    std::vector<unsigned> found;
    for (std::byte const byte : bytes) found.push_back(std::to_integer<unsigned>(byte));
    CHECK(found == expected);
    CHECK(bytes.size() == claim_fact_bytes(1));
    CHECK(encode(EndFact{key, EndCause::staff}).size() == end_fact_bytes);
    CHECK(encode(EditFact{key, 0, at(0)}).size() == edit_fact_bytes);
}

TEST_CASE("each EDIT that changes lists comes back as it was written", "[facts]") {
    auto const exchanged = decode_exchange(encode(exchange()));
    REQUIRE(exchanged);
    CHECK(exchanged->hold == key);
    CHECK(exchanged->dropped == exchange().dropped);
    CHECK(exchanged->added == exchange().added);
    CHECK(decode_exchange(encode(ExchangeFact{key, {}, {SeatIndex{4}}})));
    CHECK(decode_exchange(encode(ExchangeFact{key, {SeatIndex{4}}, {}})));
    auto const reseated = decode_reseat(encode(reseat()));
    REQUIRE(reseated);
    CHECK(reseated->order == order);
    CHECK(reseated->at == at(7'000));
    REQUIRE(reseated->parts.size() == 2);
    CHECK(reseated->parts[0].hold == key);
    CHECK(reseated->parts[0].moves == reseat().parts[0].moves);
    CHECK(reseated->parts[1].hold == other_key);
    CHECK(reseated->parts[1].moves == reseat().parts[1].moves);
    auto const refunded = decode_refund(encode(refund()));
    REQUIRE(refunded);
    CHECK(refunded->order == order);
    CHECK(refunded->at == at(7'000));
    REQUIRE(refunded->parts.size() == 2);
    CHECK(refunded->parts[0].seats == refund().parts[0].seats);
    CHECK(refunded->parts[1].hold == other_key);
    CHECK(refunded->parts[1].seats == refund().parts[1].seats);
}

TEST_CASE("an EDIT is read by its own kind only", "[facts]") {
    std::vector<Bytes> const kinds{encode(EditFact{key, 42, at(9)}), encode(exchange()),
                                   encode(reseat()), encode(refund())};
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        CAPTURE(i);
        CHECK(edit_kind_of(kinds[i]) == static_cast<EditKind>(i + 1));
        CHECK(decode_edit(kinds[i]).has_value() == (i == 0));
        CHECK(decode_exchange(kinds[i]).has_value() == (i == 1));
        CHECK(decode_reseat(kinds[i]).has_value() == (i == 2));
        CHECK(decode_refund(kinds[i]).has_value() == (i == 3));
    }
    CHECK_FALSE(edit_kind_of(with(kinds[0], 12, std::uint8_t{0})));
    CHECK_FALSE(edit_kind_of(with(kinds[0], 12, std::uint8_t{5})));
    CHECK_FALSE(edit_kind_of(std::span{kinds[0]}.first(12)));
    CHECK_FALSE(edit_kind_of({}));
    // An exchange of nothing for nothing.
    Bytes nothing{kinds[1].begin(), kinds[1].begin() + 13};
    nothing.resize(21);
    CHECK_FALSE(decode_exchange(nothing));
    // A move to the place itself; no moves; more holds than an order may have.
    CHECK_FALSE(decode_reseat(with(kinds[2], 45, std::uint32_t{1})));
    CHECK_FALSE(decode_reseat(with(kinds[2], 37, std::uint32_t{0})));
    CHECK_FALSE(decode_reseat(with(kinds[2], 37, limits::seats_per_order_max + 1)));
    CHECK_FALSE(decode_reseat(with(kinds[2], 57, std::uint16_t{limits::holds_per_order_max})));
    CHECK_FALSE(decode_refund(with(kinds[3], 37, std::uint32_t{0})));
}

TEST_CASE("the bytes of a reseat are those of the format", "[facts]") {
    Bytes const bytes = encode(ReseatFact{{1, 2}, at(3), {{key, {{SeatIndex{4}, SeatIndex{5}}}}}});
    std::vector<unsigned> const expected{
        7,  0, 0, 0,                          // event
        11, 0, 0, 3, 0, 0, 0, 0,              // ref
        3,                                    // kind
        1,  0, 0, 0, 0, 0, 0, 0,              // order
        2,  0, 0, 0, 0, 0, 0, 0,              //
        3,  0, 0, 0, 0, 0, 0, 0,              // at
        1,  0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0,  // moves
        0,  0,                                // more
    };
    std::vector<unsigned> found;
    for (std::byte const byte : bytes) found.push_back(std::to_integer<unsigned>(byte));
    CHECK(found == expected);
}

TEST_CASE("every truncation of a fact is refused", "[facts]") {
    for (Sample const& sample : samples()) {
        CAPTURE(sample.name);
        CHECK(sample.decodes(sample.bytes));
        for (std::size_t kept = 0; kept < sample.bytes.size(); ++kept) {
            CAPTURE(kept);
            CHECK_FALSE(sample.decodes(std::span{sample.bytes}.first(kept)));
        }
    }
}

TEST_CASE("a fact may end with one whole idempotency mark and nothing else", "[facts]") {
    for (Sample const& sample : samples()) {
        CAPTURE(sample.name);
        for (std::size_t const length : {std::size_t{0}, std::size_t{1}, std::size_t{300}}) {
            Bytes const marked = with_mark(sample.bytes, length);
            CHECK(sample.decodes(marked));
            Bytes longer = marked;
            longer.push_back(std::byte{0});
            CHECK_FALSE(sample.decodes(longer));
            CHECK_FALSE(sample.decodes(std::span{marked}.first(marked.size() - 1)));
            CHECK_FALSE(sample.decodes(with_mark(marked, 1)));
        }
        for (unsigned tail = 0; tail < 256; ++tail) {
            Bytes garbage = sample.bytes;
            garbage.push_back(static_cast<std::byte>(tail));
            CHECK_FALSE(sample.decodes(garbage));
            garbage.insert(garbage.end(), 2, std::byte{0});
            CHECK(sample.decodes(garbage) == (tail == 0x49));
        }
    }
}

TEST_CASE("facts that cannot be are refused", "[facts]") {
    Bytes const claimed = encode(claim());
    CHECK_FALSE(decode_claim(with(claimed, 0, std::uint32_t{0})));        // event 0
    CHECK_FALSE(decode_claim(with(claimed, 4, std::uint64_t{3} << 24)));  // slot 0
    CHECK_FALSE(decode_claim(with(claimed, 4, std::uint64_t{11})));       // generation 0
    CHECK_FALSE(decode_claim(with(claimed, 20, std::int64_t{-1})));       // created before 0
    CHECK_FALSE(decode_claim(with(claimed, 28, std::int64_t{-1})));       // expires before 0
    CHECK_FALSE(decode_claim(with(claimed, 36, std::uint32_t{2})));       // short list
    CHECK_FALSE(decode_claim(with(claimed, 36, std::uint32_t{4})));       // long list
    CHECK_FALSE(decode_claim(with(claimed, 36, ~std::uint32_t{0})));
    Bytes empty = with(claimed, 36, std::uint32_t{0});
    empty.resize(claim_fact_bytes(0));
    CHECK_FALSE(decode_claim(empty));
    CHECK_FALSE(decode_edit(with(encode(EditFact{key, 0, at(0)}), 12, std::uint8_t{2})));
    CHECK_FALSE(decode_end(with(encode(EndFact{key, EndCause::staff}), 12, std::uint8_t{0})));
    CHECK_FALSE(decode_end(with(encode(EndFact{key, EndCause::staff}), 12, std::uint8_t{5})));
    Bytes const sold = encode(sale());
    CHECK_FALSE(decode_order(with(sold, 24, std::uint8_t{0})));  // method
    CHECK_FALSE(decode_order(with(sold, 24, std::uint8_t{4})));
    CHECK_FALSE(decode_order(with(sold, 25, std::int64_t{-1})));  // total
    CHECK_FALSE(decode_order(with(sold, 25, std::numeric_limits<std::int64_t>::max())));
    CHECK_FALSE(decode_order(with(sold, 33, std::uint16_t{0})));  // holds
    CHECK_FALSE(decode_order(with(with(sold, 0, std::uint64_t{0}), 8, std::uint64_t{0})));
    Bytes const step = encode(EventFact{EventId{7}, LifeStep::paused, at(3)});
    CHECK_FALSE(decode_event(with(step, 4, std::uint8_t{0})));
    CHECK_FALSE(decode_event(with(step, 4, std::uint8_t{6})));
    CHECK_FALSE(decode_clock(with(encode(ClockFact{at(1)}), 8, std::uint8_t{2})));
}

TEST_CASE("lists are accepted up to their bound and not over it", "[facts]") {
    ClaimFact block = claim();
    block.seats.assign(limits::seats_per_claim_max, SeatIndex{3});
    Bytes bytes = encode(block);
    CHECK(bytes.size() <= journal::payload_bytes_max);
    CHECK(decode_claim(bytes));
    bytes.resize(bytes.size() + 4);
    CHECK_FALSE(decode_claim(with(bytes, 36, limits::seats_per_claim_max + 1)));
    OrderFact cart = sale();
    cart.holds.assign(limits::holds_per_order_max, key);
    bytes = encode(cart);
    CHECK(decode_order(bytes));
    Bytes const one_hold{bytes.end() - 12, bytes.end()};
    bytes.insert(bytes.end(), one_hold.begin(), one_hold.end());
    CHECK_FALSE(
        decode_order(with(bytes, 33, static_cast<std::uint16_t>(limits::holds_per_order_max + 1))));
}

TEST_CASE("random bytes are refused or decode to what encodes to them", "[facts]") {
    std::mt19937_64 random{samples::seed()};
    auto const all = samples();
    std::size_t accepted = 0;
    for (int round = 0; round < 100'000; ++round) {
        // Half are noise, half are a valid fact with a few bytes changed.
        Sample const& sample = all[random() % all.size()];
        Bytes bytes = sample.bytes;
        if (round % 2 == 0) bytes.resize(random() % 80);
        std::size_t const changes = round % 2 == 0 ? bytes.size() : random() % 4;
        for (std::size_t i = 0; i < changes; ++i) {
            if (bytes.empty()) break;
            bytes[random() % bytes.size()] = static_cast<std::byte>(random() & 0xFF);
        }
        static_cast<void>(edit_kind_of(bytes));
        for (Sample const& reader : all) accepted += reader.decodes(bytes) ? 1U : 0U;
        if (auto const fact = decode_claim(bytes)) {
            Bytes const again = encode(*fact);
            CHECK(std::equal(again.begin(), again.end(), bytes.begin()));
        }
    }
    CHECK(accepted > 10'000);
}

}  // namespace holdfast::engine
