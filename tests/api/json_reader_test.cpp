#include "tests/api/read_json.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace holdfast::api {
namespace {

std::string nested(std::size_t depth) {
    return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
}

std::uint64_t seed_of_run() {
    char const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const seed = given != nullptr ? std::stoull(given) : std::random_device{}();
    std::cout << "seed " << seed << '\n';
    return seed;
}

}  // namespace

TEST_CASE("a body is read into a tree that keeps order, kinds and keys", "[json]") {
    JsonReader reader;
    auto const root = reader.read_object(
        R"({"n":-7,"s":"A-1","e":"x\u0041\n","l":[1,[],{"k":null}],"t":true,"f":false,"o":{}})");
    REQUIRE(root.has_value());
    CHECK(root->size() == 7);
    CHECK(root->find("n")->integer() == -7);
    CHECK(root->find("s")->text() == "A-1");
    CHECK(root->find("e")->text() == "xA\n");
    CHECK(root->find("t")->boolean());
    CHECK_FALSE(root->find("f")->boolean());
    CHECK(root->find("o")->size() == 0);
    CHECK_FALSE(root->find("missing"));
    auto const list = *root->find("l");
    REQUIRE(list.size() == 3);
    auto at = list.begin();
    CHECK((*at).integer() == 1);
    ++at;
    CHECK((*at).is(JsonKind::array));
    CHECK((*at).pointer() == "/l/1");
    ++at;
    CHECK((*at).find("k")->is(JsonKind::null));
    CHECK((*at).find("k")->pointer() == "/l/2/k");
    ++at;
    CHECK(at == list.end());
}

