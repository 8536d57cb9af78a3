#include "tests/app/poor_requests.hpp"

#include "tests/app/poor_text.hpp"

namespace holdfast::app::test {
namespace {

using House = PoorHouse const&;

constexpr char const* key_line = "Idempotency-Key: 0123456789abcdef0123456789abcdef\r\n";
constexpr char const* demo_holds = "/v1/events/demo/holds";

std::string keyed(Asked asked) {
    asked.more += key_line;
    return text_of(asked);
}
PoorRequest claim(char const* name, std::string body, unsigned status = 201) {
    return {name, [body](House) { return text_of({"POST", demo_holds, body}); }, {status}};
}
PoorRequest get(char const* name, std::string target, std::string authorization = {},
                unsigned status = 200) {
    return {name,
            [target, authorization](House) { return text_of({"GET", target, {}, authorization}); },
            {status}};
}
std::string of_order(House house, char const* what) {
    return "/v1/orders/" + house.order + what;
}

/// A plan of more than limits::body_bytes_max.
std::string large_event() {
    std::string body = R"({"id":"large","name":"Large","sections":[)";
    for (int section = 0; section < 20; ++section) {
        body += R"({"id":"S)" + std::to_string(section) + R"(","rows":[{"label":"1","seats":[)";
        for (int seat = 1; seat <= 100; ++seat)
            body += R"({"label":")" + std::to_string(seat) + R"(","x":)" + std::to_string(seat) +
                    R"(,"y":)" + std::to_string(section) + "},";
        body.back() = ']';
        body += "}]},";
    }
    body.back() = ']';
    return body + "}";
}

std::string chunked(std::string const& body) {
    std::string text = "POST " + std::string{demo_holds} +
                       " HTTP/1.1\r\nHost: t.example\r\nContent-Type: application/json\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n";
    for (char const byte : body) text += "1\r\n" + std::string(1, byte) + "\r\n";
    return text + "0\r\n\r\n";
}

std::vector<PoorRequest> poor_claims() {
    return {
        claim("seats", R"({"seats":["A-1-3","A-1-4"]})"),
        claim("the best", R"({"best":{"quantity":3}})"),
        claim("a section", R"({"section":"GA","quantity":4})"),
        claim("candidates", R"({"candidates":["A-1-3","A-1-4","A-1-5"],"count":2})"),
        claim("lines", R"({"lines":[{"seats":["A-1-3","A-1-4"]},{"best":{"quantity":2}},
                                    {"section":"GA","quantity":1}]})"),
        claim("partly", R"({"seats":["A-1-1","A-1-3","A-1-4"],"partial":true})"),
        claim("a preview", R"({"best":{"quantity":2,"preview":true}})", 200),
        claim("taken seats", R"({"seats":["A-1-1","A-1-2"]})", 409),
        claim("what leaves an orphan", R"({"seats":["A-1-4"]})", 409),
        claim("more than there is", R"({"section":"GA","quantity":60})", 422),
        claim("what is unknown", R"({"seats":["Z-1-1","Z\u0031"]})", 422),
        claim("what is no JSON", R"({"seats":["A-1-1")", 400),
        {"seats with a key",
         [](House) { return keyed({"POST", demo_holds, R"({"seats":["A-1-3","A-1-4"]})"}); },
         {201},
         true},
        {"a refusal with a key",
         [](House) { return keyed({"POST", demo_holds, R"({"seats":["A-1-1"]})"}); },
         {409}},
    };
}

std::vector<PoorRequest> poor_holders() {
    auto const own = [](House house, Asked asked) {
        asked.authorization = house.holder();
        return keyed(asked);
    };
    auto const hold = [](House house) { return "/v1/holds/" + house.hold; };
    return {
        {"an extension",
         [=](House house) {
             return own(house, {"POST", hold(house) + "/extend", R"({"seconds":3700})"});
         },
         {200},
         true},
        {"an exchange",
         [=](House house) {
             return own(house,
                        {"PUT", hold(house) + "/seats", R"({"seats":["A-1-1","A-1-2","A-1-3"]})"});
         },
         {200},
         true},
        {"a part given back",
         [=](House house) {
             return own(house,
                        {"POST", hold(house) + "/release", R"({"section":"GA","quantity":1})"});
         },
         {200},
         true},
        {"a release",
         [=](House house) { return own(house, {"DELETE", hold(house)}); },
         {204},
         true},
        {"an order",
         [=](House house) {
             return own(house,
                        {"POST", "/v1/orders",
                         R"({"holds":[")" + house.hold + R"("],"payment":{"method":"none"}})"});
         },
         {201},
         true},
        {"an order of two holds, without a key",
         [=](House house) {
             return text_of({"POST", "/v1/orders",
                             R"({"holds":[{"hold":")" + house.hold + R"(","token":")" +
                                 house.hold_token + R"("},{"hold":")" + house.other_hold +
                                 R"(","token":")" + house.other_hold_token +
                                 R"("}],"payment":{"method":"none"}})"});
         },
         {201}},
        {"a release without a key",
         [=](House house) { return text_of({"DELETE", hold(house), {}, house.holder()}); },
         {204}},
    };
}

std::string by_staff(Asked asked) {
    asked.authorization = PoorHouse::staff();
    return keyed(asked);
}

std::vector<PoorRequest> poor_steps() {
    return {{"a pause",
             [](House) { return by_staff({"POST", "/v1/events/demo/pause", "{}"}); },
             {200},
             true},
            {"a publication",
             [](House) { return by_staff({"POST", "/v1/events/later/publish", "{}"}); },
             {200},
             true},
            {"the end of a sale",
             [](House) { return by_staff({"POST", "/v1/events/demo/close", "{}"}); },
             {200},
             true},
            {"an event that is cancelled",
             [](House) { return by_staff({"POST", "/v1/events/demo/cancel", "{}"}); },
             {200},
             true}};
}

