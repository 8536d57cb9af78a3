// Every n-th allocation of a thread of the server's own fails, once or from then on (RELIABILITY.md
// 4.6): what was acknowledged stays, the server goes on or says what it cannot, and after a restart
// all of it is as if there had always been memory.
#include "tests/app/poor_house.hpp"
#include "tests/app/poor_text.hpp"
#include "tests/engine/failing_memory.hpp"
#include "tests/support/poor_steps.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::app::test {
namespace {

using engine::test::allocations_of_named;
using engine::test::end_of_failing;
using engine::test::fail_allocation_of;
using std::chrono::steady_clock;

/// Each has a key and is asked again after the restart: what was acknowledged is answered as it
/// was, and what was not happens then.
std::vector<Asked> work_for_all(PoorHouse const& house) {
    std::vector<Asked> work{
        {"POST", "/v1/events/demo/holds", R"({"seats":["A-1-3","A-1-4"]})"},
        {"POST", "/v1/orders", R"({"holds":[")" + house.hold + R"("],"payment":{"method":"none"}})",
         house.holder()},
        {"POST", "/v1/events", R"({"id":"new","name":"New","sections":[{"id":"GA","capacity":7}]})",
         PoorHouse::staff()},
        {"POST", "/v1/orders/" + house.order + "/cancel", "{}", PoorHouse::staff()},
        {"POST", "/v1/events/demo/blocks", R"({"seats":["B-1-5"]})", PoorHouse::staff()},
        {"POST", "/v1/events/later/publish", "{}", PoorHouse::staff()}};
    for (std::size_t number = 0; number < work.size(); ++number)
        work[number].more =
            "Idempotency-Key: 0123456789abcdef0123456789abcde" + std::to_string(number) + "\r\n";
    return work;
}

bool is_success(unsigned status) {
    return status / 100 == 2;
}

/// A house whose threads have something to do, and one of them no memory for it.
class PoorThread {
public:
    explicit PoorThread(PoorHouse& house) : house_(house) {}

    /// Whether the thread had so many allocations.
    bool live(char const* thread, long nth, bool lasting) {
        house_.end();
        fail_allocation_of({thread}, nth, lasting);
        house_.begin();
        acknowledged_.clear();
        // A keeper looks when it begins, and then not while records come.
        auto const keeper_is_done = [&] {
            return allocations_of_named() >= nth || !house_.has_segment(1);
        };
        if (is_keeper(thread)) CHECK(until(keeper_is_done));
        std::size_t number = 0;
        for (Asked const& asked : work_for_all(house_)) {
            auto const answer = house_.ask(asked);
            CAPTURE(asked.target, answer.status, answer.body);
            CHECK((is_success(answer.status) || answer.status == 503));
            if (is_success(answer.status)) acknowledged_[number] = lasting_part(answer);
            ++number;
        }
        change_segments();
        bool const met = end_of_failing();
        // Read from memory, and whatever ails the store.
        CHECK(house_.ask({"GET", "/v1/events/demo/state"}).status == 200);
        CHECK(house_.ask({"GET", "/healthz"}).status == 200);
        CHECK(house_.has_no_connections());
        return met;
    }
    /// What all know after a restart; all the work is done by then.
    std::string restart(char const* thread) {
        house_.restart();
        if (is_keeper(thread)) CHECK(until([this] { return !house_.has_segment(1); }));
        if (!left_over_.target.empty()) CHECK(house_.ask(left_over_).status == 204);
        left_over_.target.clear();
        std::size_t number = 0;
        for (Asked const& asked : work_for_all(house_)) {
            auto const answer = house_.ask(asked);
            CAPTURE(asked.target, answer.status, answer.body);
            CHECK(is_success(answer.status));
            auto const first = acknowledged_.find(number++);
            if (first != acknowledged_.end()) CHECK(lasting_part(answer) == first->second);
        }
        return house_.settled_state();
    }

private:
    static std::string lasting_part(live::Answer const& answer) {
        return std::to_string(answer.status) + " " + lasting(answer.body);
    }
    static bool is_keeper(std::string_view thread) { return thread == "keeper"; }
    static bool until(std::function<bool()> const& fact) {
        auto const deadline = steady_clock::now() + live::deadline;
        while (!fact()) {
            if (steady_clock::now() > deadline) return false;
            std::this_thread::yield();
        }
        return true;
    }
    /// As long as there is room for them; leaves nothing.
    void change_segments() {
        for (int number = 0; number < 24; ++number) {
            auto const held =
                house_.ask({"POST", "/v1/events/demo/holds", R"({"section":"GA","quantity":1})"});
            if (held.status == 503) return;
            CHECK(held.status == 201);
            left_over_ = {"DELETE",
                          "/v1/holds/" + member(held.body, "hold"),
                          {},
                          "Hold " + member(held.body, "token")};
            auto const released = house_.ask(left_over_);
            CHECK((released.status == 204 || released.status == 503));
            if (released.status == 503) return;
            left_over_.target.clear();
        }
    }

