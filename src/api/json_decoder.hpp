// JSON decoder: takes the fields of one object, each once, and names what is wrong.
//
// Purpose: allow-list decoding. A decoder asks for the fields it knows; finish() refuses the rest
// (422 unknown-field). The first error wins and is kept in a DecodeState; after it every call gives
// a default, so that a decoder reads as a list of fields and is checked once, at its end:
//     DecodeState state;
//     ObjectDecoder body(root, state);
//     auto const seconds = body.integer("seconds", {1, 7'200});
//     body.finish();
//     if (state.failed()) return state.error();
// Thread safety: one thread. Cost: one scan of the object's keys a field.
#pragma once

#include "api/json_reader.hpp"

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::api {

/// The first error of one body; shared by the decoders of its objects.
class DecodeState {
public:
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] InputError const& error() const noexcept { return error_; }
    /// 422 with that pointer; does nothing after the first.
    void fail(std::string pointer, std::string_view code);
    void fail(JsonValue value, std::string_view code);
    void fail(InputError error);
    /// `range`, and what is allowed; `of` says of what, if not of the value itself.
    void fail_range(JsonValue value, IntegerRange range, std::string_view of = {});
    /// Of a missing member: names the one that stands there and that nobody knows.
    void add_unknown(JsonValue value);

    // Checked values of single nodes; the defaults after an error.
    [[nodiscard]] std::int64_t integer(JsonValue value, IntegerRange range);
    [[nodiscard]] bool boolean(JsonValue value);
    [[nodiscard]] std::string_view text(JsonValue value, std::size_t bytes_max);
    /// Whether it is an array of `size_range` members; else fails with `type` or `range`.
    [[nodiscard]] bool array(JsonValue value, IntegerRange size_range);
    [[nodiscard]] bool object(JsonValue value);

private:
    bool failed_{};
    InputError error_;
};

class ObjectDecoder {
public:
    /// Fails with not-an-object if `value` is none.
    ObjectDecoder(JsonValue value, DecodeState& state);

    /// The member, marked as known; nothing if absent. Its kind is not looked at.
    [[nodiscard]] std::optional<JsonValue> take(std::string_view key);
    /// The same, but absent fails with `required`.
    [[nodiscard]] std::optional<JsonValue> take_required(std::string_view key);
    /// The same as take, but a null counts as absent. For fields that may be null in API.md.
    [[nodiscard]] std::optional<JsonValue> take_nullable(std::string_view key);

    // Required fields.
    [[nodiscard]] std::int64_t integer(std::string_view key, IntegerRange range);
    [[nodiscard]] std::string_view text(std::string_view key, std::size_t bytes_max);
    // Optional fields: absent is nothing; null is an error.
    [[nodiscard]] std::optional<std::int64_t> optional_integer(std::string_view key,
                                                               IntegerRange range);
    [[nodiscard]] std::optional<bool> optional_boolean(std::string_view key);
    [[nodiscard]] std::optional<std::string_view> optional_text(std::string_view key,
                                                                std::size_t bytes_max);
    /// Fails with unknown-field at the first member nobody took. After a failure for a missing
    /// member of this object it adds that name to the error, so every field must have been asked
    /// for by then, whatever failed before.
    void finish();
    /// Pointer to a member that may be absent: for errors about what is missing.
    [[nodiscard]] std::string pointer_to(std::string_view key) const;

private:
    [[nodiscard]] bool lacks_a_member() const;

    JsonValue value_;
    DecodeState& state_;
    bool usable_{};
    std::bitset<JsonLimits::keys_max> taken_;
};

}  // namespace holdfast::api
