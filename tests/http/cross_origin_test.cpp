// What browsers may let pages of other sites do (CORS): grants for listed origins, nothing else.
#include "tests/http/live.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace live;

namespace {

ServerOptions listing(std::string_view origins) {
    ServerOptions options;
    options.cross_origin = {parse_origins(origins).value(), 60};
    return options;
}

Answer ask(LiveServer const& live, std::string const& line, std::string const& fields) {
    Client client = live.connect();
    client.send(line + " HTTP/1.1\r\nHost: t\r\n" + fields + "\r\n");
    return client.answer();
}

}  // namespace

TEST_CASE("origins of the list are read strictly", "[cross_origin]") {
    CHECK(parse_origins("").value().empty());
    CHECK(parse_origins("https://a.example , http://localhost:3000,https://[::1]:8443")
              .value()
              .size() == 3);
    for (auto const* const bad :
         {"*", "null", "a.example", "https://", "https://a.example/", "https://A.example",
          "HTTPS://a.example", "https://a.example:443", "http://a.example:80", "https://*.example",
          "https://a.example:", "https://a.example:99999", "ftp://a.example", "https://a b",
          "https://a.example,", "https://user@a.example", "https://a.example?x"})
        CHECK_FALSE(parse_origins(bad));
}

TEST_CASE("a listed origin may read replies, problems too; any other gets nothing",
          "[live][cross_origin]") {
    LiveServer live{listing("https://a.example, http://localhost:3000")};
    std::string const line = GENERATE(as<std::string>{}, "GET /", "GET /nowhere", "GET /\xFF");
    Answer const listed = ask(live, line, "Origin: http://localhost:3000\r\n");
    if (listed.status != 400) {
        CHECK(listed.header("Access-Control-Allow-Origin") == "http://localhost:3000");
        CHECK_THAT(listed.header("Access-Control-Expose-Headers"), Catch::Contains("ETag"));
    }
    CHECK(listed.header("Vary") == "Origin");
    CHECK(listed.header("Access-Control-Allow-Credentials").empty());
    std::string const foreign =
        GENERATE(as<std::string>{}, "", "Origin: null\r\n", "Origin: *\r\n",
                 "Origin: https://a.example.evil\r\n", "Origin: https://a.exampl\r\n",
                 "Origin: http://a.example\r\n", "Origin: https://a.example:443\r\n",
                 "Origin: https://a.example, https://b\r\n");
    Answer const other = ask(live, line, foreign);
    CHECK_THAT(other.head, !Catch::Contains("Access-Control"));
    CHECK(other.header("Vary") == "Origin");
}

TEST_CASE("a preflight grants the methods of the resource and the fields of the interface",
          "[live][cross_origin]") {
    LiveServer live{listing("https://a.example")};
    std::string const origin = "Origin: https://a.example\r\n";
    Answer const answer =
        ask(live, "OPTIONS /echo",
            origin +
                "Access-Control-Request-Method: POST\r\n"
                "Access-Control-Request-Headers: content-type, Authorization\r\n");
    CHECK(answer.status == 204);
    CHECK(answer.header("Access-Control-Allow-Origin") == "https://a.example");
    CHECK(answer.header("Access-Control-Allow-Methods") == "POST, OPTIONS");
    CHECK_THAT(answer.header("Access-Control-Allow-Headers"), Catch::Contains("Idempotency-Key"));
    CHECK(answer.header("Access-Control-Max-Age") == "60");
    CHECK(answer.header("Vary") == "Origin");
    std::string const refused = GENERATE_COPY(
        as<std::string>{}, "Origin: https://b.example\r\nAccess-Control-Request-Method: POST\r\n",
        origin, "Access-Control-Request-Method: POST\r\n",
        origin + "Access-Control-Request-Method: *\r\n",
        origin + "Access-Control-Request-Method: DELETE\r\n",
        origin + "Access-Control-Request-Method: post\r\n",
        origin + "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: *\r\n",
        origin +
            "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: "
            "content-type, x-evil\r\n");
    Answer const none = ask(live, "OPTIONS /echo", refused);
    CHECK(none.status == 204);
    CHECK_THAT(none.head, !Catch::Contains("Access-Control"));
    CHECK(none.header("Vary") == "Origin");
    CHECK_THAT(
        ask(live, "OPTIONS /nowhere", origin + "Access-Control-Request-Method: GET\r\n").head,
        !Catch::Contains("Access-Control"));
}

TEST_CASE("without a list no reply says anything of origins", "[live][cross_origin]") {
    LiveServer live;
    for (auto const* const line : {"GET /", "OPTIONS /echo"}) {
        Answer const answer =
            ask(live, line, "Origin: https://a.example\r\nAccess-Control-Request-Method: POST\r\n");
        CHECK_THAT(answer.head, !Catch::Contains("Access-Control"));
        CHECK(answer.header("Vary").empty());
    }
}
