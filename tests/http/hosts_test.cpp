// The names that a listener answers to (SECURITY.md 5, A28).
#include "tests/http/live.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace live;

namespace {

ServerOptions answering_to(std::string_view names) {
    ServerOptions options;
    options.hosts = HostNames::parse(names).value();
    return options;
}

std::string for_host(std::string_view host, std::string_view target = "/") {
    return "GET " + std::string{target} + " HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n";
}

}  // namespace

TEST_CASE("names of the list are read strictly", "[hosts]") {
    CHECK(HostNames::parse("").value().any());
    CHECK(HostNames::parse(" \t").value().any());
    for (auto const* const good : {"shop.example", "SHOP.example.", "localhost , 127.0.0.1", "a_b",
                                   "[::1]", "xn--mnchen-3ya.example,[2001:DB8::1]"})
        CHECK_FALSE(HostNames::parse(good).value().any());
    for (auto const* const bad : {"*",
                                  "*.example",
                                  ".",
                                  "..",
                                  "a..",
                                  "shop.example:80",
                                  "shop.example:",
                                  "[::1]:80",
                                  "::1",
                                  "[::1",
                                  "[::g]",
                                  "[1.2.3.4]",
                                  "[]",
                                  "http://shop.example",
                                  "shop.example/",
                                  "a b",
                                  "a,",
                                  ",a",
                                  "user@a",
                                  "m\xC3\xBCnchen.example"})
        CHECK_FALSE(HostNames::parse(bad));
    std::string many = "a";
    for (int i = 1; i < 64; ++i) many += ",a";
    CHECK(HostNames::parse(many));
    CHECK_FALSE(HostNames::parse(many + ",a"));
}

TEST_CASE("A28: only the names of the list are served", "[live][hosts]") {
    LiveServer live{answering_to("shop.example, 192.0.2.1, [2001:db8::1]")};
    Client client = live.connect();
    for (auto const* const host :
         {"shop.example", "Shop.EXAMPLE", "shop.example.", "shop.example:8080", "shop.example.:80",
          "192.0.2.1", "192.0.2.1:1", "[2001:db8::1]", "[2001:DB8:0:0::1]:443"}) {
        CAPTURE(host);
        REQUIRE(client.send(for_host(host)));
        CHECK(client.answer().status == 200);
    }
    unsigned const served = live.handled.get();
    for (auto const* const host :
         {"evil.example", "shop.example.evil", "xshop.example", "www.shop.example",
          "shop.example..", "shop", "192.0.2.10", "2001", "[::1]", "[2001:db8::2]", "[192.0.2.1]",
          "[2001:db8::1.2.3.4.5]", "."}) {
        CAPTURE(host);
        Client stranger = live.connect();
        REQUIRE(stranger.send(for_host(host) + for_host("shop.example")));
        Answer const answer = stranger.answer();
        CHECK(answer.status == 421);
        CHECK(answer.header("Content-Type") == "application/problem+json");
        CHECK_THAT(answer.body, Catch::Contains("\"code\":\"misdirected-request\""));
        CHECK(answer.header("Connection") == "close");
        CHECK(stranger.closed());
    }
    CHECK(live.handled.get() == served);
}

TEST_CASE("the name of an absolute target counts, and no name is none of the list",
          "[live][hosts]") {
    LiveServer live{answering_to("shop.example")};
    auto const status_of = [&live](std::string const& bytes) {
        Client client = live.connect();
        REQUIRE(client.send(bytes));
        return client.answer().status;
    };
    CHECK(status_of(for_host("shop.example:80", "http://shop.example:80/")) == 200);
    CHECK(status_of(for_host("evil.example", "http://evil.example/")) == 421);
    CHECK(status_of("GET http://shop.example/ HTTP/1.0\r\n\r\n") == 200);
    CHECK(status_of("GET http://evil.example/ HTTP/1.0\r\n\r\n") == 421);
    CHECK(status_of("GET / HTTP/1.0\r\n\r\n") == 421);
    CHECK(status_of("GET / HTTP/1.0\r\nHost: shop.example\r\n\r\n") == 200);
    // A doubt about the name is worse than a wrong name.
    CHECK(status_of("GET / HTTP/1.1\r\n\r\n") == 400);
    CHECK(status_of("OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n") == 421);
    CHECK(status_of("GET /nowhere HTTP/1.1\r\nHost: evil.example\r\n\r\n") == 421);
    // Before its body, and before a route that takes a large one is asked.
    CHECK(status_of("POST /import HTTP/1.1\r\nHost: evil.example\r\nContent-Type: "
                    "application/json\r\nContent-Length: 70000\r\n\r\n") == 421);
    CHECK(status_of("POST /echo HTTP/1.1\r\nHost: evil.example\r\nContent-Type: "
                    "application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n") ==
          421);
}

TEST_CASE("without a list every name is served", "[live][hosts]") {
    LiveServer live;
    for (auto const* const host : {"evil.example", "[::1]", "."}) {
        Client client = live.connect();
        REQUIRE(client.send(for_host(host)));
        CHECK(client.answer().status == 200);
    }
}
