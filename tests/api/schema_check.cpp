#include "tests/api/schema_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <regex>

namespace holdfast::test {
namespace {

namespace json = boost::json;

/// They say something to people only.
std::set<std::string_view> const notes{"description", "default", "examples", "contentEncoding"};

bool is_number(json::value const& value) {
    return value.is_int64() || value.is_uint64() || value.is_double();
}

bool has_type(std::string_view type, json::value const& value) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_bool();
    if (type == "null") return value.is_null();
    if (type == "number") return is_number(value);
    return type == "integer" && (value.is_int64() || value.is_uint64());
}

bool has_one_type(json::value const& types, json::value const& value) {
    if (types.is_string()) return has_type(types.get_string(), value);
    return std::ranges::any_of(types.as_array(), [&value](json::value const& type) {
        return has_type(type.as_string(), value);
    });
}

/// What a bound is about: a number, or the size of a string or array.
std::optional<double> measure(std::string_view bound, json::value const& value) {
    if (bound.ends_with("imum"))
        return is_number(value) ? std::optional(value.to_number<double>()) : std::nullopt;
    if (bound.ends_with("Length") && value.is_string()) return value.get_string().size();
    if (bound.ends_with("Items") && value.is_array()) return value.get_array().size();
    return std::nullopt;
}

/// Nothing: it is no keyword about a value alone.
std::optional<bool> holds(std::string_view name, json::value const& argument,
                          json::value const& value) {
    if (name == "type") return has_one_type(argument, value);
    if (name == "const") return value == argument;
    if (name == "enum")
        return std::ranges::find(argument.as_array(), value) != argument.as_array().end();
    if (name == "pattern" && value.is_string()) {
        static std::map<std::string, std::regex> patterns;
        std::string const pattern(argument.as_string());
        auto const& made = patterns.try_emplace(pattern, pattern).first->second;
        return std::regex_search(std::string(value.get_string()), made);
    }
    if (name == "format" && value.is_string()) {
        static std::regex const time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))");
        return argument == "date-time" && std::regex_match(std::string(value.get_string()), time);
    }
    if (name == "pattern" || name == "format") return true;
    bool const lower = name.starts_with("min");
    if (!lower && !name.starts_with("max")) return std::nullopt;
    auto const measured = measure(name, value);
    if (!measured) return true;
    auto const bound = argument.to_number<double>();
    return lower ? *measured >= bound : *measured <= bound;
}

