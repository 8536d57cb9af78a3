// POST /v1/orders/{order}/refund and …/reseat, read back through the real path.
#include "tests/api/backstage.hpp"

#include <memory>
#include <sqlite3.h>
#include <thread>

namespace holdfast::test {
namespace {

/// An order of A-1-1, A-1-2 and B-1-1: 12,000 twice and 4,500.
struct Bought {
    Backstage back;
    std::string token;
    std::string path;
    std::vector<std::string> tickets;

    Bought() : Bought(sample_event(), R"({"seats":["A-1-1","A-1-2","B-1-1"]})") {}
    Bought(EventSpec spec, std::string const& wish) : back(std::move(spec)) {
        auto const hold = claim(wish);
        REQUIRE(hold.status == 201);
        token = "Hold " + member(hold, "token");
        auto const order = back.send(http::Method::post, "/v1/orders",
                                     R"({"holds":[")" + member(hold, "hold") + R"("]})", token);
        REQUIRE(order.status == 201);
        path = "/v1/orders/" + member(order, "order");
        for (auto at = order.body.find("t_"); at != std::string::npos;
             at = order.body.find("t_", at + 1))
            tickets.push_back(order.body.substr(at, 28));
        REQUIRE(tickets.size() == 3);
    }
    http::Reply claim(std::string const& body) {
        return back.send(http::Method::post, "/v1/events/demo/holds", body, "");
    }
    http::Reply refund(std::string const& body, std::string const& who = "Bearer staff") {
        return back.send(http::Method::post, path + "/refund", body, who);
    }
    http::Reply reseat(std::string const& body, std::string const& who = "Bearer staff") {
        return back.send(http::Method::post, path + "/reseat", body, who);
    }
    http::Reply read() { return back.send(http::Method::get, path, "", token); }
    static std::string quoted(std::string const& text) { return '"' + text + '"'; }
    std::string move(std::size_t ticket, std::string const& to) const {
        return R"({"ticket":)" + quoted(tickets[ticket]) + R"(,"to":)" + quoted(to) + "}";
    }
    std::string to_section(std::size_t ticket, std::string const& id) const {
        return R"({"ticket":)" + quoted(tickets[ticket]) + R"(,"section":)" + quoted(id) + "}";
    }
    std::string ticket(std::size_t number, std::string const& seat, bool refunded = false) const {
        return R"({"ticket":)" + quoted(tickets[number]) + R"(,"seat":)" + quoted(seat) +
               (refunded ? R"(,"state":"refunded"})" : "}");
    }
    std::uint32_t taken() {
        std::uint32_t count = 0;
        for (auto const& each : back.context->engine.find("demo")->availability(noon)) {
            CHECK(each.free + each.held + each.sold + each.blocked == each.capacity);
            count += each.sold;
        }
        return count;
    }
};

/// Keeps the store from writing, as a disk that is slow does; readers go on.
class StoreInTheWay {
public:
    explicit StoreInTheWay(std::filesystem::path const& file) {
        REQUIRE(sqlite3_open(file.c_str(), &database_) == SQLITE_OK);
        sqlite3_busy_timeout(database_, 60'000);
        REQUIRE(sqlite3_exec(database_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
    }
    ~StoreInTheWay() { sqlite3_close(database_); }
    StoreInTheWay(StoreInTheWay const&) = delete;
    StoreInTheWay& operator=(StoreInTheWay const&) = delete;

private:
    sqlite3* database_{};
};

bool contains(http::Reply const& reply, std::string const& text) {
    return reply.body.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE_METHOD(Bought, "a refunded ticket says so, and the rest of the order stays", "[orders]") {
    auto const answer = refund(R"({"tickets":[)" + quoted(tickets[1]) + "]}");
    CHECK(answer.status == 200);
    CHECK(answer.lsn != no_lsn);
    CHECK(member(answer, "state") == "confirmed");
    CHECK(contains(answer, ticket(1, "A-1-2", true)));
    CHECK(contains(answer, ticket(0, "A-1-1")));
    CHECK(contains(answer, R"("total":16500)"));
    CHECK(read().body == answer.body);
    CHECK(taken() == 2);
    CHECK(claim(R"({"seats":["A-1-2"]})").status == 201);
    // Twice, also together with one that is still valid: nothing happens.
    auto const both = R"({"tickets":[)" + quoted(tickets[0]) + "," + quoted(tickets[1]) + "]}";
    auto const twice = refund(both);
    CHECK(twice.status == 409);
    CHECK(member(twice, "code") == "already-released");
    CHECK(read().body == answer.body);
    // The rest: the order is cancelled then.
    auto const rest =
        refund(R"({"tickets":[)" + quoted(tickets[0]) + "," + quoted(tickets[2]) + "]}");
    CHECK(rest.status == 200);
    CHECK(member(rest, "state") == "cancelled");
    CHECK(read().body == rest.body);
    CHECK(taken() == 0);
    CHECK(refund("").status == 409);
}

TEST_CASE_METHOD(Bought, "P6: an order is never told as it was before an answer about it",
                 "[orders]") {
    auto const other = claim(R"({"seats":["B-1-2"]})");
    auto const other_token = "Hold " + member(other, "token");
    auto const untouched =
        back.send(http::Method::post, "/v1/orders",
                  R"({"holds":[")" + member(other, "hold") + R"("]})", other_token);
    std::string const other_path = "/v1/orders/" + member(untouched, "order");
    REQUIRE(read().status == 200);
    REQUIRE(back.send(http::Method::get, other_path, "", other_token).status == 200);
    back.context->store_patience = Milliseconds{1};
    auto const cancel = [this](std::string const& order) {
        return back.send(http::Method::post, order + "/cancel", "", "Bearer staff");
    };
    auto const list = [this] {
        return back.send(http::Method::get, "/v1/orders", "", "Bearer staff");
    };
    {
        StoreInTheWay const slow(back.folder / "store.db");
        REQUIRE(refund(R"({"tickets":[)" + quoted(tickets[1]) + "]}").status == 200);
        for (auto const& answer : {read(), list()}) {
            CHECK(answer.status == 503);
            CHECK(member(answer, "code") == "overloaded");
        }
        // Nor may an answer be made of what it was.
        auto const cancelled = cancel(path);
        CHECK(cancelled.status == 503);
        CHECK(member(cancelled, "code") == "overloaded");
        // One that nobody has changed is as it was.
        CHECK(back.send(http::Method::get, other_path, "", other_token).status == 200);
        CHECK(cancel(other_path).status == 200);
    }
    back.context->store_patience = Milliseconds{60'000};
    CHECK(contains(read(), ticket(1, "A-1-2", true)));
    CHECK(contains(list(), ticket(1, "A-1-2", true)));
    CHECK(contains(cancel(path), ticket(1, "A-1-2", true)));
}

TEST_CASE_METHOD(Bought, "P6: after a start no order is told from a store that is behind",
                 "[orders]") {
    REQUIRE(read().status == 200);
    back.context->store_patience = Milliseconds{1};
    auto const cancel = [this] {
        return back.send(http::Method::post, path + "/cancel", "", "Bearer staff");
    };
    {
        StoreInTheWay const slow(back.folder / "store.db");
        REQUIRE(back.send(http::Method::post, "/v1/events/demo/holds", R"({"seats":["A-2-1"]})", "")
                    .status == 201);
        // What the server before this one answered is not known.
        back.context->changed_orders =
            std::make_shared<api::ChangedOrders>(back.journal->appended_lsn());
        for (auto const& answer : {read(), cancel()}) {
            CHECK(answer.status == 503);
            CHECK(member(answer, "code") == "overloaded");
        }
    }
    back.context->store_patience = Milliseconds{60'000};
    CHECK(read().status == 200);
    CHECK(cancel().status == 200);
}

TEST_CASE_METHOD(Bought, "a refund without tickets is of all that is left", "[orders]") {
    REQUIRE(refund(R"({"tickets":[)" + quoted(tickets[0]) + "]}").status == 200);
    auto const all = refund(GENERATE(std::string(), std::string("{}")));
    CHECK(all.status == 200);
    CHECK(member(all, "state") == "cancelled");
    CHECK(read().body == all.body);
    CHECK(taken() == 0);
}

TEST_CASE_METHOD(Bought, "a ticket that moves keeps its id", "[orders]") {
    auto const answer = reseat(R"({"seats":[)" + move(0, "A-1-2") + "," + move(1, "A-2-7") + "]}");
    CHECK(answer.status == 200);
    CHECK(contains(answer, ticket(0, "A-1-2")));
    CHECK(contains(answer, ticket(1, "A-2-7")));
    CHECK(contains(answer, R"("total":28500)"));
    CHECK(read().body == answer.body);
    CHECK(taken() == 3);
    CHECK(claim(R"({"seats":["A-1-1"]})").status == 201);
    // The ids go on to name the tickets, wherever they are.
    auto const refunded = refund(R"({"tickets":[)" + quoted(tickets[0]) + "]}");
    CHECK(contains(refunded, ticket(0, "A-1-2", true)));
    CHECK(claim(R"({"seats":["A-1-2"]})").status == 201);
    CHECK(reseat(R"({"seats":[)" + move(0, "A-2-1") + "]}").status == 409);
    // To where it is: nothing happens, and that is no error.
    auto const before = read().body;
    CHECK(reseat(R"({"seats":[)" + move(1, "A-2-7") + "]}").status == 200);
    CHECK(read().body == before);
}

TEST_CASE_METHOD(Bought, "a reseat in conflict names the seat and changes nothing", "[orders]") {
    REQUIRE(claim(R"({"seats":["A-2-2"]})").status == 201);
    auto const before = read().body;
    auto const lost = reseat(R"({"seats":[)" + move(0, "A-2-1") + "," + move(1, "A-2-2") + "]}");
    CHECK(lost.status == 409);
    CHECK(member(lost, "code") == "seats-unavailable");
    CHECK(contains(lost, R"("refused":[{"seat":"A-2-2","reason":"held"}])"));
    // What a claim of that seat would say.
    CHECK(contains(lost, R"("retryable":true)"));
    auto const sold = reseat(R"({"seats":[)" + move(0, "A-1-2") + "]}");
    CHECK(contains(sold, R"("reason":"sold")"));
    CHECK(contains(sold, R"("retryable":false)"));
    CHECK(
        contains(reseat(R"({"seats":[)" + move(0, "B-1-10") + "]}"), R"("reason":"not-for-sale")"));
    CHECK(read().body == before);
    CHECK(claim(R"({"seats":["A-2-1"]})").status == 201);
    CHECK(taken() == 3);
}

TEST_CASE_METHOD(Bought, "tickets go to the floor and come back", "[orders]") {
    auto const floor = [&](std::size_t number, std::string const& id) {
        return R"({"ticket":)" + quoted(tickets[number]) + R"(,"section":)" + quoted(id) + "}";
    };
    auto const answer =
        reseat(R"({"seats":[)" + to_section(0, "GA") + "," + to_section(1, "BAR") + "]}");
    CHECK(answer.status == 200);
    CHECK(contains(answer, floor(0, "GA")));
    CHECK(contains(answer, floor(1, "BAR")));
    CHECK(contains(answer, ticket(2, "B-1-1")));
    CHECK(contains(answer, R"("total":28500)"));
    CHECK(read().body == answer.body);
    CHECK(taken() == 3);
    CHECK(claim(R"({"seats":["A-1-1","A-1-2"]})").status == 201);
    auto const back_again = reseat(R"({"seats":[)" + move(0, "A-2-1") + "," + to_section(1, "BAR") +
                                   "," + to_section(2, "BAR") + "]}");
    CHECK(back_again.status == 200);
    CHECK(contains(back_again, ticket(0, "A-2-1")));
    CHECK(contains(back_again, floor(2, "BAR")));
    CHECK(read().body == back_again.body);
    CHECK(claim(R"({"section":"BAR","quantity":3})").status == 201);
    auto const full = reseat(R"({"seats":[)" + to_section(0, "BAR") + "]}");
    CHECK(full.status == 409);
    CHECK(member(full, "code") == "sold-out");
    CHECK(member(full, "section") == "BAR");
    CHECK(read().body == back_again.body);
}

TEST_CASE("a refund or a reseat of a part of a group is refused", "[orders]") {
    Bought sofa(sofa_event(), R"({"seats":["A-1","A-2","A-3"]})");
    auto const before = sofa.read().body;
    for (auto const& answer : {sofa.refund(R"({"tickets":[)" + sofa.quoted(sofa.tickets[1]) + "]}"),
                               sofa.reseat(R"({"seats":[)" + sofa.move(0, "A-4") + "]}"),
                               sofa.reseat(R"({"seats":[)" + sofa.move(2, "A-6") + "]}")}) {
        CHECK(answer.status == 422);
        CHECK(member(answer, "code") == "inseparable-group");
        CHECK((contains(answer, R"("seats":["A-2","A-3"])") ||
               contains(answer, R"("seats":["A-4","A-5","A-6"])")));
    }
    CHECK(sofa.read().body == before);
    CHECK(sofa.reseat(R"({"seats":[)" + sofa.move(0, "A-4") + "," + sofa.move(1, "A-5") + "," +
                      sofa.move(2, "A-6") + "]}")
              .status == 200);
    CHECK(sofa.refund("").status == 200);
}

TEST_CASE_METHOD(Bought, "bad bodies of refunds and reseats are named", "[orders]") {
    auto const before = read().body;
    auto const code = [](http::Reply const& reply) { return member(reply, "code"); };
    CHECK(refund("[").status == 400);
    for (auto const* body : {R"({"tickets":[]})", R"({"tickets":1})", R"({"tickets":[1]})",
                             R"({"tickets":["t_x"]})", R"({"ticket":"x"})"}) {
        CAPTURE(body);
        CHECK(refund(body).status == 422);
    }
    CHECK(contains(refund(R"({"tickets":[)" + quoted(tickets[0]) + "," + quoted(tickets[0]) + "]}"),
                   R"("pointer":"/tickets/1","code":"duplicate")"));
    CHECK(contains(refund(R"({"tickets":["t_aaaaaaaaaaaaaaaaaaaaaaaaaa"]})"),
                   R"("pointer":"/tickets/0","code":"unknown-ticket")"));
    for (std::string const& body :
         {std::string("{}"), std::string(R"({"seats":[]})"), std::string(R"({"seats":[{}]})"),
          std::string(R"({"seats":[{"ticket":"t_x","to":"A-2-1"}]})"),
          R"({"seats":[{"ticket":)" + quoted(tickets[0]) + "}]}",
          R"({"seats":[{"ticket":)" + quoted(tickets[0]) + R"(,"to":1}]})",
          R"({"seats":[{"ticket":)" + quoted(tickets[0]) + R"(,"to":"A-2-1","section":"GA"}]})",
          R"({"seats":[{"ticket":)" + quoted(tickets[0]) + R"(,"section":1}]})"}) {
        CAPTURE(body);
        CHECK(reseat(body).status == 422);
    }
    CHECK(code(reseat(R"({"seats":[)" + move(0, "Z-1") + "]}")) == "unknown-seat");
    CHECK(contains(reseat(R"({"seats":[)" + to_section(0, "XX") + "]}"),
                   R"("pointer":"/seats/0/section","code":"unknown-section")"));
    CHECK(contains(reseat(R"({"seats":[)" + to_section(0, "A") + "]}"),
                   R"("pointer":"/seats/0/section","code":"not-general")"));
    CHECK(code(reseat(R"({"seats":[)" + move(0, "A-2-1") + "," + move(1, "A-2-1") + "]}")) ==
          "duplicate-seat");
    CHECK(contains(reseat(R"({"seats":[)" + move(0, "A-2-1") + "," + move(0, "A-2-2") + "]}"),
                   R"("code":"duplicate")"));
    CHECK(refund("", "").status == 401);
    CHECK(reseat("", "").status == 401);
    CHECK(refund("", token).status == 403);
    CHECK(reseat("", token).status == 403);
    path = "/v1/orders/o_aaaaaaaaaaaaaaaaaaaaaaaaaa";
    CHECK(refund("").status == 404);
    CHECK(reseat(R"({"seats":[]})").status == 404);
    path = "/v1/orders/x";
    CHECK(refund("").status == 404);
    CHECK(taken() == 3);
    CHECK(before.find("refunded") == std::string::npos);
}

TEST_CASE_METHOD(Bought, "an order in another request's hands for too long is busy", "[orders]") {
    back.context->orders_in_hand =
        std::make_shared<api::OrdersInHand>(std::chrono::milliseconds{1});
    auto const id = engine::parse_order_id(path.substr(path.rfind('/') + 1));
    REQUIRE(id.has_value());
    {
        auto const taken_by_another = back.context->orders_in_hand->take(*id);
        REQUIRE(taken_by_another != nullptr);
        CHECK(back.context->orders_in_hand->take(*id) == nullptr);
        for (auto const& answer : {refund(""), reseat(R"({"seats":[]})")}) {
            CHECK(answer.status == 503);
            CHECK(member(answer, "code") == "busy");
        }
    }
    CHECK(refund("").status == 200);
}

TEST_CASE_METHOD(Bought, "a request that finds the order in other hands waits for its turn",
                 "[orders]") {
    auto const id = engine::parse_order_id(path.substr(path.rfind('/') + 1));
    REQUIRE(id.has_value());
    auto const hand = back.context->orders_in_hand;
    auto taken_by_another = hand->take(*id);
    std::thread giver([&] {
        while (!hand->is_awaited()) std::this_thread::yield();
        if (hand->take(*id) == nullptr) taken_by_another.reset();  // a third does not wait, too
    });
    CHECK(refund("").status == 200);
    giver.join();
}

}  // namespace holdfast::test
