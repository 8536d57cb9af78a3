#include "api/conditional_reply.hpp"

#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace holdfast::api {
namespace {

/// Weak comparison of a line of If-None-Match with `tag` (RFC 9110, 13.1.2).
bool lists(std::string_view field, std::string_view tag) noexcept {
    auto const opaque = [](std::string_view text) {
        return text.starts_with("W/") ? text.substr(2) : text;
    };
    while (!field.empty()) {
        auto const comma = field.find(',');
        auto item = field.substr(0, comma);
        field = comma == std::string_view::npos ? std::string_view{} : field.substr(comma + 1);
        while (item.starts_with(' ') || item.starts_with('\t')) item.remove_prefix(1);
        while (item.ends_with(' ') || item.ends_with('\t')) item.remove_suffix(1);
        if (item == "*" || opaque(item) == opaque(tag)) return true;
    }
    return false;
}

/// The lines of the field are one list.
bool matches(http::Request const& request, std::string_view tag) noexcept {
    return std::any_of(request.fields.begin(), request.fields.end(),
                       [tag](http::Field const& line) {
                           return line.is("If-None-Match") && lists(line.value, tag);
                       });
}

/// ETag and Cache-Control. False: it is 304, without bytes.
bool needs_bytes(http::Request const& request, http::Reply& reply, std::string_view tag,
                 std::string_view cache_control) {
    reply.add_header("ETag", tag);
    reply.add_header("Cache-Control", cache_control);
    if (!matches(request, tag)) return true;
    reply.status = 304;
    return false;
}

}  // namespace

std::string entity_tag(std::string_view bytes) {
    // Two versions of one document meet in 64 bits by accident only; nobody gains by forging one.
    return fmt::format("\"{:016x}\"", std::hash<std::string_view>{}(bytes));
}

void answer_conditional(http::Request const& request, http::Reply& reply,
                        std::shared_ptr<TaggedBytes const> const& bytes,
                        std::string_view cache_control) {
    if (!needs_bytes(request, reply, bytes->tag, cache_control)) return;
    if (bytes->body.size() < limits::body_bytes_apart_min)
        reply.body = bytes->body;
    else
        reply.shared_body = {bytes, &bytes->body};
}

void make_conditional(http::Request const& request, http::Reply& reply,
                      std::string_view cache_control) {
    if (!needs_bytes(request, reply, entity_tag(reply.body), cache_control)) reply.body.clear();
}

void answer_constant(http::Request const& request, http::Reply& reply, ConstantBytes const& bytes,
                     std::string_view cache_control) {
    if (needs_bytes(request, reply, bytes.tag, cache_control)) reply.constant_body = bytes.body;
}

}  // namespace holdfast::api
