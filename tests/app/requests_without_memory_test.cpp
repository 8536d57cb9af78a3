// Every n-th allocation of a request that comes over a socket fails, once or from then on
// (RELIABILITY.md 4.6): its answer is the usual one, or a 503 after which nothing has happened, or
// the connection ends and the journal knows; and the server goes on.
#include "tests/app/poor_requests.hpp"
#include "tests/app/poor_text.hpp"
#include "tests/engine/failing_memory.hpp"
#include "tests/support/poor_steps.hpp"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>

namespace holdfast::app::test {
namespace {

using engine::test::end_of_failing;
using engine::test::fail_allocation_of;

/// What came of a request.
struct Outcome {
    bool met{};      // it had so many allocations
    bool done{};     // every answer is the usual one
    bool refused{};  // one is a 503
    std::string wrong;
};

/// With HOLDFAST_POOR_PART=k/m only each m-th request from the k-th on, so that all
/// allocations of all of them can be tried in pieces.
bool is_of_this_part(std::size_t number) {
    char const* const given = std::getenv("HOLDFAST_POOR_PART");
    if (given == nullptr) return true;
    std::size_t part{};
    std::size_t parts{};
    REQUIRE(std::sscanf(given, "%zu/%zu", &part, &parts) == 2);
    REQUIRE(part < parts);
    return number % parts == part;
}

bool is_head(std::string const& text) {
    return text.starts_with("HEAD");
}

/// "" if it is how a request may be refused for want of memory.
std::string fault_of_refusal(live::Answer const& answer, bool head_only) {
    if (answer.status != 503) return "status " + std::to_string(answer.status) + answer.body;
    if (answer.header("Retry-After").empty()) return "no Retry-After";
    if (answer.header("Content-Type") != "application/problem+json") return "no problem";
    if (!head_only && member(answer.body, "code").empty()) return "no code: " + answer.body;
    return {};
}

Outcome send_poorly(PoorHouse const& house, PoorRequest const& request, long nth, bool lasting) {
    std::string const text = request.text(house);
    Outcome outcome;
    fail_allocation_of({"io-", "worker-"}, nth, lasting);
    {
        live::Client client = request.admin ? house.connect_admin() : house.connect();
        outcome.done = client.send(text);
        for (unsigned const usual : request.answers) {
            auto const answer = client.answer(is_head(text));
            if (answer.status == 0) {
                outcome.done = false;
                if (!client.closed()) outcome.wrong = "neither answer nor end";
                break;
            }
            if (answer.status == usual) continue;
            outcome.done = false;
            outcome.refused = true;
            outcome.wrong = fault_of_refusal(answer, is_head(text));
            if (!outcome.wrong.empty()) break;
        }
    }
    outcome.met = end_of_failing();
    return outcome;
}

class Poverty {
public:
    explicit Poverty(PoorHouse& house) : house_(house) {}

    /// All allocations of the request; how many failed.
    long fail_each(PoorRequest const& request) {
        house_.begin();
        before_ = house_.settled_state();
        auto const rich = send_poorly(house_, request, 1'000'000, false);
        INFO(request.name << ": " << rich.wrong);
        REQUIRE(rich.done);
        REQUIRE(rich.wrong.empty());
        long const step = steps_.step(engine::test::allocations_of_named());
        after_ = house_.settled_state();
        long failures = 0;
        for (bool const lasting : {false, true}) {
            for (long nth = steps_.first(step);; nth += step) {
                CAPTURE(request.name, nth, lasting);
                REQUIRE(nth < 20'000);
                if (!fail_at(request, nth, lasting)) break;
                ++failures;
            }
        }
        return failures;
    }

private:
    bool fail_at(PoorRequest const& request, long nth, bool lasting) {
        house_.begin();
        auto const outcome = send_poorly(house_, request, nth, lasting);
        CHECK(outcome.wrong == "");
        bool const alone = request.answers.size() == 1;
        std::string const now = house_.settled_state();
        if (outcome.done) CHECK(now == after_);
        if (outcome.refused && alone) CHECK(now == before_);
        bool const whole = now == before_ || now == after_;
        if (!whole && alone) CHECK(now == after_);  // shows how it differs
        CHECK(house_.has_no_connections());
        if (!outcome.met) return false;
        // The same after a restart; and whoever asks again gets it, once.
        house_.restart();
        CHECK(house_.settled_state() == now);
        bool const again = request.keyed || (now == before_ && alone);
        if (again) {
            CHECK(send_poorly(house_, request, 1'000'000, false).done);
            CHECK(house_.settled_state() == after_);
        }
        return true;
    }

    PoorHouse& house_;
    holdfast::test::PoorSteps steps_{1, 3};
    std::string before_, after_;
};

void fail_each_of(std::vector<PoorRequest> const& requests, char const* what) {
    REQUIRE(engine::test::libraries_may_fail());
    PoorHouse house;
    Poverty poverty(house);
    long failures = 0;
    for (std::size_t number = 0; number < requests.size(); ++number) {
        if (!is_of_this_part(number)) continue;
        failures += poverty.fail_each(requests[number]);
    }
    std::printf("failing allocations of %s: %ld\n", what, failures);
    CHECK(failures > 0);
}

}  // namespace

TEST_CASE("P9: any allocation of a request that changes something may fail", "[app][memory]") {
    fail_each_of(poor_changes(), "requests that change something");
}

TEST_CASE("P9: any allocation of a request that reads may fail", "[app][memory]") {
    fail_each_of(poor_reads(), "requests that read");
}

TEST_CASE("P9: any allocation of a request may fail, however it comes", "[app][memory]") {
    fail_each_of(poor_ways(), "requests that come in other ways");
}

}  // namespace holdfast::app::test
