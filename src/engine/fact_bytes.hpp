// Fact bytes: reads and writes the numbers of which facts are made.
//
// Thread safety: one thread an object. Cost: no allocation but the caller's lists.
#pragma once

#include <holdfast/base/assert.hpp>
#include <holdfast/engine/facts.hpp>

#include <concepts>
#include <span>
#include <type_traits>
#include <utility>

namespace holdfast::engine {

/// Begins an idempotency mark.
inline constexpr std::uint8_t mark_tag = 0x49;

/// Reads numbers; after the first thing that does not fit everything reads as zero and finished()
/// is false.
class FactReader {
public:
    explicit FactReader(std::span<std::byte const> payload) noexcept : rest_(payload) {}

    template <std::integral T>
    [[nodiscard]] T number() noexcept {
        if (rest_.size() < sizeof(T)) {
            refuse();
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            value |= std::uint64_t{std::to_integer<std::uint8_t>(rest_[i])} << (8 * i);
        }
        rest_ = rest_.subspan(sizeof(T));
        return static_cast<T>(value);
    }
    template <class T>
        requires std::is_enum_v<T>
    [[nodiscard]] T choice(T first, T last) noexcept {
        auto const value = static_cast<T>(number<std::underlying_type_t<T>>());
        require(first <= value);
        require(value <= last);
        return value;
    }
    [[nodiscard]] EventId event() noexcept {
        EventId const event{number<std::uint32_t>()};
        require(event != EventId{});
        return event;
    }
    [[nodiscard]] HoldKey hold() noexcept {
        HoldKey key{.event = event(), .ref = HoldRef{number<std::uint64_t>()}};
        require(key.ref.generation() != 0);
        require(key.ref.slot() != SlotIndex{});
        return key;
    }
    [[nodiscard]] OrderId order() noexcept {
        OrderId order;
        order.high = number<std::uint64_t>();
        order.low = number<std::uint64_t>();
        require(order != OrderId{});
        return order;
    }
    [[nodiscard]] TimePoint time() noexcept {
        TimePoint const time{Milliseconds{number<std::int64_t>()}};
        require(time >= TimePoint{});
        return time;
    }
    [[nodiscard]] EditKind edit_kind() noexcept {
        return choice(EditKind::extend, EditKind::refund);
    }
    [[nodiscard]] std::span<std::byte const> bytes(std::size_t count) noexcept {
        require(count <= rest_.size());
        if (!good_) return {};
        auto const taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }
    void seats(std::vector<SeatIndex>& seats, std::uint32_t least) {
        seats.clear();
        auto const count = number<std::uint32_t>();
        require(count >= least);
        require(count <= limits::seats_per_claim_max);
        require(count <= rest_.size() / 4);
        for (std::uint32_t i = 0; good_ && i < count; ++i) {
            seats.emplace_back(number<std::uint32_t>());
        }
    }
    void holds(std::vector<HoldKey>& holds) {
        holds.clear();
        auto const count = number<std::uint16_t>();
        require(count >= 1);
        require(count <= limits::holds_per_order_max);
        for (std::uint16_t i = 0; good_ && i < count; ++i) holds.push_back(hold());
    }
    void require(bool fact) noexcept {
        if (!fact) refuse();
    }
    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] bool at_end() const noexcept { return good_ && rest_.empty(); }
    /// Takes an idempotency mark; true if all was good and nothing else is left.
    [[nodiscard]] bool finished(MarkBytes& mark) noexcept {
        mark = {};
        if (!good_) return false;
        if (rest_.empty()) return true;
        require(number<std::uint8_t>() == mark_tag);
        auto const length = number<std::uint16_t>();
        require(rest_.size() == length);
        if (good_) mark = rest_;
        return good_;
    }

private:
    void refuse() noexcept {
        good_ = false;
        rest_ = {};
    }
    std::span<std::byte const> rest_;
    bool good_{true};
};

class FactWriter {
public:
    FactWriter() = default;
    explicit FactWriter(std::size_t bytes) { bytes_.reserve(bytes); }

    template <std::integral T>
    void number(T value) {
        auto const bits = static_cast<std::uint64_t>(value);
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            bytes_.push_back(static_cast<std::byte>((bits >> (8 * i)) & 0xFFU));
        }
    }
    template <class T>
        requires std::is_enum_v<T>
    void choice(T value) {
        number(static_cast<std::underlying_type_t<T>>(value));
    }
    void hold(HoldKey const& key) {
        HOLDFAST_ASSERT(key.ref.slot() != SlotIndex{});
        number(key.event.value());
        number(key.ref.bits());
    }
    void order(OrderId const& order) {
        HOLDFAST_ASSERT(order != OrderId{});
        number(order.high);
        number(order.low);
    }
    void time(TimePoint time) { number(std::int64_t{time.time_since_epoch().count()}); }
    void seats(std::span<SeatIndex const> seats) {
        number(static_cast<std::uint32_t>(seats.size()));
        for (SeatIndex const seat : seats) number(seat.value());
    }
    void holds(std::span<HoldKey const> holds) {
        HOLDFAST_ASSERT(!holds.empty());
        HOLDFAST_ASSERT(holds.size() <= limits::holds_per_order_max);
        number(static_cast<std::uint16_t>(holds.size()));
        for (HoldKey const& key : holds) hold(key);
    }
    void bytes(std::span<std::byte const> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    /// What stands behind a fact.
    void mark(MarkBytes mark) {
        if (mark.empty()) return;
        number(mark_tag);
        number(static_cast<std::uint16_t>(mark.size()));
        bytes(mark);
    }
    [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

}  // namespace holdfast::engine
