#include <holdfast/loadgen/fetch.hpp>

#include <catch2/catch.hpp>

using holdfast::loadgen::parse_url;
using holdfast::loadgen::Url;

TEST_CASE("a URL is split into host, port and prefix", "[loadgen]") {
    auto const [text, expected] = GENERATE(table<char const*, Url>({
        {"http://127.0.0.1:8080", {"127.0.0.1", 8080, ""}},
        {"http://localhost", {"localhost", 80, ""}},
        {"http://localhost/", {"localhost", 80, ""}},
        {"http://shop.example:81/tickets/", {"shop.example", 81, "/tickets"}},
        {"http://[::1]:8080/a/b", {"::1", 8080, "/a/b"}},
        {"http://[::1]", {"::1", 80, ""}},
    }));
    CAPTURE(text);
    auto const url = parse_url(text);
    REQUIRE(url.has_value());
    CHECK(*url == expected);
}

TEST_CASE("a URL that was read can be written again", "[loadgen]") {
    for (std::string const text :
         {"http://box:8080", "http://127.0.0.1:80/shop", "http://[::1]:9"}) {
        CAPTURE(text);
        auto const url = parse_url(text);
        REQUIRE(url.has_value());
        CHECK(to_text(*url) == text);
    }
}

TEST_CASE("the text of a member is found in an answer", "[loadgen]") {
    std::string const answer = R"({"hold":"h_1","state":"held","more":{"state":"x"}})";
    CHECK(text_of(answer, "state") == "held");
    CHECK(text_of(answer, "hold") == "h_1");
    CHECK(text_of(answer, "old").empty());
    CHECK(text_of("", "hold").empty());
}

TEST_CASE("a URL that is not plain http to a host is refused", "[loadgen]") {
    auto const text = GENERATE(
        as<std::string>{}, "", "localhost:8080", "https://localhost", "http://", "http://:80",
        "http://host:", "http://host:0", "http://host:65536", "http://host:8o", "http://user@host",
        "http://user:word@host:1", "http://host/?a=1", "http://host/#top", "http://ho st",
        "http://host/\r\nX: y", "http://[::1", "http://[::1]x", "http://host:1:2", "http://::1");
    CAPTURE(text);
    auto const url = parse_url(text);
    REQUIRE_FALSE(url.has_value());
    CHECK_FALSE(url.error().text.empty());
}

TEST_CASE("who names a listener with TLS is told of the plain one", "[loadgen]") {
    CHECK_THAT(parse_url("https://localhost:8443").error().text,
               Catch::Contains("plain HTTP only") && Catch::Contains("admin listener"));
}
