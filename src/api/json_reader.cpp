#include "api/json_reader.hpp"

#include "api/json_handler.hpp"
#include "api/json_span.hpp"

#include <holdfast/base/assert.hpp>

#include <stdexcept>

namespace holdfast::api {

void throw_exception_from_error(InputError const& error, boost::source_location const&) {
    throw std::logic_error("input error not looked at: " + std::string(error.code));
}

JsonReader::JsonReader() : parser_(std::make_unique<Parser>()) {}
JsonReader::~JsonReader() = default;

std::string_view JsonReader::view(Text text) const noexcept {
    if ((text.start & text_in_arena) != 0) {
        return std::string_view(arena_).substr(text.start & ~text_in_arena, text.length);
    }
    return input_.substr(text.start, text.length);
}

Input<JsonValue> JsonReader::read(std::string_view text, JsonOptions const& options) {
    if (text.size() >= text_in_arena) return InputError{400, {}, "malformed"};
    input_ = text;
    arena_.clear();
    nodes_.clear();
    auto& handler = parser_->sax.handler();
    handler.start(*this, options);
    parser_->sax.reset();
    json::error_code ec;
    std::size_t const used = parser_->sax.write_some(false, text.data(), text.size(), ec);
    // The parser stops at what it cannot take, or at the end of what is not complete.
    if (!ec && used != text.size()) handler.error = InputError{400, {}, "malformed"};
    if (ec || used != text.size()) {
        handler.error.more = ",\"offset\":" + std::to_string(used);
        return handler.error;
    }
    HOLDFAST_ASSERT(!nodes_.empty());
    if (handler.raw_token > 0) {
        JsonSpan const span = find_json_value(text, handler.raw_token);
        nodes_[handler.raw_node].text = {static_cast<std::uint32_t>(span.start),
                                         static_cast<std::uint32_t>(span.length)};
    }
    return JsonValue(*this, 0);
}

Input<JsonValue> JsonReader::read_object(std::string_view text, JsonOptions const& options) {
    Input<JsonValue> root = read(text, options);
    if (root && !root->is(JsonKind::object)) return InputError{422, {}, "not-an-object"};
    return root;
}

}  // namespace holdfast::api
