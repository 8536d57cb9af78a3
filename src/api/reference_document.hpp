// Reference document: openapi.json, parsed, and the ways into it that the page needs.
//
// Thread safety: immutable. Invariants: it is nested at most json_levels_max deep.
// Cost: the constructor parses the text; it throws if that is not a document of ours.
#pragma once

#include "api/html_text.hpp"
#include "api/schema_tables.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <string_view>

namespace holdfast::api {

class ReferenceDocument {
public:
    explicit ReferenceDocument(std::string_view text);

    [[nodiscard]] boost::json::object const& root() const { return root_.get_object(); }
    [[nodiscard]] boost::json::object const& components(std::string_view kind) const {
        return root().at("components").as_object().at(kind).as_object();
    }
    /// `value`, or what its `$ref` points to.
    [[nodiscard]] boost::json::object const& resolve(boost::json::value const& value) const {
        boost::json::object const& object = value.as_object();
        if (referred(object).empty()) return object;
        std::string_view const target = text_of(object, "$ref");
        return root_.at_pointer(target.substr(1)).as_object();
    }

private:
    boost::json::value root_;
};

}  // namespace holdfast::api
