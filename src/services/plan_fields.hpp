// Typed reading of a plan's members, each with its lint.
//
// Purpose: one way to read a text, a number, a flag, a point or a list; a wrong type is an error in
// the log and reads as missing. Thread safety: one thread. Cost: one look-up each.
#pragma once

#include "services/lint.hpp"
#include "services/plan_json.hpp"

#include <holdfast/domain/layout.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::services {

/// Coordinates beyond this are no drawing; distances must stay exact enough to compare.
inline constexpr double coordinate_max = 1e9;

class PlanFields {
public:
    explicit PlanFields(LintLog& lint) noexcept : lint_(lint) {}

    /// Text, or a whole number as text.
    [[nodiscard]] std::optional<std::string> text(PlanValue const& object,
                                                  std::string_view key) const;
    /// A label that makes part of a name: missing, empty, "?" and control characters are errors.
    [[nodiscard]] std::string label(PlanValue const& object, std::string_view key) const;
    [[nodiscard]] bool flag(PlanValue const& object, std::string_view key) const;
    [[nodiscard]] std::optional<double> number(PlanValue const& object, std::string_view key) const;
    [[nodiscard]] std::optional<std::uint32_t> count(PlanValue const& object,
                                                     std::string_view key) const;
    /// {x, y} below `key`.
    [[nodiscard]] std::optional<Point> point(PlanValue const& object, std::string_view key) const;
    /// x and y of `object` itself; a missing one is 0 and, if `needed`, an error.
    [[nodiscard]] Point coordinates(PlanValue const& object, bool needed) const;
    /// The array or object below `key`.
    [[nodiscard]] std::optional<PlanValue> array(PlanValue const& parent,
                                                 std::string_view key) const;
    [[nodiscard]] std::optional<PlanValue> object(PlanValue const& parent,
                                                  std::string_view key) const;
    std::optional<PlanValue> array(PlanValue const&& parent, std::string_view key) const = delete;
    std::optional<PlanValue> object(PlanValue const&& parent, std::string_view key) const = delete;
    /// False, with an error, unless `value` is an object.
    [[nodiscard]] bool is_object(PlanValue const& value) const;
    /// Warns of members of `object`, a `kind`, that are not in `known` (sorted).
    void check_keys(PlanValue const& object, std::string_view kind,
                    std::span<std::string_view const> known) const;
    void missing(PlanValue const& object, std::string_view key) const;

private:
    void wrong_type(PlanValue const& object, std::string_view key, std::string_view wanted) const;

    LintLog& lint_;
};

/// a + b, unless that leaves the drawing.
[[nodiscard]] inline Point moved(Point a, Point b) noexcept {
    return {a.x + b.x, a.y + b.y};
}

}  // namespace holdfast::services
