#include "api/order_decoder.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace holdfast::api {
namespace {

std::string decode(std::string_view text, OrderBody& order) {
    JsonReader reader;
    auto const body = reader.read_object(text);
    if (!body) return std::string(body.error().code);
    DecodeState state;
    decode_order(*body, state, order);
    if (!state.failed()) return "";
    CHECK(state.error().status == 422);
    return state.error().pointer + " " + std::string(state.error().code);
}
std::string decode(std::string_view text) {
    OrderBody order;
    return decode(text, order);
}

}  // namespace

TEST_CASE("an order names its holds, with or without their tokens", "[order]") {
    OrderBody order;
    std::string const text =
        R"({"holds":["h_a",{"hold":"h_b","token":"t"}],"payment":{"method":"none"}})";
    REQUIRE(decode(text, order).empty());
    REQUIRE(order.holds.size() == 2);
    CHECK(order.holds[0].token.empty());
    CHECK(order.holds[1].token.size() == 1);
    CHECK(order.has_tokens);
    CHECK(decode(R"({"holds":["h_a"]})").empty());
}

TEST_CASE("what an order may not say is named", "[order][B11]") {
    CHECK(decode("{}") == "/holds required");
    CHECK(decode(R"({"holds":[]})") == "/holds range");
    CHECK(decode(R"({"holds":"h_a"})") == "/holds type");
    CHECK(decode(R"({"holds":[1]})") == "/holds/0 type");
    CHECK(decode(R"({"holds":["h_a","h_b","h_a"]})") == "/holds/2 duplicate-hold");
    CHECK(decode(R"({"holds":["h_a",{"hold":"h_a","token":"t"}]})") == "/holds/1 duplicate-hold");
    CHECK(decode(R"({"holds":[{"hold":"h_a"}]})") == "/holds/0/token required");
    CHECK(decode(R"({"holds":[{"token":"t"}]})") == "/holds/0/hold required");
    CHECK(decode(R"({"holds":[{"hold":"h_a","token":"t","x":1}]})") == "/holds/0/x unknown-field");
    CHECK(decode(R"({"holds":["h_a"],"payment":{}})") == "/payment/method required");
    CHECK(decode(R"({"holds":["h_a"],"payment":{"method":"wallet"}})") ==
          "/payment/method unsupported");
    CHECK(decode(R"({"holds":["h_a"],"payment":{"method":"external"}})") ==
          "/payment/method unsupported");
    CHECK(decode(R"({"holds":["h_a"],"payment":{"method":"gold"}})") ==
          "/payment/method unknown-method");
    CHECK(decode(R"({"holds":["h_a"],"payment":{"method":"none","price":1}})") ==
          "/payment/price unknown-field");
    CHECK(decode(R"({"holds":["h_a"],"payment":null})") == "/payment not-an-object");
    CHECK(decode(R"({"holds":["h_a"],"total":1})") == "/total unknown-field");
    std::string many = R"({"holds":["h_0")";
    for (int i = 1; i < 17; ++i) many += ",\"h_" + std::to_string(i) + "\"";
    CHECK(decode(many + "]}") == "/holds range");
}

}  // namespace holdfast::api