TEST_CASE("a reader is used again without a trace of the body before", "[json]") {
    JsonReader reader;
    CHECK_FALSE(reader.read_object(R"({"import":{"plan":[[1,)", with_plan).has_value());
    CHECK_FALSE(reader.read_object(R"({"a":"b\u0041)").has_value());
    CHECK_FALSE(reader.read_object("{\"a\":1.5").has_value());
    auto const root = reader.read_object(R"({"a":"c\u0041","n":18446744073709551616})");
    REQUIRE(root.has_value());
    CHECK(root->size() == 2);
    CHECK(root->find("a")->text() == "cA");
    CHECK(root->find("n")->is(JsonKind::out_of_range));
}

TEST_CASE("a body that is no object has its own answers", "[json][B1]") {
    CHECK(code_of("") == "400 malformed");
    CHECK(code_of("  \n") == "400 malformed");
    for (auto const* text : {"null", "[]", "\"x\"", "1", " [1] ", "true", "1.5"}) {
        CAPTURE(text);
        CHECK(code_of(text) == "422 not-an-object");
    }
    CHECK(code_of("{}").empty());
    CHECK(code_of(" { } ").empty());
}

TEST_CASE("a repeated key is refused, also when it is written with escapes", "[json][B2]") {
    CHECK(code_of(R"({"qty":1,"qty":99})") == "400 duplicate-key");
    CHECK(code_of(R"({"qty":1,"\u0071ty":99})") == "400 duplicate-key");
    CHECK(code_of(R"({"\u0071ty":1,"q\u0074y":99})") == "400 duplicate-key");
    CHECK(code_of(R"({"":1,"":2})") == "400 duplicate-key");
    CHECK(code_of(R"({"a":{"b":1},"b":{"b":1}})").empty());
    CHECK(code_of(R"({"qty":1,"Qty":2,"qty ":3})").empty());

    JsonReader reader;
    auto const root = reader.read(R"({"l":[0,{"a":{"x":[1]},"b":2,"a":3}]})");
    REQUIRE_FALSE(root.has_value());
    CHECK(root.error().pointer == "/l/1/a");
}

TEST_CASE("every pair of keys among 256 is compared", "[json][B2]") {
    std::string text = "{";
    for (int i = 0; i < 255; ++i) text += "\"k" + std::to_string(i) + "\":[{}],";
    auto const twin = GENERATE(0, 1, 63, 64, 128, 254);
    CHECK(code_of(text + "\"k" + std::to_string(twin) + "\":1}") == "400 duplicate-key");
    CHECK(code_of(text + "\"other\":1}").empty());
    CHECK(code_of(text + "\"other\":1,\"more\":2}") == "400 too-many-keys");
}

TEST_CASE("depth ends at 8", "[json][B3]") {
    CHECK(code_of(nested(8)).empty());
    CHECK(code_of(nested(9)) == "400 too-deep");
    CHECK(code_of(nested(33)) == "400 too-deep");
    CHECK(code_of(std::string(33, '[') + std::string(33, ']')) == "400 too-deep");
    CHECK(code_of(std::string(100'000, '[')) == "400 too-deep");
    std::string objects;
    for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
    CHECK(code_of(objects) == "400 too-deep");
}

TEST_CASE("numbers are int64 or say what they are instead", "[json][B6][B7]") {
    struct Row {
        std::string text;
        JsonKind kind;
    };
    auto const row = GENERATE(values<Row>({
        {"0", JsonKind::integer},
        {"-0", JsonKind::integer},
        {"9223372036854775807", JsonKind::integer},
        {"-9223372036854775808", JsonKind::integer},
        {"9223372036854775808", JsonKind::out_of_range},
        {"-9223372036854775809", JsonKind::out_of_range},
        {"18446744073709551615", JsonKind::out_of_range},
        {"18446744073709551616", JsonKind::out_of_range},
        {std::string(1'000'000, '7'), JsonKind::out_of_range},
        {"1e400", JsonKind::out_of_range},
        {"-1e400", JsonKind::out_of_range},
        {"1.0", JsonKind::fraction},
        {"1e0", JsonKind::fraction},
        {"1E0", JsonKind::fraction},
        {"0.1", JsonKind::fraction},
        {"1e-400", JsonKind::fraction},
        {"0.00000000000000000000000000000000000000001", JsonKind::fraction},
    }));
    CAPTURE(row.text.substr(0, 40));
    JsonReader reader;
    std::string const text = "{\"qty\":" + row.text + ",\"next\":2}";
    auto const root = reader.read_object(text);
    REQUIRE(root.has_value());
    CHECK(root->find("qty")->is(row.kind));
    CHECK(root->find("next")->is(JsonKind::integer));
}

TEST_CASE("strings end at 1 KiB and hold neither NUL nor bad UTF-8", "[json][B14]") {
    CHECK(code_of("{\"a\":\"" + std::string(1'024, 'x') + "\"}").empty());
    CHECK(code_of("{\"a\":\"" + std::string(1'025, 'x') + "\"}") == "400 string-too-long");
    CHECK(code_of("{\"a\":\"\\n" + std::string(1'024, 'x') + "\"}") == "400 string-too-long");
    CHECK(code_of("{\"a\":\"\\n" + std::string(60'000, 'x') + "\"}") == "400 string-too-long");
    CHECK(code_of("{\"" + std::string(1'025, 'x') + "\":1}") == "400 string-too-long");
    for (std::string const bad :
         {R"({"a":"\u0000"})", R"({"a\u0000":1})", R"({"a":"x\u0000y"})", R"({"a":"\ud800"})",
          R"({"a":"\udc00\ud800"})", "{\"a\":\"\xc0\xaf\"}", "{\"a\":\"\xff\"}",
          "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\xf4\x90\x80\x80\"}", "{\"a\":\"\xe2\x82\"}",
          "{\"a\":\"tab\there\"}", "{\"a\":\"line\nhere\"}"}) {
        CAPTURE(bad);
        CHECK(code_of(bad) == "400 malformed");
    }
    CHECK(code_of(std::string("{\"a\":\"\0\"}", 9)) == "400 malformed");
}

TEST_CASE("odd text is data, byte for byte", "[json][B14]") {
    std::string accents = "e";
    for (int i = 0; i < 300; ++i) accents += "\xcc\x81";
    std::string const odd =
        GENERATE_COPY(values<std::string>({"\xe2\x80\xae"
                                           "abc",
                                           accents, "<script>", "' OR 1=1--", "%n%s", "{{7*7}}",
                                           "$(id)", "\xf0\x9f\x8e\xab", "A1\xe2\x80\x8b"}));
    JsonReader reader;
    std::string const text = "{\"a\":[\"" + odd + "\",\"\\r\\nSet-Cookie: x\",\"\\u001b[2J\"]}";
    auto const root = reader.read_object(text);
    REQUIRE(root.has_value());
    auto at = root->find("a")->begin();
    CHECK((*at).text() == odd);
    ++at;
    CHECK((*at).text() == "\r\nSet-Cookie: x");
    ++at;
    CHECK((*at).text() == "\x1b[2J");
}

TEST_CASE("what is not JSON is malformed", "[json][B16]") {
    for (std::string const bad : {"\xef\xbb\xbf{}",
                                  "{}//x",
                                  "{/*x*/}",
                                  "{\"a\":1,}",
                                  "[1,]",
                                  "{'a':1}",
                                  "{a:1}",
                                  "{\"a\":NaN}",
                                  "{\"a\":Infinity}",
                                  "{}{}",
                                  "{} x",
                                  "{\"a\":01}",
                                  "{\"a\":+1}",
                                  "{\"a\":.5}",
                                  "{\"a\":1.}",
                                  "{\"a\":-}",
                                  "{\"a\":tru}",
                                  "{\"a\" 1}",
                                  "{\"a\":}",
                                  "{,}",
                                  "\xff\xfe{\x01}\x01",
                                  "{\"a\":\"\\x41\"}",
                                  "{\"a\":0x10}",
                                  "]",
                                  "{]",
                                  "[}"}) {
        CAPTURE(bad);
        CHECK(code_of(bad) == "400 malformed");
    }
    CHECK(code_of(std::string("{\0}\0", 4)) == "400 malformed");
    CHECK(code_of(std::string("{}\0", 3)) == "400 malformed");
}

TEST_CASE("the number of values is bounded", "[json]") {
    JsonOptions const five{{}, 5};
    CHECK(code_of(R"({"a":[1,2,3]})", five).empty());
    CHECK(code_of(R"({"a":[1,2,3,4]})", five) == "400 too-many-values");
}

TEST_CASE("pointers are escaped and cut", "[json]") {
    JsonReader reader;
    std::string const text = R"({"a/b":{"m~n":[5]},")" + std::string(63, 'k') +
                             "\xc3\xa9zz"
                             R"(":7})";
    auto const root = reader.read_object(text);
    REQUIRE(root.has_value());
    CHECK(root->pointer().empty());
    CHECK((*root->find("a/b")->find("m~n")->begin()).pointer() == "/a~1b/m~0n/0");
    auto at = root->begin();
    ++at;
    CHECK((*at).pointer() == "/" + std::string(63, 'k'));
}

TEST_CASE("every prefix of a valid body is malformed", "[json]") {
    std::string const body =
        R"({"lines":[{"seats":["A-1-1","\u00e9\ud83c\udfab"]},{"best":{"quantity":2,"zone":null}},)"
        R"({"x":-1.5e3,"t":true}],"import":{"plan":{"a":[1.5,"]"]}}})";
    REQUIRE(code_of(body, with_plan).empty());
    for (std::size_t kept = 0; kept < body.size(); ++kept) {
        CAPTURE(kept);
        CHECK(code_of(body.substr(0, kept), with_plan) == "400 malformed");
    }
}

TEST_CASE("random bytes and mutations never do more than fail", "[json][fuzz]") {
    std::mt19937_64 random(seed_of_run());
    std::string const body =
        R"({"lines":[{"seats":["A-1-1","\u00e9\ud83c\udfab"]}],"import":{"plan":{"a":[1.5,"]"]}}})";
    std::string_view const alphabet = "{}[]\",:\\u0019eE+-.tfn \x80\xc3\xa9";
    JsonReader reader;
    std::size_t good = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string text = round % 2 == 0 ? body : std::string();
        auto const changes = 1 + random() % 8;
        for (std::uint64_t i = 0; i < changes; ++i) {
            char const c = alphabet[random() % alphabet.size()];
            auto const at = random() % (text.size() + 1);
            if (at < text.size() && random() % 2 == 0) {
                text[at] = c;
            } else {
                text.insert(at, 1, c);
            }
        }
        auto const root = reader.read_object(text, with_plan);
        if (!root) {
            bool const known = root.error().status == 400 || root.error().code == "not-an-object";
            CHECK(known);
            continue;
        }
        ++good;
        std::size_t members = 0;
        for (auto const member : *root) members += member.pointer().empty() ? 0 : 1;
        CHECK(members == root->size());
    }
    CHECK(good > 0);
}

}  // namespace holdfast::api
