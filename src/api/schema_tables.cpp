#include "api/schema_tables.hpp"

#include "api/html_text.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace holdfast::api {
namespace {

namespace json = boost::json;

std::string number_at(json::object const& schema, std::string_view name) {
    auto const* const value = schema.if_contains(name);
    return value == nullptr ? std::string{} : json::serialize(*value);
}

/// ", 1 to 255 bytes" of the bounds that there are.
void append_bounds(std::string& out, json::object const& schema, std::string_view lower,
                   std::string_view upper, std::string_view unit) {
    std::string const least = number_at(schema, lower);
    std::string const most = number_at(schema, upper);
    if (least.empty() && most.empty()) return;
    out += ", ";
    if (most.empty()) out += "at least ";
    if (least.empty()) out += "at most ";
    out += least;
    if (!least.empty() && !most.empty()) out += " to ";
    out.append(most).append(unit);
}

void append_words(std::string& out, json::array const& words) {
    for (bool first = true; json::value const& word : words) {
        if (!first) out += " or ";
        first = false;
        append_code(out, word.is_string() ? std::string_view(word.get_string())
                                          : std::string_view(json::serialize(word)));
    }
}

/// The schemas of anyOf and oneOf that are no mere lists of required members.
void append_choices(std::string& out, json::array const& choices) {
    for (bool first = true; json::value const& choice : choices) {
        if (!first) out += " or ";
        first = false;
        append_type(out, choice.as_object());
    }
}

void append_kind(std::string& out, json::value const& type, json::object const& schema) {
    if (auto const* const types = type.if_array()) {
        for (std::size_t i = 0; i < types->size(); ++i) {
            if (i > 0) out += " or ";
            append_escaped(out, std::string_view((*types)[i].as_string()));
        }
        return;
    }
    std::string_view const name = type.as_string();
    if (name != "array") return append_escaped(out, name);
    out += "list of ";
    append_type(out, schema.at("items").as_object());
}

/// An object whose members stand in the table of what it is in.
json::object const* inline_object(json::object const& schema) {
    if (!referred(schema).empty()) return nullptr;
    if (text_of(schema, "type") == "array") return inline_object(schema.at("items").as_object());
    return child(schema, "properties") == nullptr ? nullptr : &schema;
}

bool is_required(json::object const& schema, std::string_view name) {
    auto const* const required = schema.if_contains("required");
    if (required == nullptr) return false;
    return std::ranges::any_of(required->get_array(), [name](json::value const& one) {
        return std::string_view(one.as_string()) == name;
    });
}

void append_rows(std::string& out, json::object const& schema, std::string const& prefix);

void append_row(std::string& out, json::object const& schema, bool required,
                std::string const& name) {
    out += "<tr><td>";
    append_code(out, name);
    out += required ? "</td><td>yes</td><td>" : "</td><td></td><td>";
    append_type(out, schema);
    out += "</td><td>";
    append_line(out, text_of(schema, "description"));
    if (auto const* const standard = schema.if_contains("default")) {
        out += " Default: ";
        append_code(out, json::serialize(*standard));
        out += '.';
    }
    out += "</td></tr>\n";
    auto const* const within = inline_object(schema);
    if (within == nullptr) return;
    bool const list = text_of(schema, "type") == "array";
    append_rows(out, *within, name + (list ? "[]." : "."));
}

void append_rows(std::string& out, json::object const& schema, std::string const& prefix) {
    auto const* const members = child(schema, "properties");
    if (members == nullptr) return;
    for (auto const& [name, member] : *members)
        append_row(out, member.as_object(), is_required(schema, name),
                   prefix + std::string(std::string_view(name)));
}

/// "Exactly one of …": links, members of unnamed objects, or sets of members.
void append_one_of(std::string& out, json::array const& choices) {
    out += "<p>Exactly one of: ";
    for (bool first = true; json::value const& choice : choices) {
        if (!first) out += "; ";
        first = false;
        json::object const& schema = choice.as_object();
        auto const* const required = schema.if_contains("required");
        if (!referred(schema).empty() || required == nullptr) {
            append_type(out, schema);
            continue;
        }
        for (std::size_t i = 0; i < required->get_array().size(); ++i) {
            if (i > 0) out += " and ";
            append_code(out, std::string_view(required->get_array()[i].as_string()));
        }
    }
    out += ".</p>\n";
}

}  // namespace

std::string schema_id(std::string_view name) {
    return "schema-" + std::string(name);
}

json::object const* child(json::object const& object, std::string_view name) {
    auto const* const value = object.if_contains(name);
    return value == nullptr ? nullptr : value->if_object();
}

std::string_view text_of(json::object const& object, std::string_view name) {
    auto const* const value = object.if_contains(name);
    auto const* const text = value == nullptr ? nullptr : value->if_string();
    return text == nullptr ? std::string_view{} : std::string_view(*text);
}

std::string_view referred(json::object const& object) {
    std::string_view const target = text_of(object, "$ref");
    return target.substr(target.rfind('/') + 1);
}

void append_type(std::string& out, json::object const& schema) {
    if (std::string_view const name = referred(schema); !name.empty()) {
        append_link(out, schema_id(name),
                    name.starts_with(problem_prefix) ? name.substr(problem_prefix.size()) : name);
    } else if (auto const* const words = schema.if_contains("enum")) {
        append_words(out, words->get_array());
    } else if (auto const* const constant = schema.if_contains("const")) {
        append_words(out, {*constant});
    } else if (auto const* const type = schema.if_contains("type")) {
        append_kind(out, *type, schema);
    } else if (auto const* const some = schema.if_contains("anyOf")) {
        append_choices(out, some->get_array());
    } else if (auto const* const one = schema.if_contains("oneOf")) {
        append_choices(out, one->get_array());
    } else {
        out += "any JSON";
    }
    append_bounds(out, schema, "minimum", "maximum", "");
    append_bounds(out, schema, "minLength", "maxLength", " bytes");
    append_bounds(out, schema, "minItems", "maxItems", " items");
    if (auto const format = text_of(schema, "format"); !format.empty()) {
        out += ", ";
        append_escaped(out, format);
    }
    if (auto const pattern = text_of(schema, "pattern"); !pattern.empty()) {
        out += ", ";
        append_code(out, pattern);
    }
    if (auto const* const values = child(schema, "additionalProperties")) {
        out += ", each member ";
        append_type(out, *values);
    }
}

void append_members_table(std::string& out, json::object const& schema) {
    if (auto const* const all = schema.if_contains("allOf")) {
        out += "<p>All of ";
        append_choices(out, all->get_array());
        out += ", and:</p>\n";
    }
    auto const* const one = schema.if_contains("oneOf");
    std::string rows;
    append_rows(rows, schema, "");
    for (json::value const& choice : one == nullptr ? json::array{} : one->get_array())
        append_rows(rows, choice.as_object(), "");
    if (!rows.empty()) {
        out +=
            "<table><thead><tr><th>member</th><th>needed</th><th>what</th><th></th></tr></thead>"
            "<tbody>\n";
        out.append(rows).append("</tbody></table>\n");
    }
    if (one != nullptr) append_one_of(out, one->get_array());
}

}  // namespace holdfast::api
