// What a request meets before its handler: rates, overload, and what is in flight.
#include "api/admission.hpp"

#include "tests/api/stage.hpp"
#include "tests/engine/failing_memory.hpp"

#include <holdfast/api/in_flight.hpp>
#include <holdfast/api/overload.hpp>
#include <holdfast/api/rate_limits.hpp>

#include <catch2/catch.hpp>
#include <map>

namespace holdfast::test {
namespace {

using api::InFlight;
using api::Overload;
using api::OverloadLadder;
using api::RateLimits;
using Catch::Contains;

constexpr TimePoint noon_of_limits{Milliseconds{1'900'000'000'000}};

api::Network peer_of(std::uint8_t third, std::uint8_t last) {
    return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, third, last};
}

struct Asker {
    api::Network peer{peer_of(2, 7)};
    bool loopback{};
    std::string authorization{};
};

/// Routes with an admission, over the context of a stage: what is asked, and by whom.
class LimitedRoutes {
public:
    enum Which : std::size_t { read, write, end, list, hold };
    LimitedRoutes() {
        http::Handler const count = [this](http::Request const&, http::Reply&) { ++handled; };
        routes_.push_back({http::Method::get, "/things", http::RunsOn::io, count, {}, 0});
        routes_.push_back({http::Method::post, "/things", http::RunsOn::io, count, {}, 0});
        routes_.push_back({http::Method::del, "/things", http::RunsOn::io, count, {}, 0});
        routes_.back().unlimited = true;
        routes_.push_back({http::Method::get, "/list", http::RunsOn::worker, count, {}, 0});
        routes_.back().shed_from = OverloadLadder::searches;
        routes_.push_back({http::Method::post, "/holds", http::RunsOn::io, count, {}, 0});
        routes_.back().shed_from = OverloadLadder::top;
        api::limit_requests(routes_, *stage_.context);
    }
    /// Without its fields.
    http::Request request_of(Asker const& asker) const {
        http::Request request;
        request.received_at = now;
        request.peer = asker.peer;
        request.loopback_peer = asker.loopback;
        return request;
    }
    http::Reply send(Which which, Asker const& asker = {}) {
        http::Request request = request_of(asker);
        std::array<http::Field, 1> const fields{http::Field{"authorization", asker.authorization}};
        request.fields = std::span(fields).first(asker.authorization.empty() ? 0 : 1);
        http::Reply reply;
        http::Route const& route = routes_[which];
        if (route.admission == nullptr || route.admission(request, reply))
            route.handler(request, reply);
        return reply;
    }
    void set_rates(RateLimits::Rates const& rates) {
        stage_.context->rates = std::make_shared<RateLimits>(rates);
    }
    void set_holder_rates(RateLimits::Rates const& rates) {
        stage_.context->holder_rates = std::make_shared<RateLimits>(rates);
    }
    std::string token_of(std::uint32_t event, std::uint64_t generation) const {
        return "Hold " + stage_.key->token({EventId{event}, HoldRef{generation, SlotIndex{3}}});
    }
    /// How many of so many are admitted.
    int admitted(int tries, Which which, Asker const& asker) {
        int count = 0;
        for (int i = 0; i < tries; ++i) count += send(which, asker).status == 200 ? 1 : 0;
        return count;
    }
    /// The same of what asks for no route.
    int asked(http::Admission const& admission, int tries, Asker const& asker) const {
        int count = 0;
        for (int i = 0; i < tries; ++i) {
            http::Request request = request_of(asker);
            std::array<http::Field, 1> const fields{
                http::Field{"authorization", asker.authorization}};
            request.fields = std::span(fields).first(asker.authorization.empty() ? 0 : 1);
            http::Reply reply;
            count += admission(request, reply) ? 1 : 0;
        }
        return count;
    }
    api::Context& context() { return *stage_.context; }
    int handled{};
    TimePoint now{noon_of_limits};

private:
    Stage stage_;
    std::vector<http::Route> routes_;
};
using Which = LimitedRoutes::Which;

}  // namespace

