// SECURITY.md 5 A and B against the real program: each row over a real socket, whole and one byte
// at a time; the right status and problem, never a 500, nothing behind a refusal run, nothing
// changed by it, and no growth of memory. Rows of time and of numbers of connections are in
// tests/http (timeout_test, server_test), with short times.
#include "tests/e2e/bad_bodies.hpp"
#include "tests/e2e/bad_requests.hpp"
#include "tests/http/live.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace holdfast;
using namespace holdfast::test;
using namespace std::string_literals;

namespace {

std::vector<BadRow> bodies() {
    std::vector<BadRow> rows;
    for (BadBody const& bad : bad_bodies()) {
        std::string bytes = "POST "s.append(bad.staff ? "/v1/events" : night_claims) +
                            " HTTP/1.1\r\nHost: t.example\r\nContent-Type: " + bad.type +
                            "\r\nContent-Length: " + std::to_string(bad.body.size()) + "\r\n";
        if (bad.staff) bytes.append("Authorization: Bearer ").append(admin_token).append("\r\n");
        rows.push_back({bad.number, bytes + "\r\n" + bad.body, bad.answer});
    }
    std::string const ids[] = {"1",   "..", std::string(500, 'a'), "h_ABCDEF0123456789",
                               "o_1", "%2e"};
    for (std::string const& id : ids) {
        rows.push_back({"B19",
                        line("GET /v1/holds/" + id + " HTTP/1.1", "Authorization: Hold x\r\n"),
                        "404 not-found"});
        rows.push_back({"B19",
                        line("GET /v1/orders/" + id + " HTTP/1.1", "Authorization: Hold x\r\n"),
                        "404 not-found"});
    }
    return rows;
}

/// Of each answer its status, and for a problem the code: of `errors` if it has some.
std::string summary(std::string_view answers) {
    std::string out;
    while (answers.starts_with("HTTP/1.1 ")) {
        std::size_t const end = answers.find("\r\n\r\n");
        if (end == answers.npos) break;
        std::string const top{answers.substr(0, end + 2)};
        auto const at = top.find("Content-Length: ");
        std::size_t const length = at == top.npos ? 0 : std::stoul(top.substr(at + 16));
        std::string const body{answers.substr(end + 4, length)};
        answers.remove_prefix(std::min(answers.size(), end + 4 + length));
        out += (out.empty() ? "" : " ") + top.substr(9, 3);
        if (top.find("application/problem+json") == top.npos) continue;
        std::string const errors = json_part(body, "errors");
        out += " " + json_text(errors.empty() ? body : errors, "code");
    }
    return out + (answers.empty() ? "" : " and more");
}

std::string exchange_raw(std::string const& address, std::string_view bytes, bool bytewise) {
    live::Client client{address};
    if (bytewise) {
        for (char const byte : bytes)
            if (!client.send({&byte, 1})) break;  // refused and closed
    } else {
        client.send(bytes);
    }
    client.end_sending();
    return summary(client.rest());
}

/// With what the environment asks for.
std::string more_asan_options(std::string const& options) {
    char const* const given = std::getenv("ASAN_OPTIONS");
    return given == nullptr ? options : std::string{given} + ":" + options;
}

std::size_t resident_bytes(pid_t pid) {
    std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
    std::size_t pages = 0;
    statm >> pages >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

constexpr std::string_view night =
    R"({"id":"night","name":"Night","publish":true,"policy":{"orphan_rule":"off"},
        "categories":[{"key":"std","name":"Standard","price":4500}],
        "sections":[{"id":"A","name":"Stalls","category":"std",
                     "rows":[{"label":"1","seats":20}]}]})";

void await_open(ServerProcess& server) {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (json_text(call(server.url(), "GET", "/v1/events/night").body, "state") != "open" &&
           std::chrono::steady_clock::now() < end) {
    }
}

std::string address_of(ServerProcess const& server) {
    return server.url().substr(std::string_view{"http://"}.size());
}

/// A43: of two requests in one packet the second sees what the first did.
void check_pipelined(std::string const& address) {
    for (bool const bytewise : {false, true}) {
        live::Client client{address};
        std::string const bytes = live::post(night_claims, R"({"seats":["A-1-1"]})") +
                                  line("GET /v1/events/night HTTP/1.1");
        if (bytewise) {
            for (char const byte : bytes) REQUIRE(client.send({&byte, 1}));
        } else {
            REQUIRE(client.send(bytes));
        }
        auto const hold = client.answer();
        REQUIRE(hold.status == 201);
        CHECK(client.answer().body.find("\"free\":19") != std::string::npos);
        REQUIRE(client.send(line("DELETE /v1/holds/" + json_text(hold.body, "hold") + " HTTP/1.1",
                                 "Authorization: Hold " + json_text(hold.body, "token") + "\r\n")));
        REQUIRE(client.answer().status == 204);
    }
}

}  // namespace

