#include "api/html_text.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <boost/json/serialize.hpp>

namespace holdfast::api {
namespace {

constexpr std::size_t json_columns = 76;
constexpr std::size_t json_indent = 2;

/// Takes the part before `separator` off `text`.
std::string_view take_until(std::string_view& text, std::string_view separator) {
    std::size_t const end = std::min(text.find(separator), text.size());
    std::string_view const part = text.substr(0, end);
    text.remove_prefix(std::min(end + separator.size(), text.size()));
    return part;
}

template <class Container, class Member>
void append_members(std::string& out, Container const& members, std::size_t indent,
                    std::string_view brackets, Member append_member) {
    out += brackets[0];
    bool first = true;
    for (auto const& member : members) {
        out += first ? "\n" : ",\n";
        first = false;
        out.append(indent + json_indent, ' ');
        append_member(member);
    }
    out += '\n';
    out.append(indent, ' ');
    out += brackets[1];
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
    for (char const c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
}

void append_code(std::string& out, std::string_view text) {
    out += "<code>";
    append_escaped(out, text);
    out += "</code>";
}

void append_link(std::string& out, std::string_view id, std::string_view text) {
    out += "<a href=\"#";
    append_escaped(out, id);
    out += "\">";
    append_escaped(out, text);
    out += "</a>";
}

void append_line(std::string& out, std::string_view text) {
    for (bool code = false; !text.empty(); code = !code) {
        std::string_view const part = take_until(text, "`");
        if (code) {
            append_code(out, part);
        } else {
            append_escaped(out, part);
        }
    }
}

void append_prose(std::string& out, std::string_view text) {
    constexpr std::string_view bullet = "* ";
    while (!text.empty()) {
        std::string_view part = take_until(text, "\n\n");
        bool const list = part.starts_with(bullet);
        out += list ? "<ul>" : "<p>";
        while (list && !part.empty()) {
            out += "<li>";
            append_line(out, take_until(part, "\n").substr(bullet.size()));
            out += "</li>";
        }
        append_line(out, part);
        out += list ? "</ul>\n" : "</p>\n";
    }
}

void append_pretty(std::string& out, boost::json::value const& value, std::size_t indent) {
    HOLDFAST_ASSERT(indent <= json_levels_max * json_indent);
    std::string const flat = boost::json::serialize(value);
    if (flat.size() + indent <= json_columns || !value.is_structured()) {
        out += flat;
    } else if (auto const* const object = value.if_object()) {
        append_members(out, *object, indent, "{}", [&out, indent](auto const& member) {
            out += boost::json::serialize(member.key());
            out += ": ";
            append_pretty(out, member.value(), indent + json_indent);
        });
    } else {
        append_members(out, value.get_array(), indent, "[]", [&out, indent](auto const& item) {
            append_pretty(out, item, indent + json_indent);
        });
    }
}

}  // namespace holdfast::api
