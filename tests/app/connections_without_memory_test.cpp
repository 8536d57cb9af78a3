// Every n-th allocation of a handshake, and of what finds and tells the changes of places, fails
// (RELIABILITY.md 4.6): the server goes on, and those who watch miss nothing.
#include "tests/app/poor_house.hpp"
#include "tests/engine/failing_memory.hpp"
#include "tests/support/certificate.hpp"
#include "tests/support/poor_steps.hpp"
#include "tests/support/tls_client.hpp"

#include <holdfast/http/tls.hpp>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

namespace holdfast::app::test {
namespace {

using engine::test::allocations_of_named;
using engine::test::end_of_failing;
using engine::test::fail_allocation_of;
using holdfast::test::TlsClient;

std::shared_ptr<http::TlsIdentity const> identity_in(holdfast::test::TempFolder const& folder) {
    auto const made = holdfast::test::make_certificate("t.example");
    auto const identity = http::TlsIdentity::load(
        {folder.write("certificate", made.certificate), folder.write("key", made.key)});
    if (!identity) throw std::runtime_error(identity.error().why);
    return *identity;
}

/// "" if it ended without a word.
std::string answer_over_tls(PoorHouse const& house) {
    TlsClient client(house.address());
    if (!client.handshake()) return {};
    if (!client.send(text_of({"GET", "/v1/events/demo"}))) return {};
    return client.answer();
}

/// A claim while the thread that looks for changes is poor: whether it was.
bool is_told(PoorHouse& house, long nth, bool lasting) {
    house.begin();
    live::Client watcher = house.connect();
    REQUIRE(watcher.send(text_of({"GET", "/v1/events/demo/stream"})));
    REQUIRE(watcher.upto("\r\n\r\n").starts_with("HTTP/1.1 200"));
    REQUIRE_FALSE(watcher.upto("\n\n").empty());  // when to come back
    REQUIRE_FALSE(watcher.upto("\n\n").empty());  // where it begins
    fail_allocation_of({"streams"}, nth, lasting);
    CHECK(house.ask({"POST", "/v1/events/demo/holds", R"({"section":"GA","quantity":1})"}).status ==
          201);
    auto const deadline = std::chrono::steady_clock::now() + live::deadline;
    while (allocations_of_named() < nth && watcher.silent() &&
           std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    bool const met = end_of_failing();
    std::string const told = watcher.upto("\n\n");
    INFO(told);
    CHECK(told.find("\"held\":3") != std::string::npos);
    return met;
}

}  // namespace

TEST_CASE("P9: any allocation of a TLS connection may fail", "[app][memory]") {
    holdfast::test::TempFolder const folder;
    PoorHouse house(identity_in(folder));
    house.begin();
    fail_allocation_of({"io-"}, 1'000'000, false);
    REQUIRE(answer_over_tls(house).starts_with("HTTP/1.1 200"));
    holdfast::test::PoorSteps steps(4, 60);
    long const step = steps.step(allocations_of_named());
    long failures = 0;
    for (bool const lasting : {false, true}) {
        for (long nth = steps.first(step);; nth += step) {
            CAPTURE(lasting, nth);
            REQUIRE(nth < 100'000);
            house.begin();
            fail_allocation_of({"io-"}, nth, lasting);
            std::string const answer = answer_over_tls(house);
            bool const met = end_of_failing();
            bool const good = answer.empty() || answer.starts_with("HTTP/1.1 200") ||
                              answer.starts_with("HTTP/1.1 503");
            INFO(answer);
            CHECK(good);
            CHECK(answer_over_tls(house).starts_with("HTTP/1.1 200"));
            CHECK(house.has_no_connections());
            if (!met) break;
            ++failures;
        }
    }
    CHECK(failures > 2);
}

TEST_CASE("P9: whoever watches misses nothing for want of memory", "[app][memory]") {
    PoorHouse house;
    holdfast::test::PoorSteps steps(5, 0);
    long const step = steps.step(30);
    long met = 0;
    for (bool const lasting : {false, true}) {
        for (long nth = steps.first(step); nth <= 30; nth += step) {
            CAPTURE(lasting, nth);
            if (is_told(house, nth, lasting)) ++met;
        }
    }
    CHECK(met > 1);
}

}  // namespace holdfast::app::test
