// JSON reader: the strict reading of every request body.
//
// Purpose: turns a body into a flat tree that decoders walk (SECURITY.md 4 "JSON"). What the format
// allows and we do not is refused here: repeated keys (after unescaping), depth over 8, more than
// 256 keys an object, strings over 1 KiB, \u0000, bad UTF-8, a BOM, comments, trailing bytes: 400.
// Numbers that are not int64 are kept as such, so that the decoder can say 422 and where.
// One value may be named by `raw_path`: it is checked as JSON (depth 32, finite numbers, any number
// of keys) and kept as text only.
// Thread safety: one thread at a time. Values point into the reader and into the text that was
// read; both must outlive them, and the next read() ends them.
// Invariants: nodes stand in document order, an object's or array's members directly behind it.
// Cost: one pass of Boost.JSON's SAX parser; no allocation once the arrays have grown.
#pragma once

#include "api/input_error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::api {

enum class JsonKind : std::uint8_t {
    null,
    boolean,
    integer,       // fits int64
    fraction,      // a number with a fraction or an exponent, finite
    out_of_range,  // an integer that does not fit int64, or a number too large for a double
    string,
    array,
    object,
    raw,  // the value at raw_path
};

struct JsonLimits {
    static constexpr std::size_t depth_max = 8;
    static constexpr std::size_t raw_depth_max = 32;
    static constexpr std::size_t keys_max = 256;
    static constexpr std::size_t string_bytes_max = 1'024;
};

struct JsonOptions {
    std::string_view raw_path;         // "/import/plan"; empty: no value is kept raw
    std::size_t values_max{1U << 20};  // over it: 400 too-many-values
};

class JsonReader;

/// One value of a document that was read.
class JsonValue {
public:
    class Iterator;

    [[nodiscard]] JsonKind kind() const noexcept;
    [[nodiscard]] bool is(JsonKind kind) const noexcept { return this->kind() == kind; }
    [[nodiscard]] bool boolean() const noexcept;
    [[nodiscard]] std::int64_t integer() const noexcept;
    /// Of a string: unescaped. Of a raw value: its JSON text.
    [[nodiscard]] std::string_view text() const noexcept;
    /// Members of an array or object; 0 for the rest.
    [[nodiscard]] std::uint32_t size() const noexcept;
    /// Its key, if it is a member of an object.
    [[nodiscard]] std::string_view key() const noexcept;
    [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const noexcept;
    /// RFC 6901, keys cut at 64 bytes (an answer never echoes more of the input).
    [[nodiscard]] std::string pointer() const;

    [[nodiscard]] Iterator begin() const noexcept;
    [[nodiscard]] Iterator end() const noexcept;

private:
    friend class JsonReader;
    JsonValue(JsonReader const& reader, std::uint32_t index) noexcept
        : reader_(&reader), index_(index) {}
    JsonReader const* reader_;
    std::uint32_t index_;
};

class JsonReader {
public:
    JsonReader();
    ~JsonReader();
    JsonReader(JsonReader const&) = delete;
    JsonReader& operator=(JsonReader const&) = delete;

    /// The document's root. `text` must live as long as its values are used.
    [[nodiscard]] Input<JsonValue> read(std::string_view text, JsonOptions const& options = {});
    /// The same, and the root must be an object: 422 not-an-object else.
    [[nodiscard]] Input<JsonValue> read_object(std::string_view text,
                                               JsonOptions const& options = {});

private:
    friend class JsonValue;
    struct Parser;  // the SAX parser and its handler; heavy, so in the .cpp

    struct Text {
        std::uint32_t start{};  // top bit: in the arena, else in the input
        std::uint32_t length{};
    };
    struct Node {
        JsonKind kind{};
        std::uint32_t end{};   // index behind its last member
        std::uint32_t size{};  // members
        Text key;
        Text text;
        std::int64_t number{};
    };
    [[nodiscard]] std::string_view view(Text text) const noexcept;

    std::string_view input_;
    std::string arena_;  // strings that had escapes
    std::vector<Node> nodes_;
    std::unique_ptr<Parser> parser_;
};

class JsonValue::Iterator {
public:
    JsonValue operator*() const noexcept { return value_; }
    Iterator& operator++() noexcept;
    bool operator==(Iterator const& other) const noexcept {
        return value_.index_ == other.value_.index_;
    }

private:
    friend class JsonValue;
    explicit Iterator(JsonValue value) noexcept : value_(value) {}
    JsonValue value_;
};

}  // namespace holdfast::api