std::vector<PoorRequest> poor_staff() {
    return {
        {"a cancellation",
         [](House house) { return by_staff({"POST", of_order(house, "/cancel"), "{}"}); },
         {200},
         true},
        {"a refund",
         [](House house) {
             return by_staff({"POST", of_order(house, "/refund"),
                              R"({"tickets":[")" + house.tickets[0] + R"("]})"});
         },
         {200},
         true},
        {"a reseat",
         [](House house) {
             return by_staff({"POST", of_order(house, "/reseat"),
                              R"({"seats":[{"ticket":")" + house.tickets[0] +
                                  R"(","to":"A-2-9"},{"ticket":")" + house.tickets[1] +
                                  R"(","section":"GA"}]})"});
         },
         {200},
         true},
        {"a block",
         [](House) {
             return by_staff({"POST", "/v1/events/demo/blocks",
                              R"({"seats":["B-1-5","B-1-6"],"kind":"blocked"})"});
         },
         {201},
         true},
        {"an unblocking",
         [](House house) { return by_staff({"DELETE", "/v1/blocks/" + house.block}); },
         {204},
         true},
        {"an event",
         [](House) {
             return by_staff({"POST", "/v1/events",
                              R"({"id":"new","name":"New","sections":[{"id":"A","rows":
                                  [{"label":"1","seats":5}]},{"id":"GA","capacity":7}]})"});
         },
         {202},
         true},
        {"a large event",
         [](House) { return by_staff({"POST", "/v1/events", large_event()}); },
         {202},
         true},
        {"a dry run",
         [](House) {
             return text_of({"POST", "/v1/events?dry_run=true",
                             R"({"name":"New","sections":[{"id":"GA","capacity":7}]})",
                             PoorHouse::staff()});
         },
         {200}},
    };
}

}  // namespace

std::vector<PoorRequest> poor_changes() {
    std::vector<PoorRequest> all = poor_claims();
    for (auto const& more : {poor_holders(), poor_steps(), poor_staff()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

std::vector<PoorRequest> poor_reads() {
    std::vector<PoorRequest> reads{
        get("an event", "/v1/events/demo"),
        get("a map", "/v1/events/demo/map"),
        get("a state", "/v1/events/demo/state"),
        get("events", "/v1/events?limit=1"),
        get("blocks", "/v1/events/demo/blocks?limit=5", PoorHouse::staff()),
        get("orders", "/v1/orders?limit=1", PoorHouse::staff()),
        get("health", "/healthz"),
        get("readiness", "/readyz"),
        get("the reference", "/docs"),
        get("the document", "/openapi.json"),
        get("the index", "/v1"),
        get("nothing", "/v1/nothing", {}, 404),
        get("a bad number", "/v1/events?limit=x", {}, 422),
        {"a hold",
         [](House house) {
             return text_of({"GET", "/v1/holds/" + house.hold, {}, house.holder()});
         },
         {200}},
        {"an order",
         [](House house) {
             return text_of({"GET", "/v1/orders/" + house.order, {}, PoorHouse::staff()});
         },
         {200}},
        {"a state that is known",
         [](House house) {
             std::string const tag = house.ask({"GET", "/v1/events/demo/state"}).header("ETag");
             return text_of(
                 {"GET", "/v1/events/demo/state", {}, {}, "If-None-Match: " + tag + "\r\n"});
         },
         {304}},
    };
    reads.push_back({"metrics",
                     [](House) { return text_of({"GET", "/metrics", {}, PoorHouse::staff()}); },
                     {200},
                     false,
                     true});
    reads.push_back(
        {"backups",
         [](House) { return text_of({"GET", "/v1/admin/backup", {}, PoorHouse::staff()}); },
         {404},
         false,
         true});
    return reads;
}

std::vector<PoorRequest> poor_ways() {
    std::string const two = R"({"seats":["A-1-3","A-1-4"]})";
    return {
        {"chunks", [two](House) { return chunked(two); }, {201}},
        {"a batch",
         [two](House) {
             return text_of({"POST", demo_holds, two}) + text_of({"GET", "/v1/events/demo"}) +
                    text_of({"GET", "/v1/events?limit=1"}) +
                    text_of({"POST", demo_holds, R"({"seats":["A-1-1"]})"}) +
                    text_of({"GET", "/healthz"});
         },
         {201, 200, 200, 409, 200}},
        {"a proxy",
         [two](House) {
             return text_of(
                 {"POST", demo_holds, two, {}, "X-Forwarded-For: 203.0.113.9, 198.51.100.7\r\n"});
         },
         {201}},
        {"another site",
         [two](House) {
             return text_of({"OPTIONS",
                             demo_holds,
                             {},
                             {},
                             "Origin: https://shop.example\r\n"
                             "Access-Control-Request-Method: POST\r\n"}) +
                    text_of({"POST", demo_holds, two, {}, "Origin: https://shop.example\r\n"});
         },
         {204, 201}},
        {"a repeat",
         [two](House) {
             return keyed({"POST", demo_holds, two}) + keyed({"POST", demo_holds, two});
         },
         {201, 201},
         true},
        {"a head only", [](House) { return text_of({"HEAD", "/v1/events/demo"}); }, {200}},
        {"a wrong method", [](House) { return text_of({"PATCH", "/v1/events/demo"}); }, {405}},
        {"no request", [](House) { return std::string{"GET /\r\n\r\n"}; }, {400}},
        {"a body that is too large",
         [](House) {
             return "POST " + std::string{demo_holds} +
                    " HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n"
                    "Content-Length: 9000000\r\n\r\n";
         },
         {413}},
    };
}

}  // namespace holdfast::app::test
