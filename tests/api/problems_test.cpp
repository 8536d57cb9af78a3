#include "api/problems.hpp"

#include "api/json_reader.hpp"
#include "api/timestamp.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace holdfast::api {
namespace {

using std::chrono::sys_days;
using std::chrono::year;

constexpr TimePoint noon = TimePoint{sys_days{year{2027} / 5 / 1}} + std::chrono::hours{12};

EventSpec small_event() {
    LayoutBuilder builder;
    CategoryIndex const category = builder.add_category({"std", "Standard", 4'500});
    Section section;
    section.id = "A";
    section.category = category;
    builder.add_section(section);
    builder.add_row("1");
    for (std::string const label : {"1", "2", "3"}) {
        Seat seat;
        seat.category = category;
        builder.add_seat({"A-1-" + label, label, seat});
    }
    auto layout = std::move(builder).build();
    REQUIRE(layout.has_value());
    EventSpec spec;
    spec.slug = "demo";
    spec.layout = std::move(*layout);
    return spec;
}

http::Request request_at(TimePoint now) {
    http::Request request;
    request.path = "/v1/events/demo/holds";
    request.request_id = "r1";
    request.received_at = now;
    return request;
}

/// The reply's body, checked to be JSON, with the members every problem has.
std::string checked_body(http::Reply const& reply) {
    JsonReader reader;
    auto const root = reader.read_object(reply.body);
    REQUIRE(root.has_value());
    CHECK(reply.content_type == "application/problem+json");
    CHECK(root->find("status")->integer() == reply.status);
    std::string const code(root->find("code")->text());
    CHECK(root->find("type")->text() == "/problems/" + code);
    CHECK_FALSE(root->find("title")->text().empty());
    CHECK(root->find("request_id")->text() == "r1");
    CHECK(root->find("retryable")->is(JsonKind::boolean));
    return reply.body;
}

std::string refused(Refusal const& refusal, RefusalDetails const& details = {}) {
    http::Reply reply;
    write_refusal(reply, request_at(noon), refusal, details);
    return std::to_string(reply.status) + " " + checked_body(reply) + " " + reply.headers;
}

}  // namespace

TEST_CASE("every refusal has the status and slug of API.md", "[problems]") {
    struct Row {
        RefusalCode code;
        unsigned status;
        std::string slug;
    };
    auto const row = GENERATE(values<Row>({
        {RefusalCode::not_found, 404, "not-found"},
        {RefusalCode::unauthenticated, 401, "unauthenticated"},
        {RefusalCode::forbidden, 403, "forbidden"},
        {RefusalCode::sale_not_open, 403, "sale-not-open"},
        {RefusalCode::sale_closed, 403, "sale-closed"},
        {RefusalCode::seats_unavailable, 409, "seats-unavailable"},
        {RefusalCode::sold_out, 409, "sold-out"},
        {RefusalCode::best_available_not_found, 404, "best-available-not-found"},
        {RefusalCode::user_limit, 409, "user-limit"},
        {RefusalCode::extension_refused, 409, "extension-refused"},
        {RefusalCode::hold_expired, 410, "hold-expired"},
        {RefusalCode::already_confirmed, 409, "already-confirmed"},
        {RefusalCode::already_released, 409, "already-released"},
        {RefusalCode::already_exists, 409, "already-exists"},
        {RefusalCode::illegal_transition, 409, "illegal-transition"},
        {RefusalCode::in_flight, 409, "in-flight"},
        {RefusalCode::idempotency_mismatch, 422, "idempotency-mismatch"},
        {RefusalCode::busy, 503, "busy"},
        {RefusalCode::overloaded, 503, "overloaded"},
        {RefusalCode::read_only, 503, "read-only"},
        {RefusalCode::durability_lost, 503, "durability-lost"},
    }));
    CAPTURE(row.slug);
    http::Reply reply;
    Refusal refusal;
    refusal.code = row.code;
    refusal.from = static_cast<std::uint8_t>(EventState::draft);
    refusal.to = static_cast<std::uint8_t>(EventState::open);
    write_refusal(reply, request_at(noon), refusal);
    CHECK(reply.status == row.status);
    CHECK_THAT(checked_body(reply), Catch::Contains("\"code\":\"" + row.slug + "\""));
    bool const waits = reply.headers.find("Retry-After: ") != std::string::npos;
    bool const may_wait = row.code == RefusalCode::in_flight ||
                          (row.status == 503 && row.code != RefusalCode::durability_lost);
    CHECK(waits == may_wait);
}

TEST_CASE("refusals carry their seats and numbers", "[problems]") {
    EventSpec spec = small_event();
    Refusal refusal;
    RefusalDetails details;
    details.spec = &spec;
    SECTION("seats-unavailable names the engine's seat") {
        refusal.code = RefusalCode::seats_unavailable;
        refusal.seat = SeatIndex{1};
        refusal.seat_reason = SeatReason::sold;
        CHECK_THAT(refused(refusal, details),
                   Catch::Contains(R"("refused":[{"seat":"A-1-2","reason":"sold"}])"));
    }
    SECTION("seats-unavailable names all the caller found") {
        refusal.code = RefusalCode::seats_unavailable;
        std::vector<RefusedSeat> const list{{SeatIndex{0}, SeatReason::held},
                                            {SeatIndex{2}, SeatReason::not_for_sale}};
        details.refused = list;
        CHECK_THAT(refused(refusal, details),
                   Catch::Contains(R"([{"seat":"A-1-1","reason":"held"},)"
                                   R"({"seat":"A-1-3","reason":"not-for-sale"}])"));
    }
    SECTION("sold-out") {
        refusal.code = RefusalCode::sold_out;
        refusal.number = 3;
        CHECK_THAT(refused(refusal, details), Catch::Contains(R"("section":null,"left":3)"));
        details.section = "A";
        CHECK_THAT(refused(refusal, details), Catch::Contains(R"("section":"A","left":3)"));
        CHECK_THAT(refused(refusal, details), Catch::Contains(R"("retryable":true)"));
    }
    SECTION("best-available-not-found") {
        refusal.code = RefusalCode::best_available_not_found;
        refusal.number = 2;
        CHECK_THAT(refused(refusal, details), Catch::Contains(R"("largest_block":2)"));
    }
}

TEST_CASE("refusals carry their times, limits and orders", "[problems]") {
    EventSpec spec = small_event();
    Refusal refusal;
    RefusalDetails details;
    details.spec = &spec;
    SECTION("sale times in the zone they were written in") {
        refusal.code = RefusalCode::sale_not_open;
        refusal.at = noon + std::chrono::milliseconds{1'500};
        spec.opens_at = ZonedTime{refusal.at, 120};
        CHECK_THAT(refused(refusal, details),
                   Catch::Contains(R"("opens_at":"2027-05-01T14:00:01.500+02:00","opens_in_s":2)"));
        refusal.at = no_deadline;
        CHECK_THAT(refused(refusal, details),
                   Catch::Contains(R"("opens_at":null,"opens_in_s":null)"));
        refusal.code = RefusalCode::sale_closed;
        refusal.at = noon;
        CHECK_THAT(refused(refusal), Catch::Contains(R"("closed_at":"2027-05-01T12:00:00.000Z")"));
    }
    SECTION("hold-expired") {
        refusal.code = RefusalCode::hold_expired;
        refusal.at = noon;
        std::vector<SeatIndex> const seats{SeatIndex{0}, SeatIndex{2}};
        details.seats = seats;
        CHECK_THAT(refused(refusal, details),
                   Catch::Contains(
                       R"("expired_at":"2027-05-01T12:00:00.000Z","seats":["A-1-1","A-1-3"])"));
        refusal.at = TimePoint{};
        auto const long_gone = refused(refusal, details);
        CHECK_THAT(long_gone, !Catch::Contains("expired_at"));
        CHECK_THAT(long_gone, !Catch::Contains("seats\""));
    }
}

TEST_CASE("refusals carry the limit, the reason or the order", "[problems]") {
    EventSpec const spec = small_event();
    Refusal refusal;
    RefusalDetails details;
    details.spec = &spec;
    SECTION("user-limit") {
        refusal.code = RefusalCode::user_limit;
        refusal.number = 10;
        details.have = 12;
        CHECK_THAT(refused(refusal, details), Catch::Contains(R"("limit":10,"have":12)"));
    }
    SECTION("extension-refused") {
        refusal.code = RefusalCode::extension_refused;
        refusal.extension_reason = ExtensionReason::max_life;
        CHECK_THAT(refused(refusal), Catch::Contains(R"("reason":"max-life")"));
        refusal.extension_reason = ExtensionReason::used_up;
        CHECK_THAT(refused(refusal), Catch::Contains(R"("reason":"used-up")"));
    }
    SECTION("already-confirmed") {
        refusal.code = RefusalCode::already_confirmed;
        refusal.order = OrderId{0x0706'0504'0302'0100, 0x0F0E'0D0C'0B0A'0908};
        CHECK_THAT(refused(refusal), Catch::Contains(R"("order":"o_aaaqeayeaudaocajbifqydiob4")"));
    }
}

TEST_CASE("input errors say where and what", "[problems]") {
    http::Reply reply;
    write_input_error(reply, request_at(noon), InputError{422, "/best/\"x", "range"});
    CHECK(reply.status == 422);
    CHECK_THAT(checked_body(reply),
               Catch::Contains(R"("code":"validation")") &&
                   Catch::Contains(R"("errors":[{"pointer":"/best/\"x","code":"range"}])"));
    write_input_error(reply, request_at(noon), InputError{400, "", "duplicate-key"});
    CHECK(reply.status == 400);
    CHECK_THAT(checked_body(reply), Catch::Contains(R"("code":"malformed")") &&
                                        Catch::Contains(R"("code":"duplicate-key")"));
    write_unauthenticated(reply, request_at(noon), "Hold");
    CHECK(reply.status == 401);
    CHECK_THAT(reply.headers, Catch::Contains("WWW-Authenticate: Hold\r\n"));
}

TEST_CASE("seat problems echo the names escaped and cut", "[problems]") {
    http::Reply reply;
    std::string const name = std::string(63, 'x') + "\xc3\xa9tail";
    std::vector<std::string_view> const names{"<script>\r\n\"", name};
    write_seat_problem(reply, request_at(noon), "unknown-seat", names);
    CHECK(reply.status == 422);
    CHECK_THAT(checked_body(reply), Catch::Contains(R"("seats":["<script>\r\n\"",")" +
                                                    std::string(63, 'x') + "\xEF\xBF\xBD\"]"));
}

TEST_CASE("timestamps are RFC 3339 at every end", "[timestamp]") {
    auto const text = [](TimePoint at, std::int32_t offset = 0) {
        std::string out;
        append_rfc3339(out, at, offset);
        return out;
    };
    CHECK(text(TimePoint{}) == "1970-01-01T00:00:00.000Z");
    CHECK(text(TimePoint{} - Milliseconds{1}) == "1969-12-31T23:59:59.999Z");
    CHECK(text(noon, -210) == "2027-05-01T08:30:00.000-03:30");
    CHECK(text(noon, 765) == "2027-05-02T00:45:00.000+12:45");
    CHECK(text(TimePoint{sys_days{year{2028} / 2 / 29}}) == "2028-02-29T00:00:00.000Z");
    CHECK(text(no_deadline).substr(0, 4) == "9999");
    CHECK(text(TimePoint::min(), -1'439).substr(0, 4) == "0001");
    CHECK(seconds_left(noon + Milliseconds{1}, noon) == 1);
    CHECK(seconds_left(noon + Milliseconds{2'000}, noon) == 2);
    CHECK(seconds_left(noon, noon) == 0);
    CHECK(seconds_left(noon - Milliseconds{1}, noon) == 0);
    CHECK(seconds_left(no_deadline, noon) > 1'000'000'000);
}

}  // namespace holdfast::api
