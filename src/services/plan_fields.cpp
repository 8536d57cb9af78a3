#include "services/plan_fields.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace holdfast::services {
namespace {

bool is_control(char c) noexcept {
    auto const byte = static_cast<unsigned char>(c);
    return byte < 0x20U || byte == 0x7FU;
}

std::string pointer_to(PlanValue const& object, std::string_view key) {
    auto pointer = object.pointer();
    append_pointer(pointer, key);
    return pointer;
}

}  // namespace

void PlanFields::wrong_type(PlanValue const& object, std::string_view key,
                            std::string_view wanted) const {
    lint_.error("type", pointer_to(object, key), "this must be " + std::string{wanted});
}

void PlanFields::missing(PlanValue const& object, std::string_view key) const {
    lint_.error("missing", pointer_to(object, key), "this is needed");
}

std::optional<std::string> PlanFields::text(PlanValue const& object, std::string_view key) const {
    auto const value = object.find(key);
    if (!value) return std::nullopt;
    if (value->is(PlanKind::string)) return std::string{value->text()};
    if (auto const whole = value->integer()) return std::to_string(*whole);
    wrong_type(object, key, "a text or a whole number");
    return std::nullopt;
}

std::string PlanFields::label(PlanValue const& object, std::string_view key) const {
    auto const errors_before = lint_.report().error_count;
    auto made = text(object, key).value_or(std::string{});
    if (lint_.report().error_count != errors_before) return made;
    if (made.empty()) {
        lint_.error("missing-label", pointer_to(object, key), "everything for sale needs a label");
    } else if (std::ranges::all_of(made, [](char c) { return c == '?'; })) {
        lint_.error("placeholder-label", pointer_to(object, key), "the label is still " + made);
    } else if (std::ranges::any_of(made, is_control)) {
        lint_.error("control-character", pointer_to(object, key),
                    "a label must not hold control characters");
    }
    return made;
}

bool PlanFields::flag(PlanValue const& object, std::string_view key) const {
    auto const value = object.find(key);
    if (!value) return false;
    if (!value->is(PlanKind::boolean)) wrong_type(object, key, "true or false");
    return value->boolean();
}

std::optional<double> PlanFields::number(PlanValue const& object, std::string_view key) const {
    auto const value = object.find(key);
    if (!value) return std::nullopt;
    if (!value->is(PlanKind::number)) {
        wrong_type(object, key, "a number");
        return std::nullopt;
    }
    if (std::abs(value->number()) > coordinate_max) {
        lint_.error("range", pointer_to(object, key), "the number is too large for a drawing");
        return std::nullopt;
    }
    return value->number();
}

std::optional<std::uint32_t> PlanFields::count(PlanValue const& object,
                                               std::string_view key) const {
    auto const value = object.find(key);
    if (!value) return std::nullopt;
    auto const whole = value->integer();
    if (!whole) {
        wrong_type(object, key, "a whole number");
        return std::nullopt;
    }
    if (*whole < 0 || *whole > std::numeric_limits<std::uint32_t>::max()) {
        lint_.error("range", pointer_to(object, key), "the number is not from 0 to 4294967295");
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(*whole);
}

Point PlanFields::coordinates(PlanValue const& object, bool needed) const {
    if (needed && !object.find("x")) missing(object, "x");
    if (needed && !object.find("y")) missing(object, "y");
    return {number(object, "x").value_or(0), number(object, "y").value_or(0)};
}

std::optional<Point> PlanFields::point(PlanValue const& object, std::string_view key) const {
    auto const value = this->object(object, key);
    if (!value) return std::nullopt;
    return coordinates(*value, true);
}

std::optional<PlanValue> PlanFields::array(PlanValue const& parent, std::string_view key) const {
    auto value = parent.find(key);
    if (!value || value->is(PlanKind::array)) return value;
    wrong_type(parent, key, "a list");
    return std::nullopt;
}

std::optional<PlanValue> PlanFields::object(PlanValue const& parent, std::string_view key) const {
    auto value = parent.find(key);
    if (!value || value->is(PlanKind::object)) return value;
    wrong_type(parent, key, "an object");
    return std::nullopt;
}

bool PlanFields::is_object(PlanValue const& value) const {
    if (value.is(PlanKind::object)) return true;
    lint_.error("type", value.pointer(), "this must be an object");
    return false;
}

void PlanFields::check_keys(PlanValue const& object, std::string_view kind,
                            std::span<std::string_view const> known) const {
    HOLDFAST_ASSERT(std::ranges::is_sorted(known));
    for (std::size_t i = 0; i < object.size(); ++i) {
        auto const key = object.key_at(i);
        if (std::ranges::binary_search(known, key)) continue;
        if (lint_.knows_unknown(kind, key)) continue;
        lint_.unknown_key(kind, key, pointer_to(object, key));
    }
}

}  // namespace holdfast::services
