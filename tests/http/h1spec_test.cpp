// The 33 kinds of check of h1spec (github.com/uNetworking/h1spec), in our own words and with our
// routes: fifteen requests that end too early and must be waited for, the rest answered as its
// status range says. Each goes over a real socket, whole and one byte at a time.
#include "tests/http/live.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace live;

namespace {

/// What h1spec accepts.
enum class Wanted { wait, good, continues, bad, bad_or_version };

struct Check {
    std::string_view kind;
    std::string bytes;
    Wanted wanted;
};

std::vector<Check> begun_checks() {
    // Each cut of one good request; the last lacks the final LF alone.
    std::pair<std::string_view, std::string_view> const cuts[] = {
        {"part of the method", "G"},       {"method, no target", "ET "},
        {"part of the target", "/?hello"}, {"target, no version", " "},
        {"part of the version", "HTTP"},   {"request line without its end", "/1.1"},
        {"request line with CR", "\r"},    {"request line with CR LF", "\n"},
        {"part of a field's name", "Hos"}, {"name and colon", "t:"},
        {"space before the value", " "},   {"value without its end", "localhost"},
        {"value with CR", "\r"},           {"field with CR LF", "\n"},
        {"CR of the last line", "\r"},
    };
    std::vector<Check> checks;
    std::string bytes;
    for (auto const& [kind, more] : cuts) {
        bytes += more;
        checks.push_back({kind, bytes, Wanted::wait});
    }
    return checks;
}

std::string with(std::string_view fields) {
    return "GET / HTTP/1.1\r\nHost: example.com\r\n" + std::string{fields} + "\r\n";
}

std::string chunks(std::string_view fields) {
    return "POST /echo HTTP/1.1\r\nHost: example.com\r\nContent-Type: application/json\r\n" +
           std::string{fields} + "\r\n5\r\nhello\r\n0\r\n\r\n";
}

std::vector<Check> whole_checks() {
    return {
        {"no version", "GET / \r\n\r\n", Wanted::bad_or_version},
        {"Expect: 100-continue", with("Expect: 100-continue\r\n"), Wanted::continues},
        {"a good GET", with(""), Wanted::good},
        {"letter case, tab and an empty value",
         "GET / HTTP/1.1\r\nhoSt:\texample.com\r\nempty:\r\n\r\n", Wanted::good},
        {"brackets in a name", with("X-Invalid[]: test\r\n"), Wanted::bad},
        {"no Host", "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", Wanted::bad},
        {"two Hosts", with("Host: example.org\r\n"), Wanted::bad},
        {"a negative length past 64 bits", with("Content-Length: -123456789123456789123456789\r\n"),
         Wanted::bad},
        {"a negative length", with("Content-Length: -1234\r\n"), Wanted::bad},
        {"a length in letters", with("Content-Length: abc\r\n"), Wanted::bad},
        {"a value of a space", with("X-Empty-Header: \r\n"), Wanted::good},
        {"a control byte in a value", with("X-Bad-Control-Char: test\x07\r\n"), Wanted::bad},
        {"HTTP/9.9", "GET / HTTP/9.9\r\nHost: example.com\r\n\r\n", Wanted::bad_or_version},
        {"words before the method", "Extra line" + with(""), Wanted::bad_or_version},
        {"a line that begins with CR", with("\rSome-Header: Test\r\n"), Wanted::bad},
        {"a good POST with a body", post("/echo", "hello"), Wanted::good},
        {"a good POST in chunks", chunks("Transfer-Encoding: chunked\r\n"), Wanted::good},
        {"a coding and a length, in odd letter case",
         chunks("content-LengtH: 5\r\nTransFer-Encoding: chunked\r\n"), Wanted::bad},
    };
}

bool fits(Wanted wanted, unsigned status) {
    switch (wanted) {
        case Wanted::wait:
            return false;
        case Wanted::good:
            return status >= 200 && status < 300;
        case Wanted::continues:
            return status == 100 || (status >= 200 && status < 300);
        case Wanted::bad:
            return status >= 400 && status < 500;
        case Wanted::bad_or_version:
            return status >= 400 && status < 600 && status != 500;
    }
    return false;
}

/// False if the server ended the connection before all was sent.
bool send(Client& client, std::string const& bytes, bool bytewise) {
    if (!bytewise) return client.send(bytes);
    for (char const byte : bytes)
        if (!client.send({&byte, 1})) return false;
    return true;
}

}  // namespace

TEST_CASE("h1spec: what has only begun is waited for, and goes on", "[live][h1spec]") {
    LiveServer live;
    auto const checks = begun_checks();
    std::string const whole = "GET /?x HTTP/1.1\r\nHost: localhost\r\n\r\n";
    CHECK(checks.size() == 15);
    for (bool const bytewise : {false, true}) {
        std::vector<Client> clients;
        std::uint64_t sent = live.server->counts().bytes_in;
        for (Check const& check : checks) {
            clients.push_back(live.connect());
            REQUIRE(send(clients.back(), check.bytes, bytewise));
            sent += check.bytes.size();
        }
        REQUIRE(live.until([sent](ServerCounts const& counts) { return counts.bytes_in >= sent; }));
        for (std::size_t i = 0; i < checks.size(); ++i) {
            CAPTURE(checks[i].kind, bytewise);
            CHECK(clients[i].silent());
        }
        // Given the rest, each is a request like any other.
        Client& last = clients.back();
        REQUIRE(last.send("\n"));
        CHECK(last.answer().status == 200);
        REQUIRE(clients[0].send(whole.substr(1)));
        CHECK(clients[0].answer().status == 200);
    }
}

TEST_CASE("h1spec: what is whole is answered as it should be", "[live][h1spec]") {
    LiveServer live;
    auto const checks = whole_checks();
    CHECK(begun_checks().size() + checks.size() == 33);
    for (Check const& check : checks) {
        for (bool const bytewise : {false, true}) {
            CAPTURE(check.kind, bytewise);
            Client client = live.connect();
            send(client, check.bytes, bytewise);  // a refusal may come before the end
            Answer const answer = client.answer();
            CAPTURE(answer.status);
            CHECK(fits(check.wanted, answer.status));
            if (answer.status >= 400) CHECK(client.closed());
            if (check.bytes.starts_with("POST") && check.wanted == Wanted::good)
                CHECK(answer.body == "hello");
        }
    }
    CHECK(live.server->counts().handler_exceptions == 0);
}
