// The bytes of layout_codec: numbers, texts and points, little endian.
//
// Purpose: the writer cannot write what the reader refuses. Thread safety: one thread each.
// Cost: a few instructions a byte.
#pragma once

#include <holdfast/base/assert.hpp>
#include <holdfast/base/crc32c.hpp>
#include <holdfast/domain/layout.hpp>
#include <holdfast/domain/limits.hpp>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast {

class LayoutWriter {
public:
    template <std::unsigned_integral T>
    void number(T value) {
        for (unsigned shift = 0; shift < 8 * sizeof(T); shift += 8) {
            bytes_.push_back(static_cast<std::byte>((std::uint64_t{value} >> shift) & 0xFFU));
        }
    }
    void count(std::size_t items) { number(static_cast<std::uint32_t>(items)); }
    void text(std::string_view text) {
        HOLDFAST_ASSERT(text.size() <= limits::name_bytes_max);
        number(static_cast<std::uint16_t>(text.size()));
        for (char const c : text) bytes_.push_back(static_cast<std::byte>(c));
    }
    void point(Point const& point) {
        number(std::bit_cast<std::uint64_t>(point.x));
        number(std::bit_cast<std::uint64_t>(point.y));
    }
    void flag(bool set) { number(std::uint8_t{set}); }
    void optional(std::optional<Point> const& value) {
        flag(value.has_value());
        if (value) point(*value);
    }
    void optional(std::optional<std::uint32_t> const& value) {
        flag(value.has_value());
        if (value) number(*value);
    }
    [[nodiscard]] std::vector<std::byte> take() && {
        number(crc32c(bytes_));
        return std::move(bytes_);
    }
    void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

private:
    std::vector<std::byte> bytes_;
};

/// Reads; after the first thing that does not fit everything reads as zero and failed() is true.
class LayoutReader {
public:
    explicit LayoutReader(std::span<std::byte const> bytes) noexcept : rest_(bytes) {}
    template <std::unsigned_integral T>
    [[nodiscard]] T number() noexcept {
        auto const bytes = take(sizeof(T));
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            value |= std::uint64_t{std::to_integer<std::uint8_t>(bytes[i])} << (8 * i);
        }
        return static_cast<T>(value);
    }
    /// A count whose items take at least `bytes_each` bytes; more than can follow is damage.
    [[nodiscard]] std::uint32_t count(std::size_t bytes_each) noexcept {
        auto const items = number<std::uint32_t>();
        require(items <= rest_.size() / bytes_each);
        return failed_ ? 0 : items;
    }
    [[nodiscard]] std::string_view text() noexcept {
        auto const bytes = take(number<std::uint16_t>());
        return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
    }
    [[nodiscard]] Point point() noexcept {
        Point point;
        point.x = std::bit_cast<double>(number<std::uint64_t>());
        point.y = std::bit_cast<double>(number<std::uint64_t>());
        require(std::isfinite(point.x) && std::isfinite(point.y));
        return point;
    }
    [[nodiscard]] bool flag() noexcept {
        auto const value = number<std::uint8_t>();
        require(value <= 1);
        return value == 1;
    }
    [[nodiscard]] std::optional<Point> optional_point() noexcept {
        if (!flag()) return std::nullopt;
        return point();
    }
    void require(bool fact) noexcept { failed_ = failed_ || !fact; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] bool at_end() const noexcept { return !failed_ && rest_.empty(); }

private:
    std::span<std::byte const> take(std::size_t bytes) noexcept {
        require(bytes <= rest_.size());
        if (failed_) return {};
        auto const taken = rest_.first(bytes);
        rest_ = rest_.subspan(bytes);
        return taken;
    }

    std::span<std::byte const> rest_;
    bool failed_{};
};

}  // namespace holdfast
