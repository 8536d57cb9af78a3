// SchemaCheck finds what does not fit: all that is said of openapi.json rests on it.
#include "tests/api/schema_check.hpp"

#include "tests/api/openapi_document.hpp"

namespace holdfast::test {
namespace {

namespace json = boost::json;

struct SchemaCase {
    char const* schema;
    char const* value;
    char const* faults;  // "" if it fits
};

json::value const& little_document() {
    static json::value const document =
        json::parse(R"({"Id":{"type":"string","maxLength":2},)"
                    R"("Named":{"properties":{"a":{"type":"integer"}},"required":["a"]}})");
    return document;
}

std::string faults_of(SchemaCase const& one, bool told) {
    SchemaCheck const check(little_document());
    return lines(check.faults(json::parse(one.schema), json::parse(one.value), told));
}

}  // namespace

TEST_CASE("a value fits a schema by each of its keywords, or a fault says which", "[schema]") {
    for (SchemaCase const& one : std::initializer_list<SchemaCase>{
             {R"({})", R"({"a":[1]})", ""},
             {R"({"description":"x","default":1,"examples":[2]})", "3", ""},
             {R"({"type":"integer"})", "1", ""},
             {R"({"type":"integer"})", "1.5", ": type \"integer\"\n"},
             {R"({"type":"integer"})", "\"1\"", ": type \"integer\"\n"},
             {R"({"type":"number"})", "1.5", ""},
             {R"({"type":"number"})", "true", ": type \"number\"\n"},
             {R"({"type":["string","null"]})", "null", ""},
             {R"({"type":["string","null"]})", "1", ": type [\"string\",\"null\"]\n"},
             {R"({"type":"object"})", "[]", ": type \"object\"\n"},
             {R"({"type":"array"})", "{}", ": type \"array\"\n"},
             {R"({"type":"boolean"})", "0", ": type \"boolean\"\n"},
             {R"({"const":true})", "true", ""},
             {R"({"const":true})", "1", ": const true\n"},
             {R"({"enum":["a","b"]})", "\"b\"", ""},
             {R"({"enum":["a","b"]})", "\"c\"", ": enum [\"a\",\"b\"]\n"},
             {R"({"minimum":2,"maximum":3})", "2", ""},
             {R"({"minimum":2,"maximum":3})", "3", ""},
             {R"({"minimum":2,"maximum":3})", "1", ": minimum 2\n"},
             {R"({"minimum":2,"maximum":3})", "4", ": maximum 3\n"},
             {R"({"minimum":2})", "\"\"", ""},
             {R"({"minLength":1,"maxLength":2})", "\"ab\"", ""},
             {R"({"minLength":1,"maxLength":2})", "\"\"", ": minLength 1\n"},
             {R"({"minLength":1,"maxLength":2})", "\"abc\"", ": maxLength 2\n"},
             {R"({"minItems":1,"maxItems":2})", "[0,0]", ""},
             {R"({"minItems":1,"maxItems":2})", "[]", ": minItems 1\n"},
             {R"({"minItems":1,"maxItems":2})", "[0,0,0]", ": maxItems 2\n"},
             {R"({"pattern":"^a+$"})", "\"aa\"", ""},
             {R"({"pattern":"^a+$"})", "\"ab\"", ": pattern \"^a+$\"\n"},
             {R"({"format":"date-time"})", "\"2027-05-01T20:00:00.000+02:00\"", ""},
             {R"({"format":"date-time"})", "\"2027-05-01 20:00\"", ": format \"date-time\"\n"},
             {R"({"format":"uri"})", "\"a\"", ": format \"uri\"\n"},
             {R"({"multipleOf":2})", "3", ": the keyword multipleOf is not known\n"},
         }) {
        CAPTURE(one.schema, one.value);
        CHECK(faults_of(one, false) == one.faults);
    }
}

TEST_CASE("members and items fit their schemas, and surplus ones only where they may stand",
          "[schema]") {
    for (SchemaCase const& one : std::initializer_list<SchemaCase>{
             {R"({"items":{"type":"integer"}})", "[1,2]", ""},
             {R"({"items":{"type":"integer"}})", "[1,[],2]", "/1: type \"integer\"\n"},
             {R"({"required":["a"]})", R"({"a":null})", ""},
             {R"({"required":["a"]})", R"({"b":1})", "/a: missing\n"},
             {R"({"required":["a"]})", "1", ""},
             {R"({"properties":{"a":{"type":"integer"}}})", R"({"a":"x"})",
              "/a: type \"integer\"\n"},
             {R"({"properties":{"a":{"items":{"const":1}}}})", R"({"a":[1,2]})", "/a/1: const 1\n"},
             {R"({"properties":{"a":{}},"additionalProperties":false})", R"({"a":1})", ""},
             {R"({"properties":{"a":{}},"additionalProperties":false})", R"({"a":1,"b":2})",
              "/b: not allowed\n"},
             {R"({"additionalProperties":{"type":"integer"}})", R"({"a":1,"b":"x"})",
              "/b: type \"integer\"\n"},
             {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1,"b":1})", ""},
             {R"({"dependentRequired":{"a":["b"]}})", R"({"b":1})", ""},
             {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})", "/b: missing\n"},
             {R"({"unevaluatedProperties":false,"properties":{"a":{}}})", R"({"a":1,"b":2})",
              "/b: not allowed\n"},
             {R"({"unevaluatedProperties":true})", "{}", ": unevaluatedProperties\n"},
         }) {
        CAPTURE(one.schema, one.value);
        CHECK(faults_of(one, false) == one.faults);
    }
}