TEST_CASE("a network over its rate is told when to come again, and its request does not run",
          "[rates]") {
    LimitedRoutes routes;
    routes.set_rates({.reads_per_s = 0, .writes_per_s = 1});
    auto const first = routes.send(Which::write);
    CHECK(first.status == 200);
    CHECK_THAT(first.admission_headers, Contains("RateLimit-Policy: \"write\";q=10;w=10\r\n"));
    CHECK_THAT(first.admission_headers, Contains("RateLimit: \"write\";r=9;t=1\r\n"));
    for (int i = 0; i < 9; ++i) CHECK(routes.send(Which::write, {peer_of(2, 8)}).status == 200);
    auto const refused = routes.send(Which::write, {peer_of(2, 9)});
    CHECK(refused.status == 429);
    CHECK(refused.rests);
    CHECK(refused.content_type == "application/problem+json");
    CHECK_THAT(refused.body, Contains("\"code\":\"rate-limited\""));
    CHECK_THAT(refused.body, Contains("\"retryable\":true"));
    CHECK_THAT(refused.headers, Contains("Retry-After: 1\r\n"));
    CHECK_THAT(refused.admission_headers, Contains("RateLimit: \"write\";r=0;t=10\r\n"));
    CHECK(routes.handled == 10);
    // Reads have no limit here, and so say nothing of one.
    CHECK(routes.send(Which::read).admission_headers.empty());
}

TEST_CASE("the operator, loopback and what ends a purchase are never told to wait", "[rates]") {
    LimitedRoutes routes;
    routes.set_rates({.reads_per_s = 1, .writes_per_s = 1});
    for (int i = 0; i < 30; ++i) {
        CHECK(routes.send(Which::write, {.authorization = staff}).status == 200);
        CHECK(routes.send(Which::write, {.loopback = true}).status == 200);
        CHECK(routes.send(Which::end).status == 200);
    }
    CHECK(routes.send(Which::write, {.loopback = true}).admission_headers.empty());
    auto const guessed = routes.send(Which::write, {.authorization = "Bearer guessed"});
    CHECK(guessed.admission_headers != "");
    routes.context().limit_loopback = true;
    int admitted = 0;
    for (int i = 0; i < 30; ++i)
        admitted += routes.send(Which::read, {.loopback = true}).status == 200 ? 1 : 0;
    CHECK(admitted == 10);
}

TEST_CASE("who has a hold's token has a bucket of their own, wherever they ask from", "[rates]") {
    LimitedRoutes routes;
    routes.set_holder_rates({.reads_per_s = 2, .writes_per_s = 1});
    Asker const mine{.loopback = true, .authorization = routes.token_of(1, 1)};
    auto const first = routes.send(Which::write, mine);
    CHECK(first.status == 200);
    CHECK_THAT(first.admission_headers, Contains("RateLimit-Policy: \"hold-write\";q=10;w=10\r\n"));
    CHECK_THAT(first.admission_headers, Contains("RateLimit: \"hold-write\";r=9;t=1\r\n"));
    CHECK(routes.admitted(20, Which::write, {peer_of(2, 8), false, mine.authorization}) == 9);
    auto const refused = routes.send(Which::write, mine);
    CHECK(refused.status == 429);
    CHECK(refused.rests);
    CHECK_THAT(refused.body, Contains("\"code\":\"rate-limited\""));
    CHECK_THAT(refused.body, Contains("This hold has"));
    CHECK_THAT(refused.headers, Contains("Retry-After: 1\r\n"));
    CHECK_THAT(refused.admission_headers, Contains("RateLimit: \"hold-write\";r=0;t=10\r\n"));
    // Reads, other holds, what ends a purchase and the operator are not what was used up.
    CHECK(routes.admitted(30, Which::read, mine) == 20);
    CHECK(routes.admitted(20, Which::write, {.authorization = routes.token_of(1, 2)}) == 10);
    CHECK(routes.admitted(20, Which::write, {.authorization = routes.token_of(2, 1)}) == 10);
    CHECK(routes.admitted(30, Which::end, mine) == 30);
    CHECK(routes.admitted(30, Which::write, {.authorization = staff}) == 30);
    CHECK(routes.context().holder_rates->known() == 3);
    CHECK(routes.context().holder_rates->refused(RateLimits::Class::write) == 32);
    routes.now += std::chrono::seconds{1};
    CHECK(routes.admitted(20, Which::write, mine) == 1);
}

