#include "api/json_decoder.hpp"

#include <utility>

namespace holdfast::api {

void DecodeState::fail(std::string pointer, std::string_view code) {
    if (failed_) return;
    failed_ = true;
    error_ = InputError{422, std::move(pointer), code};
}
void DecodeState::fail(JsonValue value, std::string_view code) {
    if (!failed_) fail(value.pointer(), code);
}

std::int64_t DecodeState::integer(JsonValue value, IntegerRange range) {
    if (failed_) return range.min;
    if (value.is(JsonKind::out_of_range)) {
        fail(value, "range");
    } else if (!value.is(JsonKind::integer)) {
        fail(value, "type");
    } else if (value.integer() < range.min || value.integer() > range.max) {
        fail(value, "range");
    }
    return failed_ ? range.min : value.integer();
}

bool DecodeState::boolean(JsonValue value) {
    if (failed_) return false;
    if (!value.is(JsonKind::boolean)) fail(value, "type");
    return !failed_ && value.boolean();
}

std::string_view DecodeState::text(JsonValue value, std::size_t bytes_max) {
    if (failed_) return {};
    if (!value.is(JsonKind::string)) {
        fail(value, "type");
    } else if (value.text().empty() || value.text().size() > bytes_max) {
        fail(value, "range");
    }
    return failed_ ? std::string_view{} : value.text();
}

bool DecodeState::array(JsonValue value, IntegerRange size_range) {
    if (failed_) return false;
    auto const size = static_cast<std::int64_t>(value.size());
    if (!value.is(JsonKind::array)) {
        fail(value, "type");
    } else if (size < size_range.min || size > size_range.max) {
        fail(value, "range");
    }
    return !failed_;
}

bool DecodeState::object(JsonValue value) {
    if (failed_) return false;
    if (!value.is(JsonKind::object)) fail(value, "not-an-object");
    return !failed_;
}

ObjectDecoder::ObjectDecoder(JsonValue value, DecodeState& state)
    : value_(value), state_(state), usable_(state.object(value)) {}

std::optional<JsonValue> ObjectDecoder::take(std::string_view key) {
    if (!usable_ || state_.failed()) return std::nullopt;
    std::size_t ordinal = 0;
    for (JsonValue const member : value_) {
        if (member.key() == key) {
            taken_.set(ordinal);
            return member;
        }
        ++ordinal;
    }
    return std::nullopt;
}

std::optional<JsonValue> ObjectDecoder::take_required(std::string_view key) {
    auto const member = take(key);
    if (!member && !state_.failed()) state_.fail(pointer_to(key), "required");
    return member;
}

std::optional<JsonValue> ObjectDecoder::take_nullable(std::string_view key) {
    auto const member = take(key);
    if (member && member->is(JsonKind::null)) return std::nullopt;
    return member;
}

std::int64_t ObjectDecoder::integer(std::string_view key, IntegerRange range) {
    auto const member = take_required(key);
    return member ? state_.integer(*member, range) : range.min;
}

std::string_view ObjectDecoder::text(std::string_view key, std::size_t bytes_max) {
    auto const member = take_required(key);
    return member ? state_.text(*member, bytes_max) : std::string_view{};
}

std::optional<std::int64_t> ObjectDecoder::optional_integer(std::string_view key,
                                                            IntegerRange range) {
    auto const member = take(key);
    if (!member) return std::nullopt;
    return state_.integer(*member, range);
}

std::optional<bool> ObjectDecoder::optional_boolean(std::string_view key) {
    auto const member = take(key);
    if (!member) return std::nullopt;
    return state_.boolean(*member);
}

std::optional<std::string_view> ObjectDecoder::optional_text(std::string_view key,
                                                             std::size_t bytes_max) {
    auto const member = take(key);
    if (!member) return std::nullopt;
    return state_.text(*member, bytes_max);
}

void ObjectDecoder::finish() {
    if (!usable_ || state_.failed()) return;
    std::size_t ordinal = 0;
    for (JsonValue const member : value_) {
        if (!taken_.test(ordinal)) {
            state_.fail(member, "unknown-field");
            return;
        }
        ++ordinal;
    }
}

std::string ObjectDecoder::pointer_to(std::string_view key) const {
    return value_.pointer().append("/").append(key);
}

}  // namespace holdfast::api
