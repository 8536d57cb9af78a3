// Strong ids: numbers that name things, and cannot be mixed up or calculated with.
//
// Thread safety: values.
// Cost: that of the number inside.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>

namespace holdfast {

template <class Tag, std::unsigned_integral Rep>
class StrongId {
public:
    constexpr StrongId() = default;
    explicit constexpr StrongId(Rep value) noexcept : value_(value) {}
    /// The bare number; used only at the edges: array access and codecs.
    [[nodiscard]] constexpr Rep value() const noexcept { return value_; }
    friend constexpr auto operator<=>(StrongId, StrongId) noexcept = default;

private:
    Rep value_{};
};

}  // namespace holdfast

template <class Tag, class Rep>
struct std::hash<holdfast::StrongId<Tag, Rep>> {
    std::size_t operator()(holdfast::StrongId<Tag, Rep> id) const noexcept {
        return std::hash<Rep>{}(id.value());
    }
};
