#include "api/json_decoder.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace holdfast::api {
namespace {

/// The error of decoding {"qty": …} as an integer 1 … 10, "" if there is none.
std::string quantity_error(std::string_view value) {
    JsonReader reader;
    std::string const text = "{\"qty\":" + std::string(value) + "}";
    auto const root = reader.read_object(text);
    if (!root) return std::string(root.error().code);
    DecodeState state;
    ObjectDecoder body(*root, state);
    auto const quantity = body.integer("qty", {1, 10});
    body.finish();
    if (!state.failed()) return quantity >= 1 ? "" : "wrong value";
    CHECK(state.error().status == 422);
    CHECK(state.error().pointer == "/qty");
    return std::string(state.error().code);
}

}  // namespace

TEST_CASE("a wrong kind of number is `type`, a wrong value `range`", "[json][B6][B7]") {
    for (auto const* value : {"1.0", "1e0", "\"1\"", "true", "null", "[1]", "{}"}) {
        CAPTURE(value);
        CHECK(quantity_error(value) == "type");
    }
    for (auto const* value : {"0", "-1", "11", "2147483648", "4294967297", "9223372036854775808",
                              "18446744073709551616", "1e400", "-9223372036854775808"}) {
        CAPTURE(value);
        CHECK(quantity_error(value) == "range");
    }
    CHECK(quantity_error(std::string(1'000'000, '1')) == "range");
    CHECK(quantity_error("1").empty());
    CHECK(quantity_error("10").empty());
}

TEST_CASE("fields nobody asked for are named", "[json][B11]") {
    JsonReader reader;
    auto const root = reader.read_object(R"({"a":1,"nested":{"b":1,"price":2}})");
    REQUIRE(root.has_value());
    DecodeState state;
    ObjectDecoder body(*root, state);
    CHECK(body.integer("a", {0, 5}) == 1);
    ObjectDecoder inner(*body.take("nested"), state);
    CHECK(inner.optional_integer("b", {0, 5}) == 1);
    CHECK_FALSE(inner.optional_integer("absent", {0, 5}));
    inner.finish();
    body.finish();
    REQUIRE(state.failed());
    CHECK(state.error().pointer == "/nested/price");
    CHECK(state.error().code == "unknown-field");
}

TEST_CASE("the first error wins and what follows is harmless", "[json]") {
    JsonReader reader;
    auto const root = reader.read_object(R"({"a":"x","b":2,"c":[1],"d":true,"e":""})");
    REQUIRE(root.has_value());
    DecodeState state;
    ObjectDecoder body(*root, state);
    CHECK(body.integer("missing", {3, 5}) == 3);
    CHECK(body.text("a", 10).empty());
    CHECK_FALSE(body.take("b"));
    body.finish();
    CHECK(state.error().pointer == "/missing");
    CHECK(state.error().code == "required");
}

TEST_CASE("texts, booleans, arrays and nulls are checked", "[json]") {
    JsonReader reader;
    auto const root =
        reader.read_object(R"({"a":"xyz","e":"","t":true,"l":[1,2],"n":null,"o":{}})");
    REQUIRE(root.has_value());
    auto const error_of = [&root](auto&& decode) {
        DecodeState state;
        ObjectDecoder body(*root, state);
        decode(body, state);
        return state.failed() ? state.error().pointer + " " + std::string(state.error().code) : "";
    };
    CHECK(error_of([](auto& body, auto&) { CHECK(body.text("a", 3) == "xyz"); }).empty());
    CHECK(error_of([](auto& body, auto&) { (void)body.text("a", 2); }) == "/a range");
    CHECK(error_of([](auto& body, auto&) { (void)body.text("e", 2); }) == "/e range");
    CHECK(error_of([](auto& body, auto&) { (void)body.text("t", 2); }) == "/t type");
    CHECK(error_of([](auto& body, auto&) { (void)body.optional_text("n", 2); }) == "/n type");
    CHECK(error_of([](auto& body, auto&) { (void)body.optional_boolean("a"); }) == "/a type");
    CHECK(error_of([](auto& body, auto&) { CHECK(body.optional_boolean("t") == true); }).empty());
    CHECK(error_of([](auto& body, auto&) { CHECK_FALSE(body.take_nullable("n")); }).empty());
    CHECK(error_of([](auto& body, auto& state) {
              CHECK(state.array(*body.take("l"), {1, 2}));
          }).empty());
    CHECK(error_of([](auto& body, auto& state) {
              CHECK_FALSE(state.array(*body.take("l"), {0, 1}));
          }) == "/l range");
    CHECK(error_of([](auto& body, auto& state) {
              CHECK_FALSE(state.array(*body.take("o"), {0, 1}));
          }) == "/o type");
    CHECK(error_of([](auto& body, auto& state) {
              ObjectDecoder(*body.take("l"), state).finish();
          }) == "/l not-an-object");
}

}  // namespace holdfast::api