TEST_CASE("tokens that nobody has made count for the network alone, and take no memory",
          "[rates]") {
    LimitedRoutes routes;
    routes.set_rates({.reads_per_s = 0, .writes_per_s = 3});
    routes.set_holder_rates({.reads_per_s = 0, .writes_per_s = 1});
    std::string const real = routes.token_of(1, 1);
    int admitted = 0;
    for (char const end : std::string_view("abcdefghijklmnopqrstuvwxyz234567")) {
        std::string altered = real;
        altered[8] = end;
        if (altered != real)
            admitted += routes.admitted(1, Which::write, {.authorization = altered});
        admitted += routes.admitted(1, Which::write, {.authorization = std::string("Hold ") + end});
    }
    CHECK(admitted == 30);
    CHECK(routes.context().holder_rates->known() == 0);
}

TEST_CASE("of both buckets the tighter one decides and is told, and neither pays for the other",
          "[rates]") {
    LimitedRoutes routes;
    routes.set_rates({.reads_per_s = 0, .writes_per_s = 2});
    routes.set_holder_rates({.reads_per_s = 0, .writes_per_s = 1});
    Asker const mine{.authorization = routes.token_of(1, 1)};
    Asker const other{.authorization = routes.token_of(1, 2)};
    Asker const guest;
    CHECK_THAT(routes.send(Which::write, mine).admission_headers, Contains("\"hold-write\";r=9;"));
    // Refused ones take nothing from the network: 10 of the holder's, and 10 that are left.
    CHECK(routes.admitted(50, Which::write, mine) == 9);
    CHECK(routes.admitted(5, Which::write, guest) == 5);
    CHECK_THAT(routes.send(Which::write, other).admission_headers, Contains("\"write\";r=4;"));
    CHECK(routes.admitted(50, Which::write, guest) == 4);
    // Nor does the holder pay for what the network refuses.
    auto const refused = routes.send(Which::write, other);
    CHECK(refused.status == 429);
    CHECK_THAT(refused.body, Contains("Your network has"));
    CHECK_THAT(refused.admission_headers, Contains("RateLimit: \"write\";r=0;t=10\r\n"));
    CHECK(routes.admitted(50, Which::write, other) == 0);
    Asker const elsewhere{peer_of(9, 1), false, other.authorization};
    CHECK(routes.admitted(50, Which::write, elsewhere) == 9);
}

TEST_CASE("what reaches no handler, and faults, take from the buckets of reads", "[rates]") {
    bool const of_faults = GENERATE(false, true);
    CAPTURE(of_faults);
    LimitedRoutes routes;
    routes.set_rates({.reads_per_s = 1, .writes_per_s = 2});
    auto const admission = of_faults ? api::fault_admission(routes.context())
                                     : api::unserved_admission(routes.context());
    auto const admitted = [&](Asker const& asker) { return routes.asked(admission, 30, asker); };
    CHECK(routes.send(Which::read).status == 200);
    CHECK(admitted({}) == 9);
    CHECK(routes.send(Which::read).status == 429);
    // Whoever claims behind the same address has all of theirs.
    CHECK(routes.admitted(30, Which::write, {}) == 20);
    CHECK(admitted({peer_of(9, 9)}) == 10);
    CHECK(admitted({.authorization = staff}) == 30);
    CHECK(admitted({.loopback = true}) == 30);
    routes.context().limit_loopback = true;
    CHECK(admitted({peer_of(7, 7), true}) == 10);
    // A fault that is not admitted is not answered, so nothing is written for it.
    http::Reply reply;
    CHECK_FALSE(admission(routes.request_of({}), reply));
    CHECK(reply.body.empty() == of_faults);
    CHECK(reply.admission_headers.empty() == of_faults);
    routes.context().rates.reset();
    CHECK(admitted({}) == 30);
}

