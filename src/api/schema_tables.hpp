// Schema tables: the members of a JSON schema as rows for people.
//
// Purpose: one table for each schema, with the members of objects within as `a.b` and `a[].b`; what
// has a name of its own is a link to it.
// Thread safety: pure. Invariants: a reference is a link and never followed, so no call goes deeper
// than the schema is nested, json_levels_max (api/html_text.hpp).
// Cost: linear in the schema. Knows the keywords of openapi.json.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace holdfast::api {

/// How the schemas of problems are named, with the problem's code behind it.
inline constexpr std::string_view problem_prefix = "problem-";

/// The id on the page of the schema of that name.
[[nodiscard]] std::string schema_id(std::string_view name);

/// A member of `object`, or nothing.
[[nodiscard]] boost::json::object const* child(boost::json::object const& object,
                                               std::string_view name);
/// Its text, or "".
[[nodiscard]] std::string_view text_of(boost::json::object const& object, std::string_view name);
/// Last part of its `$ref`, or "".
[[nodiscard]] std::string_view referred(boost::json::object const& object);
/// What it is: "integer, 1 to 16", "list of SeatName, 1 to 500 items".
void append_type(std::string& out, boost::json::object const& schema);
/// The table of its members, and what goes beside it; nothing if it has none.
void append_members_table(std::string& out, boost::json::object const& schema);

}  // namespace holdfast::api
