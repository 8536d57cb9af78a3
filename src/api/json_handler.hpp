// JSON handler: what the SAX parser calls while JsonReader::read() runs.
//
// Purpose: builds the reader's nodes and refuses what our rules forbid. Only json_reader.cpp
// includes it: it brings in Boost.JSON's parser with all its templates.
// Thread safety: one thread. Cost: constant a value; a key is compared with the others of its
// object only if a small filter does not rule a twin out.
#pragma once

#include "api/json_reader.hpp"

#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <cmath>
#include <string>
#include <utility>

namespace holdfast::api {
namespace json = boost::json;

inline constexpr std::uint32_t text_in_arena = 0x8000'0000U;

struct JsonReader::Parser {
    static constexpr std::size_t off_path = std::string_view::npos;

    /// A small hash: it only spares comparisons of keys.
    static std::uint64_t key_bit(std::string_view key) noexcept {
        std::uint32_t hash = 2'166'136'261U;
        for (char const c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
        return std::uint64_t{1} << (hash >> 26);
    }

    struct Frame {
        std::uint32_t node{};
        std::uint64_t keys_seen{};       // bloom filter of its keys
        std::size_t raw_matched{};       // bytes of raw_path that lead here, or off_path
        std::size_t next_raw_matched{};  // the same for the value of the newest key
    };

    struct Handler {
        // Bounds that differ inside a raw value are checked by the handler itself.
        static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
        static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
        static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
        static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);

        JsonReader* reader{};
        JsonOptions options;
        std::array<Frame, JsonLimits::depth_max> frames{};
        std::size_t depth{};
        std::size_t raw_depth{};  // containers open inside the raw value
        bool in_raw{};
        std::uint64_t tokens{};  // keys and values so far
        std::uint64_t raw_token{};
        std::uint32_t raw_node{};
        Text key;
        std::uint32_t partial_start{};  // arena offset of a string that comes in parts
        bool partial{};
        bool number_has_fraction{};
        InputError error;

        void start(JsonReader& owner, JsonOptions const& given) {
            reader = &owner;
            options = given;
            depth = raw_depth = 0;
            in_raw = partial = number_has_fraction = false;
            tokens = raw_token = 0;
            raw_node = 0;
            key = {};
            error = InputError{400, {}, "malformed"};
        }

        bool fail(json::error_code& ec, std::string_view code, std::string pointer = {}) {
            error = InputError{400, std::move(pointer), code};
            ec = json::error::syntax;
            return false;
        }

        /// Counts the coming value; makes its node unless it lies inside a raw value.
        bool begin_value(json::error_code& ec, JsonKind kind) {
            ++tokens;
            if (in_raw) return true;
            auto& nodes = reader->nodes_;
            if (nodes.size() >= options.values_max) return fail(ec, "too-many-values");
            auto const index = static_cast<std::uint32_t>(nodes.size());
            bool const raw = !options.raw_path.empty() && depth > 0 &&
                             frames[depth - 1].next_raw_matched == options.raw_path.size();
            Node node;
            node.kind = raw ? JsonKind::raw : kind;
            node.end = index + 1;
            node.key = key;
            nodes.push_back(node);
            key = {};
            if (depth > 0) ++nodes[frames[depth - 1].node].size;
            if (raw) {
                in_raw = true;
                raw_token = tokens - 1;
                raw_node = index;
            }
            return true;
        }
        void end_value() {
            if (in_raw && raw_depth == 0) {
                in_raw = false;
                if (depth > 0) frames[depth - 1].next_raw_matched = off_path;
            }
        }
        Node& newest() { return reader->nodes_.back(); }

        bool open(json::error_code& ec, JsonKind kind) {
            if (!begin_value(ec, kind)) return false;
            if (in_raw) {
                if (raw_depth == JsonLimits::raw_depth_max) return fail(ec, "too-deep");
                ++raw_depth;
                return true;
            }
            if (depth == JsonLimits::depth_max) return fail(ec, "too-deep");
            std::size_t matched = depth == 0 ? 0 : frames[depth - 1].next_raw_matched;
            if (kind == JsonKind::array) matched = off_path;
            auto const node = static_cast<std::uint32_t>(reader->nodes_.size() - 1);
            frames[depth] = Frame{node, 0, matched, off_path};
            ++depth;
            return true;
        }
        bool close() {
            if (in_raw) {
                --raw_depth;
                end_value();
                return true;
            }
            --depth;
            auto& nodes = reader->nodes_;
            nodes[frames[depth].node].end = static_cast<std::uint32_t>(nodes.size());
            return true;
        }

        bool on_document_begin(json::error_code&) { return true; }
        bool on_document_end(json::error_code&) { return true; }
        bool on_array_begin(json::error_code& ec) { return open(ec, JsonKind::array); }
        bool on_array_end(std::size_t, json::error_code&) { return close(); }
        bool on_object_begin(json::error_code& ec) { return open(ec, JsonKind::object); }
        bool on_object_end(std::size_t, json::error_code&) { return close(); }

        bool add_part(std::string_view part, std::size_t total, json::error_code& ec) {
            // A NUL can only come from an escape: bare control characters are refused before.
            if (part.find('\0') != std::string_view::npos) return fail(ec, "malformed");
            if (in_raw) return true;
            if (total > JsonLimits::string_bytes_max) return fail(ec, "string-too-long");
            if (!partial) partial_start = static_cast<std::uint32_t>(reader->arena_.size());
            partial = true;
            reader->arena_.append(part);
            return true;
        }
        /// The whole string: where it stands in the input if it came in one piece, else copied.
        bool finish_string(std::string_view part, std::size_t total, Text& text,
                           json::error_code& ec) {
            std::string_view const input = reader->input_;
            bool const inside = !partial && part.data() >= input.data() &&
                                part.data() + part.size() <= input.data() + input.size();
            if (inside) {
                if (!in_raw && total > JsonLimits::string_bytes_max) {
                    return fail(ec, "string-too-long");
                }
                text = {static_cast<std::uint32_t>(part.data() - input.data()),
                        static_cast<std::uint32_t>(part.size())};
                return true;
            }
            if (!add_part(part, total, ec)) return false;
            text = {partial_start | text_in_arena, static_cast<std::uint32_t>(total)};
            partial = false;
            return true;
        }
        bool on_string_part(json::string_view part, std::size_t total, json::error_code& ec) {
            return add_part({part.data(), part.size()}, total, ec);
        }
        bool on_string(json::string_view part, std::size_t total, json::error_code& ec) {
            Text text;
            if (!finish_string({part.data(), part.size()}, total, text, ec)) return false;
            if (!begin_value(ec, JsonKind::string)) return false;
            if (!in_raw) newest().text = text;
            end_value();
            return true;
        }
        bool on_key_part(json::string_view part, std::size_t total, json::error_code& ec) {
            return add_part({part.data(), part.size()}, total, ec);
        }
        bool on_key(json::string_view part, std::size_t total, json::error_code& ec) {
            ++tokens;
            Text text;
            if (!finish_string({part.data(), part.size()}, total, text, ec)) return false;
            if (in_raw) return true;
            key = text;
            Frame& frame = frames[depth - 1];
            std::string_view const name = reader->view(text);
            if (reader->nodes_[frame.node].size == JsonLimits::keys_max) {
                return fail(ec, "too-many-keys");
            }
            std::uint64_t const bit = key_bit(name);
            if ((frame.keys_seen & bit) != 0) {
                reader->nodes_[frame.node].end = static_cast<std::uint32_t>(reader->nodes_.size());
                if (auto const twin = JsonValue(*reader, frame.node).find(name)) {
                    return fail(ec, "duplicate-key", close_and_point(*twin));
                }
            }
            frame.keys_seen |= bit;
            follow_raw_path(frame, name);
            return true;
        }
        /// pointer() needs every open container to know where it ends.
        std::string close_and_point(JsonValue value) {
            auto& nodes = reader->nodes_;
            for (std::size_t i = 0; i < depth; ++i) {
                nodes[frames[i].node].end = static_cast<std::uint32_t>(nodes.size());
            }
            return value.pointer();
        }
        void follow_raw_path(Frame& frame, std::string_view name) const {
            frame.next_raw_matched = off_path;
            if (frame.raw_matched == off_path || name.find('/') != off_path) return;
            std::string_view const rest = options.raw_path.substr(frame.raw_matched);
            if (rest.size() <= name.size() || rest.front() != '/') return;
            if (rest.substr(1, name.size()) != name) return;
            if (rest.size() > name.size() + 1 && rest[name.size() + 1] != '/') return;
            frame.next_raw_matched = frame.raw_matched + 1 + name.size();
        }

        void look_for_fraction(json::string_view part) {
            for (char const c : part) {
                if (c == '.' || c == 'e' || c == 'E') number_has_fraction = true;
            }
        }
        bool on_number_part(json::string_view part, json::error_code&) {
            look_for_fraction(part);
            return true;
        }
        bool add_number(JsonKind kind, std::int64_t value, json::error_code& ec) {
            number_has_fraction = false;
            if (!begin_value(ec, kind)) return false;
            if (!in_raw) newest().number = value;
            end_value();
            return true;
        }
        bool on_int64(std::int64_t value, json::string_view, json::error_code& ec) {
            return add_number(JsonKind::integer, value, ec);
        }
        bool on_uint64(std::uint64_t, json::string_view, json::error_code& ec) {
            return add_number(JsonKind::out_of_range, 0, ec);
        }
        bool on_double(double value, json::string_view part, json::error_code& ec) {
            look_for_fraction(part);
            bool const finite = std::isfinite(value);
            if (in_raw && !finite) return fail(ec, "range");
            bool const fraction = finite && number_has_fraction;
            return add_number(fraction ? JsonKind::fraction : JsonKind::out_of_range, 0, ec);
        }
        bool on_bool(bool value, json::error_code& ec) {
            return add_number(JsonKind::boolean, value ? 1 : 0, ec);
        }
        bool on_null(json::error_code& ec) { return add_number(JsonKind::null, 0, ec); }
        bool on_comment_part(json::string_view, json::error_code&) { return true; }
        bool on_comment(json::string_view, json::error_code&) { return true; }
    };

    static json::parse_options parse_options() {
        json::parse_options options;
        // Over what the handler allows, so that the handler's own code is the answer.
        options.max_depth = JsonLimits::depth_max + JsonLimits::raw_depth_max + 2;
        return options;
    }

    json::basic_parser<Handler> sax{parse_options()};
};

}  // namespace holdfast::api