TEST_CASE("a principal has so many requests in flight, and a place back with each answer",
          "[in-flight]") {
    InFlight in_flight(2);
    auto const mine = in_flight.operator_key();
    auto const other = in_flight.holder_key("abc");
    auto first = in_flight.take({mine, 0});
    auto second = in_flight.take({mine, 0});
    REQUIRE(first.has_value());
    REQUIRE(second.has_value());
    CHECK_FALSE(in_flight.take({mine, 0}).has_value());
    CHECK(in_flight.principals() == 1);
    first->end();
    {
        auto const third = in_flight.take({other, mine});
        REQUIRE(third.has_value());
        CHECK(in_flight.principals() == 2);
        // One of two that has no place leaves none behind at the other.
        CHECK_FALSE(in_flight.take({other, mine}).has_value());
        CHECK_FALSE(in_flight.take({mine, other}).has_value());
        CHECK(in_flight.take({other, 0}).has_value());
    }
    CHECK(in_flight.principals() == 1);
    http::Lease moved = std::move(*second);
    CHECK_FALSE(second->holds());
    CHECK(in_flight.principals() == 1);
    moved = http::Lease{};
    CHECK(in_flight.principals() == 0);
    CHECK(in_flight.refused() == 3);
    InFlight none(0);
    std::vector<http::Lease> many;
    for (int i = 0; i < 1'000; ++i) {
        auto lease = none.take({none.operator_key(), 0});
        REQUIRE(lease.has_value());
        many.push_back(std::move(*lease));
    }
    CHECK(none.principals() == 0);
}

TEST_CASE("without memory for one place of two the other is given back", "[in-flight]") {
    for (long nth = 1;; ++nth) {
        InFlight in_flight(1);
        http::Lease::Keys const keys{in_flight.holder_key("abc"), in_flight.operator_key()};
        CAPTURE(nth);
        std::optional<http::Lease> taken;
        engine::test::fail_allocation(nth, false);
        try {
            taken = in_flight.take(keys);
        } catch (std::bad_alloc const&) {
            CHECK(engine::test::allocation_failed());
        }
        bool const failed = engine::test::allocation_failed();
        engine::test::fail_allocation(0, false);
        CHECK(taken.has_value() == !failed);
        taken.reset();
        CHECK(in_flight.principals() == 0);
        if (failed) continue;
        CHECK(nth > 2);
        break;
    }
}

TEST_CASE("who is counted: the operator, a holder, an address; never what ends a purchase",
          "[in-flight]") {
    LimitedRoutes routes;
    routes.context().in_flight = std::make_shared<InFlight>(3);
    /// How many get in while all their answers are kept.
    auto const admitted = [&routes](std::vector<Asker> const& askers, Which which = Which::write) {
        std::vector<http::Reply> kept;
        int count = 0;
        for (Asker const& asker : askers) {
            kept.push_back(routes.send(which, asker));
            count += kept.back().status == 200 ? 1 : 0;
        }
        return count;
    };
    auto const times = [](int count, Asker const& asker) {
        return std::vector<Asker>(static_cast<std::size_t>(count), asker);
    };
    CHECK(admitted(times(5, {})) == 3);
    CHECK(admitted(times(5, {})) == 3);  // they were given back
    CHECK(admitted(times(5, {.authorization = staff})) == 3);
    CHECK(admitted(times(5, {.loopback = true})) == 5);
    CHECK(admitted(times(5, {.loopback = true, .authorization = "Hold t"})) == 3);
    CHECK(admitted(times(5, {}), Which::end) == 5);
    // Other addresses of the network are others; other tokens of an address are not.
    CHECK(admitted({{peer_of(2, 1)}, {peer_of(2, 2)}, {peer_of(2, 3)}, {peer_of(2, 4)}}) == 4);
    std::vector<Asker> invented;
    for (char const* const token : {"Hold a", "Hold b", "Hold c", "Hold d"})
        invented.push_back({.authorization = token});
    CHECK(admitted(invented) == 3);
    // One token from many addresses is one holder.
    std::vector<Asker> spread;
    for (std::uint8_t i = 0; i < 5; ++i) spread.push_back({peer_of(3, i), false, "Hold t"});
    CHECK(admitted(spread) == 3);
    std::vector<http::Reply> kept;
    for (int i = 0; i < 3; ++i) kept.push_back(routes.send(Which::write));
    auto const refused = routes.send(Which::write);
    CHECK(refused.status == 429);
    CHECK(refused.rests);
    CHECK_THAT(refused.body, Contains("\"code\":\"rate-limited\""));
    CHECK_THAT(refused.headers, Contains("Retry-After: 1\r\n"));
}