    PoorHouse& house_;
    std::map<std::size_t, std::string> acknowledged_;
    Asked left_over_;  // to be released after the restart
};

void fail_each_on(char const* thread, long few, long many) {
    REQUIRE(engine::test::libraries_may_fail());
    PoorHouse house;
    house.grow();
    PoorThread poor(house);
    REQUIRE_FALSE(poor.live(thread, 1'000'000, false));
    long const all = allocations_of_named();
    std::string const usual = poor.restart(thread);
    holdfast::test::PoorSteps steps(few, many);
    long const step = steps.step(all);
    long failures = 0;
    for (bool const lasting : {false, true}) {
        for (long nth = steps.first(step); nth <= all; nth += step) {
            CAPTURE(thread, lasting, nth, all);
            if (poor.live(thread, nth, lasting)) ++failures;
            CHECK(poor.restart(thread) == usual);
        }
    }
    std::printf("failing allocations of the thread %s: %ld of %ld\n", thread, failures, 2 * all);
    CHECK(failures > 0);
}

}  // namespace

TEST_CASE("P9: any allocation of the thread that deletes old segments may fail",
          "[app][memory][keeper]") {
    fail_each_on("keeper", 2, 20);
}

TEST_CASE("P9: a server whose store thread has no memory serves", "[app][memory]") {
    fail_each_on("store", 2, 6);
}

TEST_CASE("P9: a server whose journal is looked after without memory serves", "[app][memory]") {
    fail_each_on("upkeep", 2, 6);
}

TEST_CASE("P9: a server serves whose other threads have no memory", "[app][memory]") {
    PoorHouse house;
    PoorThread poor(house);
    poor.live("none", 1, false);
    std::string const usual = poor.restart("none");
    for (char const* const thread : {"journal", "expiry", "streams"}) {
        CAPTURE(thread);
        poor.live(thread, 1, true);
        CHECK(poor.restart(thread) == usual);
    }
}

TEST_CASE("P9: a hold ends in time though the thread that ends it has no memory", "[app][memory]") {
    PoorHouse house;
    house.end();
    fail_allocation_of({"expiry"}, 1, true);
    house.begin();
    REQUIRE(house
                .ask({"POST", "/v1/events",
                      R"({"id":"quick","name":"Quick","publish":true,
                          "policy":{"hold_ttl_s":1,"hold_max_life_s":2},
                          "sections":[{"id":"GA","capacity":7}]})",
                      PoorHouse::staff()})
                .status == 202);
    auto const until = [](auto const& fact) {
        auto const deadline = steady_clock::now() + live::deadline;
        while (!fact()) REQUIRE(steady_clock::now() < deadline);
    };
    until([&] {
        return house.ask({"POST", "/v1/events/quick/holds", R"({"section":"GA","quantity":1})"})
                   .status == 201;
    });
    auto const records = [&] {
        auto const metrics = house.ask({"GET", "/metrics", {}, PoorHouse::staff()}).body;
        return std::stol(metrics.substr(metrics.find("\nholdfast_durable_lsn ") + 22));
    };
    long const claimed = records();
    until([&] { return records() > claimed; });  // nobody has met the hold
    end_of_failing();
}

}  // namespace holdfast::app::test
