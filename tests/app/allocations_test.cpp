// How many allocations a request of the sale makes, from socket to socket, once the server has
// seen some of its kind: pinned, so that none comes back unseen. One of each but of the ends is the
// place of its address among the requests in flight; loopback has none by default, and then a claim
// makes none at all.
#include "tests/app/poor_house.hpp"
#include "tests/app/poor_text.hpp"
#include "tests/engine/failing_memory.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <iostream>
#include <limits>

namespace holdfast::app::test {
namespace {

constexpr int unseen_rounds = 24;
constexpr int rounds = 20;

/// One request after the other, on one connection.
class Counted {
public:
    explicit Counted(PoorHouse const& house) : client_(house.connect()) {}

    std::string ask(unsigned status, Asked const& asked) {
        std::string const text = text_of(asked);
        engine::test::fail_allocation_of({"io-", "worker-"}, std::numeric_limits<long>::max(),
                                         false);
        REQUIRE(client_.send(text));
        auto answer = client_.answer();
        engine::test::end_of_failing();
        allocations_ = engine::test::allocations_of_named();
        INFO(asked.target << ": " << answer.body);
        REQUIRE(answer.status == status);
        return answer.body;
    }
    [[nodiscard]] long allocations() const noexcept { return allocations_; }

private:
    live::Client client_;
    long allocations_{};
};

/// The least of some rounds: what every one of them makes.
long least_of(std::function<long(int)> const& round) {
    long least = std::numeric_limits<long>::max();
    for (int number = 0; number < unseen_rounds + rounds; ++number) {
        long const made = round(number);
        if (number >= unseen_rounds) least = std::min(least, made);
    }
    return least;
}

void check_most(char const* what, long made, long most) {
    std::cout << "allocations of " << what << ": " << made << "\n";
    INFO(what);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    CHECK(made <= 2 * most + 8);  // the optimizer spares some, and is not the same there
#else
    CHECK(made <= most);
#endif
}

constexpr char const* holds = "/v1/events/demo/holds";
constexpr char const* seats = R"({"seats":["A-1-3","A-1-4"]})";

}  // namespace

TEST_CASE("a claim, its refusal, its reading and its end allocate as little as they did",
          "[app][allocations]") {
    PoorHouse house;
    house.begin();
    Counted buyer(house);
    auto const give_back = [&buyer](std::string const& hold) {
        static_cast<void>(buyer.ask(
            204,
            {"DELETE", "/v1/holds/" + member(hold, "hold"), {}, "Hold " + member(hold, "token")}));
        return buyer.allocations();
    };
    long released = std::numeric_limits<long>::max();
    check_most("a claim of two seats", least_of([&](int) {
                   auto const hold = buyer.ask(201, {"POST", holds, seats});
                   long const made = buyer.allocations();
                   released = std::min(released, give_back(hold));
                   return made;
               }),
               1);
    check_most("a release", released, 0);
    check_most("a claim of two general places", least_of([&](int) {
                   auto const hold =
                       buyer.ask(201, {"POST", holds, R"({"section":"GA","quantity":2})"});
                   long const made = buyer.allocations();
                   give_back(hold);
                   return made;
               }),
               1);
    check_most("a claim with a key", least_of([&](int number) {
                   std::string const key = "a-key-that-nobody-guesses-" + std::to_string(number);
                   auto const hold = buyer.ask(
                       201, {"POST", holds, seats, {}, "Idempotency-Key: " + key + "\r\n"});
                   long const made = buyer.allocations();
                   give_back(hold);
                   return made;
               }),
               16);
    check_most("a claim that is refused", least_of([&](int) {
                   static_cast<void>(buyer.ask(409, {"POST", holds, R"({"seats":["A-1-1"]})"}));
                   return buyer.allocations();
               }),
               3);
    check_most("reading a hold", least_of([&](int) {
                   static_cast<void>(
                       buyer.ask(200, {"GET", "/v1/holds/" + house.hold, {}, house.holder()}));
                   return buyer.allocations();
               }),
               3);
}

TEST_CASE("an order allocates as little as it did", "[app][allocations]") {
    PoorHouse house;
    house.begin();
    Counted buyer(house);
    check_most("an order of one place", least_of([&](int) {
                   auto const hold =
                       buyer.ask(201, {"POST", holds, R"({"section":"GA","quantity":1})"});
                   static_cast<void>(buyer.ask(201, {"POST", "/v1/orders",
                                                     R"({"holds":[")" + member(hold, "hold") +
                                                         R"("],"payment":{"method":"none"}})",
                                                     "Hold " + member(hold, "token")}));
                   return buyer.allocations();
               }),
               27);
}

}  // namespace holdfast::app::test