TEST_CASE("bad input has its answer, whole and byte by byte, and changes nothing",
          "[e2e][bad-input]") {
    TempFolder const folder;
    // A body in sixty thousand packets takes its time under a sanitizer. What AddressSanitizer
    // keeps of freed memory (256 MiB unless told otherwise) would pass for growth.
    ServerProcess server(
        {.data = folder.path() / "data",
         .flags = {},
         .variables = {{"HOLDFAST_HTTP_HEAD_TIMEOUT_S", "120"},
                       {"HOLDFAST_HTTP_BODY_TIMEOUT_S", "120"},
                       {"ASAN_OPTIONS", more_asan_options("quarantine_size_mb=1:"
                                                          "thread_local_quarantine_size_kb=64")}}});
    std::string const bearer = std::string("Bearer ") + admin_token;
    REQUIRE(call(server.url(), "POST", "/v1/events", std::string{night}, bearer).status == 202);
    await_open(server);
    std::string const before =
        json_part(call(server.url(), "GET", "/v1/events/night").body, "availability");
    REQUIRE(before.find("\"free\":20") != std::string::npos);
    std::string const address = address_of(server);
    std::vector<BadRow> rows = bad_requests();
    for (BadRow const& row : bodies()) rows.push_back(row);
    std::size_t const resident = resident_bytes(server.child().pid());
    std::size_t resident_later = 0;
    for (int const round : {0, 1, 2}) {
        for (BadRow const& row : rows) {
            for (bool const bytewise : {false, true}) {
                CAPTURE(row.number, row.bytes.substr(0, 300), bytewise);
                // Sixty thousand packets each take their time, once.
                if (bytewise && round != 0 && row.bytes.size() > 4'096) continue;
                CHECK(exchange_raw(address, row.bytes, bytewise) == row.answers);
            }
        }
        if (round == 0) resident_later = resident_bytes(server.child().pid());
    }
    // All of it, with what the first round fills and keeps for reuse; the others must find it.
    auto const grown_since = [&server](std::size_t earlier) {
        return static_cast<std::ptrdiff_t>(resident_bytes(server.child().pid())) -
               static_cast<std::ptrdiff_t>(earlier);
    };
    std::cout << rows.size() << " rows, 3 rounds, grown by " << grown_since(resident) / 1'024
              << " KiB, since the first by " << grown_since(resident_later) / 1'024 << " KiB\n";
    CHECK(grown_since(resident_later) < 8 * 1'024 * 1'024);
#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // these have pages of their own
    CHECK(grown_since(resident) < 8 * 1'024 * 1'024);
#endif
    CHECK(json_part(call(server.url(), "GET", "/v1/events/night").body, "availability") == before);
    check_pipelined(address);
    auto const metrics = call(server.admin_url(), "GET", "/metrics").body;
    CHECK(metrics.find("holdfast_http_handler_exceptions_total 0\n") != std::string::npos);
    CHECK(server.stop() == 0);
}

TEST_CASE("A28: the public listener answers to the names of http.hosts, the admin listener to all",
          "[e2e][bad-input][A28]") {
    TempFolder const folder;
    ServerProcess server({.data = folder.path() / "data",
                          .flags = {},
                          .variables = {{"HOLDFAST_HTTP_HOSTS", "shop.example, [::1]"}}});
    auto const answer_to = [](std::string_view url, std::string const& host) {
        std::string_view const address = url.substr(std::string_view{"http://"}.size());
        std::string const bytes = "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
        std::string const whole = exchange_raw(std::string{address}, bytes, false);
        CHECK(exchange_raw(std::string{address}, bytes, true) == whole);
        return whole;
    };
    CHECK(answer_to(server.url(), "Shop.Example.:8080") == "200");
    CHECK(answer_to(server.url(), "[0:0::1]") == "200");
    CHECK(answer_to(server.url(), address_of(server)) == "421 misdirected-request");
    CHECK(answer_to(server.url(), "shop.example.evil") == "421 misdirected-request");
    CHECK(answer_to(server.admin_url(), "shop.example.evil") == "200");
    CHECK(server.stop() == 0);
}

TEST_CASE("every route answers every method over a socket, and none with 500",
          "[e2e][bad-input][A52]") {
    TempFolder const folder;
    ServerProcess server({.data = folder.path() / "data", .flags = {}, .variables = {}});
    std::string const address = address_of(server);
    std::string const index = call(server.url(), "GET", "/v1").body;
    std::string const mark = "\"path\":\"";
    std::size_t paths = 0;
    for (auto at = index.find(mark); at != index.npos; at = index.find(mark, at + 1), ++paths) {
        std::string path = index.substr(at + mark.size());
        path = path.substr(0, path.find('"'));
        for (auto open = path.find('{'); open != path.npos; open = path.find('{'))
            path.replace(open, path.find('}') - open + 1, "none");
        for (std::string const method : {"HEAD", "OPTIONS", "PUT", "PATCH", "TRACE", "BREW"}) {
            CAPTURE(path, method);
            live::Client client{address};
            REQUIRE(client.send(line(method + " " + path + " HTTP/1.1")));
            auto const answer = client.answer(method == "HEAD");
            CHECK(answer.status != 500);
            if (method == "OPTIONS") CHECK(answer.status == 204);
            if (method == "TRACE") CHECK(answer.status == 405);
            if (method == "BREW") CHECK(answer.status == 405);
            if (answer.status == 405) CHECK(answer.header("Allow") != "");
            if (method == "HEAD" && answer.status != 405) {
                REQUIRE(client.send(line("GET " + path + " HTTP/1.1")));
                auto const got = client.answer();  // nothing stands between: HEAD had no body
                CHECK(got.status == answer.status);
                CHECK(got.header("Content-Length") == answer.header("Content-Length"));
            }
        }
    }
    CHECK(paths > 20);
    CHECK(server.stop() == 0);
}
