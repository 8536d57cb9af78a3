#include "loadgen/buyer.hpp"

#include "tests/loadgen/fake_server.hpp"

#include <catch2/catch.hpp>
#include <memory>

using namespace holdfast;
using namespace holdfast::loadgen;
using loadgen::testing::FakeServer;

namespace {

using Scripts = std::vector<std::vector<std::string>>;

std::string answer(unsigned status, std::string const& body) {
    return "HTTP/1.1 " + std::to_string(status) +
           " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string const held = answer(
    201, R"({"hold":"h_1","token":"tok","state":"held","seats":["A-1-1"],"general":[],"total":5})");
std::string const order_body_1 =
    R"({"order":"o_1","state":"confirmed","tickets":[{"ticket":"t_1","seat":"A-1-1"}],"total":5})";
std::string const ordered = answer(201, order_body_1);
std::string const expired = answer(410, R"({"code":"hold-expired"})");
std::string const no_answer;  // then the connection ends
std::string const released = "HTTP/1.1 204 X\r\n\r\n";
std::string const confirmed = answer(409, R"({"code":"already-confirmed","order":"o_1"})");

std::string unavailable(std::string const& code) {
    return answer(503, R"({"code":")" + code + R"("})");
}

struct Scene {
    Conduct conduct;
    Ledger ledger;
    std::vector<std::string> requests;
    std::string failure;
};

/// One buyer makes one claim, and ends what came of it.
Scene play(std::uint64_t seed, Scripts scripts, Milliseconds hold_ttl = Milliseconds{60'000},
           bool none_abandoned = false) {
    auto const venue =
        read_venue(R"({"sections":[{"id":"A","rows":[{"first":0,"seats":[{"name":"A-1-1"}]}]}]})");
    REQUIRE(venue.has_value());
    Picture picture(*venue);
    picture.show({{SeatState::free}, {}});
    FakeServer server(std::move(scripts));
    auto const url = parse_url(server.url());
    REQUIRE(url.has_value());
    Scene scene;
    {
        Loop loop;
        Market market{.loop = loop,
                      .venue = *venue,
                      .picture = picture,
                      .url = *url,
                      .event = "e",
                      .hold_ttl = hold_ttl,
                      .ledger = {},
                      .conduct = {},
                      .none_abandoned = none_abandoned,
                      .changed = [] {},
                      .fail = {}};
        market.changed = [&] {
            if (market.resting == 1) loop.stop();
        };
        market.fail = [&](std::string why) {
            scene.failure = std::move(why);
            loop.stop();
        };
        Buyer buyer(market, seed);
        loop.post([&] {
            buyer.start();
            market.over = true;
        });
        REQUIRE(loop.run_for(Milliseconds{10'000}));
        scene.conduct = market.conduct;
        scene.ledger = market.ledger;
    }
    scene.requests = server.join();
    return scene;
}

/// A seed with which the buyer's second request, if any, starts so.
std::uint64_t seed_of(std::string const& request) {
    for (std::uint64_t seed = 1; seed < 1'000; ++seed) {
        auto const scene = play(seed, {{held, expired}}, Milliseconds{0});
        bool const second = scene.requests.size() == 2;
        if (request.empty() ? !second : second && scene.requests[1].rfind(request, 0) == 0) {
            return seed;
        }
    }
    FAIL("no seed makes the buyer send " + request);
    return 0;
}

}  // namespace

TEST_CASE("a buyer who pays has the order in the ledger", "[loadgen]") {
    auto const scene = play(seed_of("POST /v1/orders"), {{held, ordered}});
    CHECK(scene.conduct.answers.holds());
    REQUIRE(scene.ledger.orders.size() == 1);
    CHECK(scene.ledger.orders[0].id == "o_1");
    CHECK(scene.ledger.places_ordered == 1);
    CHECK(scene.ledger.holds.at(0).fate == Fate::ordered);
    CHECK(scene.conduct.confirm_us.count() == 1);
    REQUIRE(scene.requests.size() == 2);
    CHECK(scene.requests[0].rfind("POST /v1/events/e/holds HTTP/1.1\r\n", 0) == 0);
    CHECK_THAT(scene.requests[1], Catch::Contains("Authorization: Hold tok\r\n"));
    CHECK_THAT(scene.requests[1], Catch::Contains(R"("holds":[{"hold":"h_1","token":"tok"}])"));
}

TEST_CASE("a live hold that is refused is a broken promise", "[loadgen]") {
    auto const seed = seed_of("POST /v1/orders");
    auto const scene = play(seed, {{held, expired}});
    CHECK(scene.conduct.answers.broken == 1);
    CHECK(scene.ledger.orders.empty());
    // When its time may be over, it is a refusal like any other.
    auto const late = play(seed, {{held, expired}}, Milliseconds{0});
    CHECK(late.conduct.answers.broken == 0);
    CHECK(late.conduct.refusals.at("order hold-expired") == 1);
    CHECK(late.ledger.holds.at(0).fate == Fate::expired);
}

TEST_CASE("answers that the API does not know are broken promises", "[loadgen]") {
    auto const seed = seed_of("POST /v1/orders");
    auto const bad = GENERATE_REF(values<std::vector<std::string>>({
        {answer(500, "{}")},
        {answer(201, "{}")},
        {answer(404, R"({"code":"not-found"})")},
        {answer(200, "")},
        {held, answer(500, "{}")},
        {held, answer(201, "{}")},
        {held, answer(404, R"({"code":"not-found"})")},
        {held, answer(409, R"({"code":"already-confirmed","order":"o_9"})")},
        {held, answer(409, R"({"code":"already-released"})")},
    }));
    auto const scene = play(seed, {bad});
    CHECK(scene.conduct.answers.broken == 1);
    CHECK(scene.ledger.orders.empty());
}

TEST_CASE("a refused claim is counted by its reason", "[loadgen]") {
    auto const scene = play(1, {{answer(409, R"({"code":"seats-unavailable"})")}});
    CHECK(scene.conduct.refusals.at("claim seats-unavailable") == 1);
    CHECK(scene.conduct.answers.holds());
    CHECK(scene.ledger.holds.empty());
}

TEST_CASE("an order whose answer was lost is asked for again", "[loadgen]") {
    auto const seed = seed_of("POST /v1/orders");
    SECTION("it had not arrived") {
        auto const scene = play(seed, {{held, no_answer}, {ordered}});
        CHECK(scene.conduct.answers.holds());
        CHECK(scene.conduct.answers_lost == 1);
        CHECK(scene.ledger.orders.size() == 1);
    }
    SECTION("it had arrived") {
        auto const scene = play(seed, {{held, no_answer}, {confirmed, answer(200, order_body_1)}});
        CHECK(scene.conduct.answers.holds());
        REQUIRE(scene.requests.size() == 4);
        CHECK(scene.requests[3].rfind("GET /v1/orders/o_1 ", 0) == 0);
        CHECK(scene.ledger.orders.size() == 1);
        CHECK(scene.ledger.holds.at(0).fate == Fate::ordered);
    }
}

TEST_CASE("an order that cannot be read at the moment is asked for once more", "[loadgen]") {
    auto const* const code = GENERATE("busy", "overloaded", "rate-limited", "timeout");
    auto const scene = play(
        seed_of("POST /v1/orders"),
        {{held, no_answer}, {confirmed, unavailable(code), confirmed, answer(200, order_body_1)}});
    CAPTURE(code);
    CHECK(scene.conduct.answers.holds());
    CHECK(scene.conduct.refusals.at("order " + std::string(code)) == 1);
    CHECK(scene.requests.size() == 6);
    CHECK(scene.ledger.orders.size() == 1);
    CHECK(scene.ledger.holds.at(0).fate == Fate::ordered);
}

TEST_CASE("an answer that the result is unknown is one that was lost", "[loadgen]") {
    auto const unknown = unavailable("timeout");
    auto const claim = play(1, {{unknown}});
    CHECK(claim.conduct.answers.holds());
    CHECK(claim.ledger.claims_unanswered == 1);
    CHECK(claim.requests.size() == 1);
    auto const order =
        play(seed_of("POST /v1/orders"), {{held, unknown, confirmed, answer(200, order_body_1)}});
    CHECK(order.conduct.answers.holds());
    CHECK(order.ledger.orders.size() == 1);
    auto const release = play(seed_of("DELETE /v1/holds/h_1"), {{held, unknown, released}});
    CHECK(release.conduct.answers.holds());
    CHECK(release.conduct.refusals.at("release timeout") == 1);
    CHECK(release.ledger.holds.at(0).fate == Fate::released);
}

TEST_CASE("a server that takes no more changes ends the sale, and breaks no promise", "[loadgen]") {
    auto const* const code = GENERATE("read-only", "durability-lost");
    auto const scene = play(seed_of("POST /v1/orders"), {{held, unavailable(code)}});
    CHECK_THAT(scene.failure, Catch::Contains(code));
    CHECK(scene.conduct.answers.holds());
    bool const unknown = std::string_view{code} == "durability-lost";
    CHECK(scene.ledger.holds.at(0).fate == (unknown ? Fate::ordering : Fate::held));
}

TEST_CASE("a claim whose answer was lost is given up", "[loadgen]") {
    auto const scene = play(1, {{no_answer}});
    CHECK(scene.ledger.claims_unanswered == 1);
    CHECK(scene.ledger.holds.empty());
    CHECK(scene.requests.size() == 1);
}

TEST_CASE("a release is a fact once it is answered", "[loadgen]") {
    auto const seed = seed_of("DELETE /v1/holds/h_1");
    auto const scene = play(seed, {{held, no_answer}, {released}});
    CHECK(scene.conduct.answers.holds());
    CHECK(scene.conduct.releases == 1);
    CHECK(scene.ledger.holds.at(0).fate == Fate::released);
    CHECK(play(seed, {{held, answer(404, "{}")}}).conduct.answers.broken == 1);
}

TEST_CASE("paying for an expired hold must be refused", "[loadgen]") {
    // The late ones are those that wait: a hold of 1 ms is paid for after more than 400 ms.
    auto const late = [](Scene const& scene) { return scene.conduct.late_payments == 1; };
    std::uint64_t seed = 1;
    while (seed < 1'000 && !late(play(seed, {{held, expired}}, Milliseconds{1}))) ++seed;
    REQUIRE(seed < 1'000);
    CHECK(play(seed, {{held, expired}}, Milliseconds{1}).conduct.answers.holds());
    auto const again = play(seed, {{held, unavailable("overloaded"), expired}}, Milliseconds{1});
    CHECK(again.conduct.answers.holds());
    CHECK(again.conduct.refusals.at("late order overloaded") == 1);
    CHECK(again.conduct.late_payments == 1);
    auto const sold = play(seed, {{held, ordered}}, Milliseconds{1});
    CHECK(sold.conduct.answers.broken == 1);
    CHECK_THAT(sold.conduct.answers.first.at(0), Catch::Contains("after its deadline"));
    CHECK(sold.ledger.orders.size() == 1);
}

TEST_CASE("a buyer who goes away sends nothing more", "[loadgen]") {
    auto const scene = play(seed_of(""), {{held}});
    CHECK(scene.requests.size() == 1);
    CHECK(scene.ledger.holds.at(0).fate == Fate::abandoned);
    CHECK(scene.conduct.answers.holds());
}

TEST_CASE("where nobody abandons a hold, who would have gone away gives it back", "[loadgen]") {
    auto const scene = play(seed_of(""), {{held, released}}, Milliseconds{60'000}, true);
    REQUIRE(scene.requests.size() == 2);
    CHECK(scene.requests[1].rfind("DELETE /v1/holds/h_1 ", 0) == 0);
    CHECK(scene.ledger.holds.at(0).fate == Fate::released);
}
