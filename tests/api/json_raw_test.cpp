// The one value of a body that is kept as text: a vendor's plan.
#include "tests/api/read_json.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace holdfast::api {
namespace {

std::string plan_of_depth(std::size_t depth) {
    return R"({"import":{"plan":)" + std::string(depth, '[') + std::string(depth, ']') + "}}";
}

}  // namespace

TEST_CASE("a raw value keeps its text, whatever stands around it", "[json][raw]") {
    std::string const plan = GENERATE(values<std::string>(
        {R"({"a":1,"a":2.5,"b":[{"x":-1e3}],"c":"}]\"\\"})", "[]", "{}", R"("a,b\n1,2")", "1.25",
         "null", "true", R"([ 1 , "[" , {"k" : "\u0041"} ] )"}));
    std::string const before = GENERATE(values<std::string>(
        {"", R"("name":"import \" { [","n":-1,)", R"("l":[1,[2],{"plan":3}],"plan":{"plan":1},)"}));
    std::string const text = "{" + before + R"("import": {"format":"pretix","plan" : )" + plan +
                             R"(,"prices":{"a":1}},"tail":[{"plan":9}]})";
    CAPTURE(text);
    JsonReader reader;
    auto const root = reader.read_object(text, with_plan);
    REQUIRE(root.has_value());
    auto const import = *root->find("import");
    CHECK(import.size() == 3);
    auto const value = *import.find("plan");
    CHECK(value.is(JsonKind::raw));
    auto const trimmed = plan.substr(0, plan.find_last_not_of(' ') + 1);
    CHECK(value.text() == trimmed);
    CHECK(import.find("prices")->find("a")->integer() == 1);
    CHECK((*root->find("tail")->begin()).find("plan")->integer() == 9);
}

TEST_CASE("only the named path is raw", "[json][raw]") {
    CHECK(code_of(R"({"plan":1.5})", with_plan).empty());
    JsonReader reader;
    for (auto const* text :
         {R"({"plan":{"a":1}})", R"({"import":[{"plan":{"a":1}}]})", R"({"imports":{"plan":{}}})",
          R"({"import":{"plans":{}}})", R"({"a":{"import":{"plan":{}}}})",
          R"({"import":{"pla":{}}})", R"({"import/plan":{}})", R"({"":{"import":{"plan":[]}}})"}) {
        CAPTURE(text);
        auto const root = reader.read_object(text, with_plan);
        REQUIRE(root.has_value());
        bool raw = false;
        for (auto const member : *root) {
            if (member.is(JsonKind::raw)) raw = true;
            for (auto const inner : member) raw = raw || inner.is(JsonKind::raw);
        }
        CHECK_FALSE(raw);
    }
}

TEST_CASE("inside a raw value other bounds hold", "[json][raw]") {
    CHECK(code_of(plan_of_depth(32), with_plan).empty());
    CHECK(code_of(plan_of_depth(33), with_plan) == "400 too-deep");
    CHECK(code_of(R"({"import":{"plan":[1e400]}})", with_plan) == "400 range");
    CHECK(code_of(R"({"import":{"plan":"\u0000"}})", with_plan) == "400 malformed");
    std::string const text = std::string(9'000, 'x');
    CHECK(code_of(R"({"import":{"plan":{")" + text + R"(":"\n)" + text + R"("}}})", with_plan)
              .empty());
    CHECK(code_of(R"({"import":{"plan":[1},"x":1})", with_plan) == "400 malformed");
    std::string keys = R"({"import":{"plan":{)";
    for (int i = 0; i < 300; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
    CHECK(code_of(keys + "\"z\":1}}}", with_plan).empty());
}

}  // namespace holdfast::api