TEST_CASE("P14: under overload searches are refused first, then new holds, and never an end",
          "[overload]") {
    LimitedRoutes routes;
    OverloadLadder::Signals signals;
    routes.context().overload = std::make_shared<Overload>(
        OverloadLadder::Bounds{std::chrono::microseconds{8'000}, 64}, [&] { return signals; });
    auto const climb = [&](int io_wait_us) {
        signals.io_wait = std::chrono::microseconds{io_wait_us};
        for (int i = 0; i < 3; ++i) {
            routes.now += OverloadLadder::interval;
            CHECK(routes.send(Which::end).status == 200);
            static_cast<void>(routes.context().overload->rung(routes.now));
        }
    };
    climb(4'000);
    for (Which const which : {Which::read, Which::write, Which::list, Which::hold})
        CHECK(routes.send(which).status == 200);
    climb(5'000);
    auto const refused = routes.send(Which::list);
    CHECK(refused.status == 503);
    CHECK(refused.rests);
    CHECK_THAT(refused.body, Contains("\"code\":\"overloaded\""));
    CHECK_THAT(refused.body, Contains("\"retryable\":true"));
    CHECK_THAT(refused.headers, Contains("Retry-After: "));
    CHECK(routes.send(Which::list, {.authorization = staff}).status == 503);
    for (Which const which : {Which::read, Which::write, Which::hold})
        CHECK(routes.send(which).status == 200);
    climb(8'000);
    int holds = 0;
    for (int i = 0; i < 1'000; ++i) holds += routes.send(Which::hold).status == 200 ? 1 : 0;
    CHECK(holds > 500);
    CHECK(holds < 1'000);
    CHECK(routes.send(Which::list).status == 503);
    for (Which const which : {Which::read, Which::write, Which::end})
        CHECK(routes.send(which).status == 200);
}

TEST_CASE("the routes of the public listener have their places on the ladder", "[overload]") {
    Stage stage;
    std::map<std::string, unsigned> from;
    for (http::Route const& route : api::public_routes(*stage.context)) {
        std::string const name = std::string(http::to_string(route.method)) + " " + route.pattern;
        if (route.shed_from != 0) from[name] = route.shed_from;
        CHECK((route.admission == nullptr) == route.unlimited);
    }
    CHECK(from == std::map<std::string, unsigned>{{"GET /v1/events", 2},
                                                  {"GET /v1/events/{event}/blocks", 2},
                                                  {"GET /v1/orders", 2},
                                                  {"POST /v1/events/{event}/blocks", 5},
                                                  {"POST /v1/events/{event}/holds", 5}});
    for (http::Route const& route : api::admin_routes(*stage.context))
        CHECK(route.admission == nullptr);
}

TEST_CASE("under overload no preview is made, but the hold is", "[overload]") {
    Stage stage;
    OverloadLadder::Signals const signals{std::chrono::microseconds{5'000}, 0};
    stage.context->overload = std::make_shared<Overload>(
        OverloadLadder::Bounds{std::chrono::microseconds{8'000}, 64}, [&] { return signals; });
    std::string const preview = R"({"best":{"quantity":1,"preview":true}})";
    CHECK(stage.claim(preview).status == 200);
    for (int i = 0; i < 3; ++i)
        static_cast<void>(stage.context->overload->rung(stage.now += OverloadLadder::interval));
    auto const refused = stage.claim(preview);
    CHECK(refused.status == 503);
    CHECK(refused["code"] == "overloaded");
    CHECK(stage.claim(R"({"seats":["A-1-1"]})").status == 201);
    CHECK(stage.get("/readyz").body == R"({"status":"ready","overload":2})");
}

TEST_CASE("every route that takes large bodies takes them from staff only", "[admission]") {
    Stage stage;
    std::size_t large = 0;
    auto routes = api::public_routes(*stage.context);
    for (auto& route : api::admin_routes(*stage.context)) routes.push_back(std::move(route));
    for (http::Route const& route : routes) {
        if (route.body_bytes_max <= limits::body_bytes_max) continue;
        CAPTURE(route.pattern);
        ++large;
        REQUIRE(route.large_body_admission != nullptr);
        auto const ask = [&route](std::string const& authorization) {
            http::Request request;
            std::array<http::Field, 1> const field{http::Field{"authorization", authorization}};
            if (!authorization.empty()) request.fields = field;
            http::Reply reply;
            bool const admitted = route.large_body_admission(request, reply);
            return admitted ? 0 : reply.status;
        };
        CHECK(ask(Stage::operator_credentials()) == 0);
        CHECK(ask({}) == 401);
        CHECK(ask("Bearer of-somebody-else") == 401);
        CHECK(ask("Hold of-somebody") == 403);
    }
    CHECK(large >= 2);
}

}  // namespace holdfast::test
