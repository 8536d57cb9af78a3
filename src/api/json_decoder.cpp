#include "api/json_decoder.hpp"

#include "api/json_writer.hpp"

#include <utility>

namespace holdfast::api {

void DecodeState::fail(std::string pointer, std::string_view code) {
    fail(InputError{422, std::move(pointer), code});
}
void DecodeState::fail(InputError error) {
    if (failed_) return;
    failed_ = true;
    error_ = std::move(error);
}
void DecodeState::fail_range(JsonValue value, IntegerRange range, std::string_view of) {
    if (!failed_) fail(range_error(value.pointer(), range, of));
}
void DecodeState::add_unknown(JsonValue value) {
    if (error_.unknown.empty()) error_.unknown = value.pointer();
}
void DecodeState::fail(JsonValue value, std::string_view code) {
    if (!failed_) fail(value.pointer(), code);
}

std::string bounds_text(IntegerRange range, std::string_view of) {
    std::string text = ",\"min\":" + std::to_string(range.min);
    text.append(",\"max\":").append(std::to_string(range.max));
    if (!of.empty()) text.append(",\"of\":\"").append(of).append("\"");
    return text;
}

InputError range_error(std::string pointer, IntegerRange range, std::string_view of) {
    return InputError{422, std::move(pointer), "range", bounds_text(range, of)};
}

InputError value_error(std::string pointer, std::span<std::string_view const> known) {
    std::string more = ",\"allowed\":[";
    for (std::string_view const word : known) {
        append_separator(more);
        append_plain(more, word);
    }
    return InputError{422, std::move(pointer), "value", std::move(more) + ']'};
}

std::int64_t DecodeState::integer(JsonValue value, IntegerRange range) {
    if (failed_) return range.min;
    if (value.is(JsonKind::out_of_range)) {
        fail_range(value, range);
    } else if (!value.is(JsonKind::integer)) {
        fail(value, "type");
    } else if (value.integer() < range.min || value.integer() > range.max) {
        fail_range(value, range);
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
        fail_range(value, {1, static_cast<std::int64_t>(bytes_max)}, "bytes");
    }
    return failed_ ? std::string_view{} : value.text();
}

bool DecodeState::array(JsonValue value, IntegerRange size_range) {
    if (failed_) return false;
    auto const size = static_cast<std::int64_t>(value.size());
    if (!value.is(JsonKind::array)) {
        fail(value, "type");
    } else if (size < size_range.min || size > size_range.max) {
        fail_range(value, size_range, "items");
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
    if (!usable_) return std::nullopt;
    std::size_t ordinal = 0;
    for (JsonValue const member : value_) {
        if (member.key() == key) {
            taken_.set(ordinal);
            if (state_.failed()) return std::nullopt;
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
    if (!usable_) return;
    bool const lacking = state_.failed() && lacks_a_member();
    if (state_.failed() && !lacking) return;
    std::size_t ordinal = 0;
    for (JsonValue const member : value_) {
        if (!taken_.test(ordinal)) {
            if (lacking) return state_.add_unknown(member);
            return state_.fail(member, "unknown-field");
        }
        ++ordinal;
    }
}

/// Whether the body failed for a missing member of this very object.
bool ObjectDecoder::lacks_a_member() const {
    InputError const& error = state_.error();
    if (error.code != "required") return false;
    return error.pointer.substr(0, error.pointer.rfind('/')) == value_.pointer();
}

std::string ObjectDecoder::pointer_to(std::string_view key) const {
    return value_.pointer().append("/").append(key);
}

}  // namespace holdfast::api