void add(std::vector<std::string>& to, std::vector<std::string> const& more) {
    to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

json::object const& SchemaCheck::target_of(json::value const& reference) const {
    std::string_view const target = reference.as_string();
    return document_.at_pointer(target.substr(1)).as_object();
}

json::object const& SchemaCheck::resolve(json::value const& value) const {
    auto const* const target = value.as_object().if_contains("$ref");
    return target == nullptr ? value.get_object() : target_of(*target);
}

void SchemaCheck::flatten(json::value const& schema, std::vector<json::object const*>& flat) const {
    auto const& own = schema.as_object();
    flat.push_back(&own);
    if (auto const* const target = own.if_contains("$ref"))
        flatten(document_.at_pointer(std::string_view(target->as_string()).substr(1)), flat);
    for (std::string_view const branches : {"allOf", "oneOf", "anyOf"})
        if (auto const* const list = own.if_contains(branches))
            for (json::value const& branch : list->as_array()) flatten(branch, flat);
}

std::vector<std::string> SchemaCheck::faults(json::value const& schema, json::value const& value,
                                             bool told) const {
    Verdict verdict;
    child(schema, {value, "", told}, verdict);
    return verdict.faults;
}

void SchemaCheck::child(json::value const& schema, Place const& place, Verdict& verdict) const {
    Verdict own = apply(schema.as_object(), place);
    add(verdict.faults, own.faults);
    if (!place.told || !place.value.is_object()) return;
    for (auto const& [name, member] : place.value.get_object())
        if (!own.known.contains(std::string_view(name)))
            verdict.faults.push_back(place.at + "/" + std::string(std::string_view(name)) +
                                     ": in no schema");
}

SchemaCheck::Verdict SchemaCheck::apply(json::object const& schema, Place const& place) const {
    Verdict verdict;
    for (auto const& [name, argument] : schema)
        if (name != "unevaluatedProperties") keyword(name, schema, place, verdict);
    if (auto const* const rest = schema.if_contains("unevaluatedProperties")) {
        if (*rest != false) verdict.faults.push_back(place.at + ": unevaluatedProperties");
        auto const* const object = place.value.if_object();
        for (auto const& [name, member] : object != nullptr ? *object : json::object{})
            if (!verdict.known.contains(std::string_view(name)))
                verdict.faults.push_back(place.at + "/" + std::string(std::string_view(name)) +
                                         ": not allowed");
    }
    return verdict;
}

void SchemaCheck::keyword(std::string_view name, json::object const& schema, Place const& place,
                          Verdict& verdict) const {
    json::value const& argument = schema.at(name);
    if (notes.contains(name)) return;
    if (auto const good = holds(name, argument, place.value)) {
        if (!*good)
            verdict.faults.push_back(place.at + ": " + std::string(name) + " " +
                                     json::serialize(argument));
        return;
    }
    if (combined(name, argument, place, verdict)) return;
    if (members(name, schema, place, verdict)) return;
    verdict.faults.push_back(place.at + ": the keyword " + std::string(name) + " is not known");
}

bool SchemaCheck::combined(std::string_view name, json::value const& argument, Place const& place,
                           Verdict& verdict) const {
    if (name == "$ref") {
        Verdict const there = apply(target_of(argument), place);
        add(verdict.faults, there.faults);
        verdict.known.insert(there.known.begin(), there.known.end());
        return true;
    }
    bool const all = name == "allOf";
    if (!all && name != "oneOf" && name != "anyOf") return false;
    std::size_t fitting = 0;
    std::vector<std::string> whys;
    for (json::value const& branch : argument.as_array()) {
        Verdict const one = apply(branch.as_object(), place);
        add(whys, one.faults);
        if (!one.faults.empty()) continue;
        ++fitting;
        verdict.known.insert(one.known.begin(), one.known.end());
    }
    bool const good = all ? whys.empty() : name == "oneOf" ? fitting == 1 : fitting > 0;
    if (good) return true;
    verdict.faults.push_back(place.at + ": fits " + std::to_string(fitting) + " of " +
                             std::string(name));
    add(verdict.faults, whys);
    return true;
}

bool SchemaCheck::members(std::string_view name, json::object const& schema, Place const& place,
                          Verdict& verdict) const {
    json::value const& argument = schema.at(name);
    auto const* const object = place.value.if_object();
    auto const at = [&place](std::string_view member) {
        return place.at + "/" + std::string(member);
    };
    if (name == "items") {
        auto const* const array = place.value.if_array();
        for (std::size_t i = 0; array != nullptr && i < array->size(); ++i)
            child(argument, {(*array)[i], at(std::to_string(i)), place.told}, verdict);
        return true;
    }
    if (name == "required") {
        for (json::value const& needed : argument.as_array())
            if (object != nullptr && !object->contains(needed.as_string()))
                verdict.faults.push_back(at(needed.as_string()) + ": missing");
        return true;
    }
    if (name == "dependentRequired") {
        for (auto const& [one, others] : argument.as_object())
            for (json::value const& other : others.as_array())
                if (object != nullptr && object->contains(one) &&
                    !object->contains(other.as_string()))
                    verdict.faults.push_back(at(other.as_string()) + ": missing");
        return true;
    }
    bool const rest = name == "additionalProperties";
    if (!rest && name != "properties") return false;
    auto const* const named = schema.if_contains("properties");
    for (auto const& [key, value] : object != nullptr ? *object : json::object{}) {
        bool const has_name = named != nullptr && named->as_object().contains(key);
        if (has_name == rest) continue;
        verdict.known.emplace(std::string_view(key));
        if (argument.is_bool()) {
            verdict.faults.push_back(at(key) + ": not allowed");
        } else {
            child(rest ? argument : argument.at(key), {value, at(key), place.told}, verdict);
        }
    }
    return true;
}

}  // namespace holdfast::test
