#include <holdfast/http/problem.hpp>

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

using namespace holdfast;
using namespace holdfast::http;
namespace json = boost::json;

namespace {

std::string json_string(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

}  // namespace

TEST_CASE("a problem document has the members of RFC 9457 and of API.md 8") {
    Request request;
    request.path = "/v1/holds/a\"b";
    request.route = "/v1/holds/{hold}";
    request.request_id = "r-1";
    Reply reply;
    reply.status = 201;
    reply.lsn = Lsn{9};
    std::string const extras = ",\"section\":\"A\"" + error_extras("/seats/0", "range");
    write_problem(reply, request,
                  Problem{409, "sold-out", "Sold out", "No \"place\" left.", true, extras, 3});
    CHECK(reply.status == 409);
    CHECK(reply.content_type == "application/problem+json");
    CHECK(reply.lsn == no_lsn);
    CHECK(reply.headers == "Retry-After: 3\r\n");
    json::object const document = json::parse(reply.body).as_object();
    CHECK(document.at("type").as_string() == "/problems/sold-out");
    CHECK(document.at("title").as_string() == "Sold out");
    CHECK(document.at("status").as_int64() == 409);
    CHECK(document.at("detail").as_string() == "No \"place\" left.");
    CHECK(document.at("instance").as_string() == "/v1/holds/a\"b");
    CHECK(document.at("code").as_string() == "sold-out");
    CHECK(document.at("request_id").as_string() == "r-1");
    CHECK(document.at("retryable").as_bool());
    CHECK(document.at("section").as_string() == "A");
    json::object const& error = document.at("errors").as_array().at(0).as_object();
    CHECK(error.at("pointer").as_string() == "/seats/0");
    CHECK(error.at("code").as_string() == "range");
}

TEST_CASE("a problem does not send back a path at length, nor one that no route has") {
    auto const instance = [](std::string const& path, std::string_view route) {
        Request request;
        request.path = path;
        request.route = route;
        Reply reply;
        write_problem(reply, request, Problem{404, "not-found", "Not Found", {}, false, {}, 0});
        return std::string(json::parse(reply.body).at("instance").as_string());
    };
    std::string const most = "/" + std::string(127, 'a');
    CHECK(instance(most, "/{hold}") == most);
    CHECK(instance(most + "a", "/{hold}").empty());
    CHECK(instance("/v2", "").empty());
}

TEST_CASE("a problem without detail, extras or Retry-After leaves them out") {
    Reply reply;
    write_problem(reply, Request{}, Problem{404, "not-found", "Not Found", {}, false, {}, 0});
    json::object const document = json::parse(reply.body).as_object();
    CHECK_FALSE(document.contains("detail"));
    CHECK_FALSE(document.at("retryable").as_bool());
    CHECK(reply.headers.empty());
}

TEST_CASE("text becomes a JSON string: escapes, and U+FFFD for malformed UTF-8") {
    CHECK(json_string("plain") == "\"plain\"");
    CHECK(json_string("\"\\\n\r\t") == "\"\\\"\\\\\\n\\r\\t\"");
    CHECK(json_string(std::string_view{"\0\x1f\x7f", 3}) == "\"\\u0000\\u001f\\u007f\"");
    CHECK(json_string("gr\xC3\xBC\xC3\x9F") == "\"gr\xC3\xBC\xC3\x9F\"");
    CHECK(json_string("\xF0\x9F\x8E\xAB") == "\"\xF0\x9F\x8E\xAB\"");
    CHECK(json_string("a\xFFz") == "\"a\xEF\xBF\xBDz\"");
    CHECK(json_string("\xC3") == "\"\xEF\xBF\xBD\"");
    CHECK(json_string("\xC0\x80") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");   // overlong
    CHECK(json_string("\xED\xA0\x80") == json_string("\xFF\xFF\xFF"));  // a surrogate
    CHECK(json_string("\xF4\x90\x80\x80") == json_string("\xFF\xFF\xFF\xFF"));
}

TEST_CASE("each byte is escaped alike wherever it stands") {
    for (unsigned byte = 0; byte < 256; ++byte) {
        std::string const one(1, static_cast<char>(byte));
        std::string const alone = json_string(one);
        std::string const inside = alone.substr(1, alone.size() - 2);
        for (std::size_t before = 0; before < 17; ++before) {
            CAPTURE(byte, before);
            std::string const left(before, '~');
            std::string const right(17 - before, ' ');
            REQUIRE(json_string(left + one + right) == "\"" + left + inside + right + "\"");
        }
    }
}

TEST_CASE("any bytes become a string that a JSON parser reads") {
    char const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20'261;
    std::cout << "seed " << seed << '\n';
    std::mt19937_64 random{seed};
    for (int round = 0; round < 2'000; ++round) {
        std::string text(random() % 24, ' ');
        for (char& c : text) c = static_cast<char>(random());
        json::error_code error;
        json::parse(json_string(text), error);
        CAPTURE(round);
        REQUIRE_FALSE(error);
    }
}
