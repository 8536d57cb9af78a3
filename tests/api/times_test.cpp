#include "api/times.hpp"

#include "api/timestamp.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

using namespace holdfast;
using namespace holdfast::api;

namespace {

/// The time as an answer would write it, or the code of its refusal.
std::string read(std::string_view text, std::string_view zone) {
    auto const time = parse_time(text, zone);
    if (!time) return std::string{to_string(time.error())};
    std::string out;
    append_rfc3339(out, time->at, time->offset_minutes);
    return out;
}

}  // namespace

TEST_CASE("zones are known by their IANA names only", "[times]") {
    CHECK(time_zone_exists("UTC"));
    CHECK(time_zone_exists("Europe/Berlin"));
    for (auto const* const name : {"", "Europe/Atlantis", "../../etc/passwd", "/etc/passwd", "CEST",
                                   "europe/berlin", "Europe/Berlin ", "Europe"}) {
        CAPTURE(name);
        CHECK(!time_zone_exists(name));
    }
    CHECK(!time_zone_exists(std::string(65, 'A')));
    CHECK(!time_zone_exists(std::string_view{"UTC\0", 4}));
}

TEST_CASE("a time with the offset of its zone is that instant", "[times]") {
    CHECK(read("2027-05-01T20:00:00+02:00", "Europe/Berlin") == "2027-05-01T20:00:00.000+02:00");
    CHECK(read("2027-01-01T20:00:00+01:00", "Europe/Berlin") == "2027-01-01T20:00:00.000+01:00");
    CHECK(read("2027-05-01t20:00:00.5-04:00", "America/New_York") ==
          "2027-05-01T20:00:00.500-04:00");
    CHECK(read("2027-05-01T20:00:00.123456789+05:45", "Asia/Kathmandu") ==
          "2027-05-01T20:00:00.123+05:45");
    CHECK(parse_time("1970-01-01T00:00:00Z", "UTC")->at == TimePoint{});
    CHECK(parse_time("2027-05-01T20:00:00+02:00", "Europe/Berlin")->at ==
          parse_time("2027-05-01T18:00:00Z", "UTC")->at);
    CHECK(parse_time("2027-05-01T20:00:00+02:00", "Europe/Berlin")->offset_minutes == 120);
}

TEST_CASE("Z fits every zone and takes its offset", "[times]") {
    CHECK(read("2027-05-01T18:00:00Z", "Europe/Berlin") == "2027-05-01T20:00:00.000+02:00");
    CHECK(read("2027-05-01T18:00:00z", "UTC") == "2027-05-01T18:00:00.000Z");
    CHECK(read("2027-10-31T01:30:00Z", "Europe/Berlin") == "2027-10-31T02:30:00.000+01:00");
}

TEST_CASE("an offset that the zone does not have then is refused", "[times]") {
    CHECK(read("2027-05-01T20:00:00+01:00", "Europe/Berlin") == "wrong-offset");
    CHECK(read("2027-05-01T20:00:00+00:00", "Europe/Berlin") == "wrong-offset");
    CHECK(read("2027-05-01T20:00:00+02:00", "UTC") == "wrong-offset");
    CHECK(read("2027-10-31T02:30:00+03:00", "Europe/Berlin") == "wrong-offset");
}

TEST_CASE("a local time the clocks skip is refused, with and without offset", "[times]") {
    for (auto const* const text :
         {"2027-03-28T02:00:00", "2027-03-28T02:59:59+01:00", "2027-03-28T02:30:00+02:00"}) {
        CAPTURE(text);
        CHECK(read(text, "Europe/Berlin") == "no-such-time");
    }
    CHECK(read("2027-03-28T01:59:59", "Europe/Berlin") == "2027-03-28T01:59:59.000+01:00");
    CHECK(read("2027-03-28T03:00:00", "Europe/Berlin") == "2027-03-28T03:00:00.000+02:00");
}

TEST_CASE("a local time the clocks show twice needs its offset", "[times]") {
    CHECK(read("2027-10-31T02:30:00", "Europe/Berlin") == "ambiguous-time");
    CHECK(read("2027-10-31T02:30:00+02:00", "Europe/Berlin") == "2027-10-31T02:30:00.000+02:00");
    CHECK(read("2027-10-31T02:30:00+01:00", "Europe/Berlin") == "2027-10-31T02:30:00.000+01:00");
}

TEST_CASE("what is no RFC 3339 time is refused", "[times]") {
    for (auto const* const text : {"",
                                   "2027",
                                   "2027-05-01",
                                   "2027-05-01 20:00:00Z",
                                   "2027-05-01T20:00Z",
                                   "2027-5-01T20:00:00Z",
                                   "2027-02-29T20:00:00Z",
                                   "2027-13-01T20:00:00Z",
                                   "2027-00-01T20:00:00Z",
                                   "2027-05-00T20:00:00Z",
                                   "2027-05-01T24:00:00Z",
                                   "2027-05-01T20:60:00Z",
                                   "2027-05-01T20:00:60Z",
                                   "2027-05-01T20:00:00.Z",
                                   "2027-05-01T20:00:00+2:00",
                                   "2027-05-01T20:00:00+0200",
                                   "2027-05-01T20:00:00+24:00",
                                   "2027-05-01T20:00:00+02:60",
                                   "2027-05-01T20:00:00+02:00x",
                                   "2027-05-01T20:00:00Zz",
                                   " 2027-05-01T20:00:00Z",
                                   "-027-05-01T20:00:00Z",
                                   "1969-12-31T23:59:59Z",
                                   "9999-01-01T00:00:00Z",
                                   "2027-05-01T+0:00:00Z"}) {
        CAPTURE(text);
        CHECK(read(text, "UTC") == "time");
    }
    CHECK(read("9998-12-31T23:59:59.999Z", "UTC") == "9998-12-31T23:59:59.999Z");
    CHECK(read("2028-02-29T00:00:00Z", "UTC") == "2028-02-29T00:00:00.000Z");
}

TEST_CASE("value() of a refused time throws", "[times]") {
    auto const time = parse_time("no", "UTC");
    CHECK_THROWS_AS(time.value(), std::logic_error);
}