TEST_CASE("schemas combine", "[schema]") {
    for (SchemaCase const& one : std::initializer_list<SchemaCase>{
             {R"({"$ref":"#/Id"})", "\"ab\"", ""},
             {R"({"$ref":"#/Id"})", "\"abc\"", ": maxLength 2\n"},
             {R"({"$ref":"#/Id","minLength":2})", "\"a\"", ": minLength 2\n"},
             {R"({"allOf":[{"$ref":"#/Named"}],"required":["b"]})", R"({"a":1,"b":2})", ""},
             {R"({"allOf":[{"$ref":"#/Named"},{"minimum":2}]})", "{}",
              ": fits 1 of allOf\n/a: missing\n"},
             {R"({"oneOf":[{"required":["a"]},{"required":["b"]}]})", R"({"a":1})", ""},
             {R"({"oneOf":[{"required":["a"]},{"required":["b"]}]})", R"({"a":1,"b":1})",
              ": fits 2 of oneOf\n"},
             {R"({"oneOf":[{"required":["a"]},{"required":["b"]}]})", "{}",
              ": fits 0 of oneOf\n/a: missing\n/b: missing\n"},
             {R"({"anyOf":[{"type":"integer"},{"minimum":1}]})", "2", ""},
             {R"({"anyOf":[{"type":"string"},{"minimum":1}]})", "0",
              ": fits 0 of anyOf\n: type \"string\"\n: minimum 1\n"},
             {R"({"oneOf":[{"$ref":"#/Named"}],"unevaluatedProperties":false})", R"({"a":1})", ""},
             {R"({"oneOf":[{"$ref":"#/Named"}],"unevaluatedProperties":false})", R"({"a":1,"b":1})",
              "/b: not allowed\n"},
         }) {
        CAPTURE(one.schema, one.value);
        CHECK(faults_of(one, false) == one.faults);
    }
}

TEST_CASE("of an answer every member is told by some schema", "[schema]") {
    for (SchemaCase const& one : std::initializer_list<SchemaCase>{
             {R"({"$ref":"#/Named"})", R"({"a":1})", ""},
             {R"({"$ref":"#/Named"})", R"({"a":1,"b":2})", "/b: in no schema\n"},
             {R"({"allOf":[{"$ref":"#/Named"}],"properties":{"b":{}}})", R"({"a":1,"b":2})", ""},
             {R"({"properties":{"a":{"$ref":"#/Named"}}})", R"({"a":{"a":1,"c":2}})",
              "/a/c: in no schema\n"},
             {R"({"items":{"properties":{}}})", R"([{"c":2}])", "/0/c: in no schema\n"},
             // What is told by a branch that does not fit is not told.
             {R"({"anyOf":[{"$ref":"#/Named"},{"properties":{"b":{"const":1}}}]})",
              R"({"a":1,"b":2})", "/b: in no schema\n"},
         }) {
        CAPTURE(one.schema, one.value);
        CHECK(faults_of(one, true) == one.faults);
    }
}

}  // namespace holdfast::test
