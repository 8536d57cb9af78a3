#include "api/claim_decoder.hpp"

#include "tests/api/sample_event.hpp"
#include "tests/support/mutate.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace holdfast::api {
namespace {

using engine::ClaimLine;
using Kind = ClaimLine::Kind;

/// Decodes with one decoder over all calls, as a thread does.
class Decoding {
public:
    /// "" if good, else "pointer code" or "unknown-seat a b" or "duplicate-seat a b".
    std::string operator()(std::string_view text) {
        auto const body = reader.read_object(text);
        if (!body) return std::string(body.error().code);
        std::string out;
        switch (decoder.decode(*body, spec)) {
            case ClaimDecoder::Verdict::good:
                return out;
            case ClaimDecoder::Verdict::input_error:
                CHECK(decoder.error().status == 422);
                return decoder.error().pointer + " " + std::string(decoder.error().code);
            case ClaimDecoder::Verdict::unknown_seats:
                out = "unknown-seat";
                break;
            case ClaimDecoder::Verdict::duplicate_seats:
                out = "duplicate-seat";
                break;
            case ClaimDecoder::Verdict::inseparable:
                out = "inseparable-group";
                break;
        }
        for (auto const name : decoder.offenders()) out.append(" ").append(name);
        return out;
    }

    EventSpec spec = test::sample_event();
    JsonReader reader;
    ClaimDecoder decoder;
};

SeatIndex seat_of(EventSpec const& spec, std::string_view name) {
    auto const seat = spec.layout.find_seat(name);
    REQUIRE(seat.has_value());
    return *seat;
}

std::string list_of(std::size_t count, std::string const& item) {
    std::string out = "[";
    for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "" : ",") + item;
    return out + "]";
}

}  // namespace

TEST_CASE("a wish that only one floor of its zone can serve is a claim of that floor", "[claim]") {
    Decoding decode;
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    builder.add_category({"vip", "VIP", 300});
    auto const north = builder.add_zone({"north", "North", std::nullopt});
    auto const south = builder.add_zone({"south", "South", std::nullopt});
    auto const add_floor = [&](std::string id, std::uint32_t zone, std::uint32_t category) {
        Section floor;
        floor.id = std::move(id);
        floor.zone = zone;
        floor.category = CategoryIndex{category};
        floor.capacity = 10;
        builder.add_general(std::move(floor));
    };
    add_floor("N", north, 0);
    add_floor("S", south, 0);
    add_floor("V", south, 1);
    decode.spec.layout = std::move(*std::move(builder).build());
    auto const section_of = [&decode](std::string const& wish) -> std::string {
        REQUIRE(decode(R"({"best":{"quantity":2)" + wish + "}}").empty());
        ClaimLine const& line = decode.decoder.lines()[0];
        if (line.kind != Kind::general) return {};
        return decode.spec.layout.sections()[line.section.value()].id;
    };
    CHECK(section_of(R"(,"zone":"north")") == "N");
    CHECK(section_of(R"(,"zone":"south","categories":["std"])") == "S");
    CHECK(section_of(R"(,"zone":"south","categories":["vip"])") == "V");
    CHECK(section_of(R"(,"zone":"south")").empty());                       // two of them
    CHECK(section_of(R"(,"zone":"north","categories":["vip"])").empty());  // none
    CHECK(section_of(R"(,"zone":"south","sections":["N"])").empty());      // neither
    CHECK(section_of(R"(,"zone":"north","together":true)").empty());
}

TEST_CASE("lines that name seats or wishes are read", "[claim]") {
    Decoding decode;
    SECTION("seats keep their order") {
        REQUIRE(decode(R"({"seats":["A-1-2","A-1-1"]})").empty());
        REQUIRE(decode.decoder.lines().size() == 1);
        ClaimLine const& line = decode.decoder.lines()[0];
        CHECK(line.kind == Kind::seats);
        CHECK(line.seats ==
              std::vector{seat_of(decode.spec, "A-1-2"), seat_of(decode.spec, "A-1-1")});
    }
    SECTION("candidates") {
        REQUIRE(decode(R"({"candidates":["B-1-3","A-1-1","B-2-1"],"count":2})").empty());
        ClaimLine const& line = decode.decoder.lines()[0];
        CHECK(line.kind == Kind::candidates);
        CHECK(line.count == 2);
        CHECK(line.seats.size() == 3);
        CHECK(line.seats[0] == seat_of(decode.spec, "B-1-3"));
    }
    SECTION("best") {
        REQUIRE(decode(R"({"best":{"quantity":3,"sections":["B","A","B"],)"
                       R"("categories":["STANDARD","vip"],"zone":"north","accessible":1,)"
                       R"("together":true,"prevent_orphans":false,"preview":true}})")
                    .empty());
        engine::BestWish const& wish = decode.decoder.lines()[0].best;
        CHECK(wish.quantity == 3);
        CHECK(wish.sections == std::vector{SectionIndex{0}, SectionIndex{1}});
        CHECK(wish.categories == std::vector{CategoryIndex{0}, CategoryIndex{1}});
        CHECK(wish.zone == 0);
        CHECK(wish.accessible == 1);
        CHECK_FALSE(wish.prevent_orphans);
        CHECK(wish.together);
        CHECK(decode.decoder.preview());
        // Nothing of it stays for the next body.
        REQUIRE(decode(R"({"best":{"quantity":1}})").empty());
        engine::BestWish plain;
        plain.quantity = 1;
        CHECK(decode.decoder.lines()[0].best == plain);
        CHECK_FALSE(decode.decoder.preview());
    }
}

TEST_CASE("lines that name sections, and several lines, are read", "[claim]") {
    Decoding decode;
    SECTION("a section with rows is best in it, one without is general") {
        REQUIRE(decode(R"({"section":"B","quantity":2})").empty());
        CHECK(decode.decoder.lines()[0].kind == Kind::best);
        CHECK(decode.decoder.lines()[0].best.quantity == 2);
        CHECK(decode.decoder.lines()[0].best.sections == std::vector{SectionIndex{1}});
        CHECK(decode.decoder.section_of_line(0) == "B");
        REQUIRE(decode(R"({"section":"GA","quantity":2})").empty());
        CHECK(decode.decoder.lines()[0].kind == Kind::general);
        CHECK(decode.decoder.lines()[0].section == SectionIndex{2});
        CHECK(decode.decoder.lines()[0].count == 2);
        CHECK(decode.decoder.section_of_line(0) == "GA");
    }
    SECTION("best where only one general section fits is general") {
        REQUIRE(decode(R"({"best":{"quantity":2,"sections":["BAR"]}})").empty());
        CHECK(decode.decoder.lines()[0].kind == Kind::general);
        CHECK(decode.decoder.lines()[0].section == SectionIndex{3});
        REQUIRE(decode(R"({"best":{"quantity":2,"sections":["BAR","GA"]}})").empty());
        CHECK(decode.decoder.lines()[0].kind == Kind::best);
        REQUIRE(decode(R"({"best":{"quantity":2,"categories":["std"],"sections":["GA","BAR"]}})")
                    .empty());
        CHECK(decode.decoder.lines()[0].section == SectionIndex{3});
        REQUIRE(decode(R"({"best":{"quantity":2}})").empty());
        CHECK(decode.decoder.lines()[0].kind == Kind::best);
        CHECK(decode.decoder.section_of_line(0).empty());
    }
    SECTION("several lines") {
        REQUIRE(decode(R"({"lines":[{"seats":["A-1-1"]},{"section":"GA","quantity":2},)"
                       R"({"best":{"quantity":1}}],"partial":false})")
                    .empty());
        CHECK(decode.decoder.lines().size() == 3);
        CHECK(decode.decoder.section_of_line(0).empty());
        CHECK(decode.decoder.section_of_line(1) == "GA");
        CHECK(decode.decoder.section_of_line(2).empty());
        CHECK(decode.decoder.section_of_line(3).empty());
    }
}

TEST_CASE("quantities are integers within the event's bound", "[claim][B6][B7]") {
    Decoding decode;
    auto const value =
        GENERATE(values<std::pair<std::string, std::string>>({{"0", "range"},
                                                              {"-1", "range"},
                                                              {"11", "range"},
                                                              {"2147483648", "range"},
                                                              {"4294967297", "range"},
                                                              {"9223372036854775808", "range"},
                                                              {"18446744073709551616", "range"},
                                                              {"1e400", "range"},
                                                              {"\"2\"", "type"},
                                                              {"1.0", "type"},
                                                              {"1e0", "type"},
                                                              {"true", "type"},
                                                              {"null", "type"},
                                                              {"[1]", "type"}}));
    CAPTURE(value.first);
    CHECK(decode(R"({"section":"GA","quantity":)" + value.first + "}") ==
          "/quantity " + value.second);
    CHECK(decode(R"({"section":"A","quantity":)" + value.first + "}") ==
          "/quantity " + value.second);
    CHECK(decode(R"({"best":{"quantity":)" + value.first + "}}") ==
          "/best/quantity " + value.second);
    CHECK(decode(R"({"candidates":["A-1-1"],"count":)" + value.first + "}") ==
          "/count " + value.second);
    CHECK(decode(R"({"lines":[{"best":{"quantity":1}},{"section":"GA","quantity":)" + value.first +
                 "}]}") == "/lines/1/quantity " + value.second);
}

TEST_CASE("seat lists are bounded, known and without repetition", "[claim][B8][B9][B10]") {
    Decoding decode;
    CHECK(decode(R"({"seats":[]})") == "/seats range");
    CHECK(decode(R"({"seats":)" + list_of(11, "\"A-1-1\"") + "}") == "/seats range");
    CHECK(decode(R"({"seats":)" + list_of(5'000, "\"A-1-1\"") + "}") == "/seats range");
    CHECK(decode(R"({"seats":"A-1-1"})") == "/seats type");
    CHECK(decode(R"({"seats":[1]})") == "/seats/0 type");
    CHECK(decode(R"({"seats":["A-1-1",["A-1-2"]]})") == "/seats/1 type");
    CHECK(decode(R"({"seats":["A-1-1","A-1-1"]})") == "duplicate-seat A-1-1");
    CHECK(decode(R"({"seats":["A-1-2","A-1-1","A-1-2","A-1-2"]})") == "duplicate-seat A-1-2");
    CHECK(decode(R"({"seats":["A-1-1","a-1-1"]})") == "unknown-seat a-1-1");
    CHECK(decode(R"({"seats":["A-1-1"," A-1-1"]})") == "unknown-seat  A-1-1");
    CHECK(decode(R"({"seats":["A-1-1\u200b"]})") == "unknown-seat A-1-1\xe2\x80\x8b");
    CHECK(decode(R"({"seats":["\uff21-1-1",""]})") == "unknown-seat \xef\xbc\xa1-1-1 ");
    CHECK(decode(R"({"seats":["A-1-1","A-1-2","A-1-3","A-1-4","A-1-5","Z-9-9"]})") ==
          "unknown-seat Z-9-9");
    CHECK(decode(R"({"lines":[{"seats":["A-1-1"]},{"seats":["A-1-2","A-1-1"]}]})") ==
          "duplicate-seat A-1-1");
    CHECK(decode(R"({"lines":[{"seats":["A-1-1"]},{"candidates":["A-1-1","A-1-2"],"count":1}]})") ==
          "duplicate-seat A-1-1");
    CHECK(decode(R"({"candidates":["A-1-1","A-1-1"],"count":1})") == "duplicate-seat A-1-1");
    CHECK(decode(R"({"candidates":["A-1-1","X"],"count":1})") == "unknown-seat X");
    CHECK(decode(R"({"candidates":["A-1-1","A-1-2"],"count":3})") == "/count range");
    CHECK(decode(R"({"candidates":["A-1-1"]})") == "/count required");
}

TEST_CASE("names of sections, categories and zones must exist", "[claim]") {
    Decoding decode;
    CHECK(decode(R"({"section":"C","quantity":1})") == "/section unknown-section");
    CHECK(decode(R"({"section":"ga","quantity":1})") == "/section unknown-section");
    CHECK(decode(R"({"section":7,"quantity":1})") == "/section type");
    CHECK(decode(R"({"section":"A"})") == "/quantity required");
    CHECK(decode(R"({"best":{"quantity":1,"sections":["A","Q"]}})") ==
          "/best/sections/1 unknown-section");
    CHECK(decode(R"({"best":{"quantity":1,"sections":[]}})") == "/best/sections range");
    CHECK(decode(R"({"best":{"quantity":1,"categories":["no"]}})") ==
          "/best/categories/0 unknown-category");
    CHECK(decode(R"({"best":{"quantity":1,"zone":"south"}})") == "/best/zone unknown-zone");
    CHECK(decode(R"({"best":{"quantity":1,"accessible":2}})") == "/best/accessible range");
    CHECK(decode(R"({"best":{"quantity":1,"together":1}})") == "/best/together type");
    CHECK(decode(R"({"best":{"quantity":1,"preview":1}})") == "/best/preview type");
    CHECK(decode(R"({"best":[]})") == "/best not-an-object");
    CHECK(decode(R"({"best":{}})") == "/best/quantity required");
    CHECK(decode(R"({"best":{"quantity":1},"partial":true})") == "/partial needs-seats");
    CHECK(decode(R"({"candidates":["A-1-1"],"count":1,"partial":true})") == "/partial needs-seats");
    CHECK(decode(R"({"seats":["A-1-1"],"partial":1})") == "/partial type");
}

TEST_CASE("a body has one form and no field beside it", "[claim][B11]") {
    Decoding decode;
    std::string const one_of = "one-of-seats-candidates-best-section";
    CHECK(decode("{}") == " " + one_of);
    CHECK(decode(R"({"seats":["A-1-1"],"best":{"quantity":1}})") == " " + one_of);
    CHECK(decode(R"({"lines":[{}]})") == "/lines/0 " + one_of);
    CHECK(
        decode(R"({"lines":[{"section":"GA","quantity":1},{"seats":["A-1-1"],"section":"A"}]})") ==
        "/lines/1 " + one_of);
    CHECK(decode(R"({"seat":["A-1-1"]})") == "/seat unknown-field");
    for (auto const* field : {"price", "owner", "state", "expires_at", "balance", "id", "ttl"}) {
        CAPTURE(field);
        std::string const name(field);
        CHECK(decode(R"({"seats":["A-1-1"],")" + name + "\":1}") == "/" + name + " unknown-field");
        CHECK(decode(R"({"best":{"quantity":1,")" + name + "\":1}}") ==
              "/best/" + name + " unknown-field");
        CHECK(decode(R"({"lines":[{"section":"GA","quantity":1,")" + name + "\":1}]}") ==
              "/lines/0/" + name + " unknown-field");
    }
    CHECK(decode(R"({"best":{"quantity":1},"quantity":1})") == "/quantity unknown-field");
    CHECK(decode(R"({"lines":[{"section":"GA","quantity":1}],"seats":["A-1-1"]})") ==
          "/seats unknown-field");
}

TEST_CASE("lines are bounded in number and in sum", "[claim]") {
    Decoding decode;
    CHECK(decode(R"({"lines":[]})") == "/lines range");
    CHECK(decode(R"({"lines":{}})") == "/lines type");
    CHECK(decode(R"({"lines":)" + list_of(33, R"({"section":"GA","quantity":1})") + "}") ==
          "/lines range");
    CHECK(decode(R"({"lines":)" + list_of(10, R"({"section":"GA","quantity":1})") + "}").empty());
    CHECK(decode(R"({"lines":)" + list_of(11, R"({"section":"GA","quantity":1})") + "}") ==
          "/lines range");
    CHECK(decode(R"({"lines":[{"seats":["A-1-1"]},{"best":{"quantity":10}}]})") == "/lines range");
    CHECK(decode(R"({"lines":[{"lines":[]}]})") == "/lines/0/lines unknown-field");
}

TEST_CASE("whatever a mutated claim says, the lines keep their promise", "[claim][fuzz]") {
    std::mt19937_64 random(test::seed_of_run());
    std::vector<std::string> const bodies{
        R"({"seats":["A-1-1","A-1-2","B-2-10"]})",
        R"({"candidates":["A-1-1","A-1-2","A-2-1"],"count":2})",
        R"({"best":{"quantity":2,"sections":["A","GA"],"categories":["vip"],"accessible":1}})",
        R"({"lines":[{"seats":["A-1-1"]},{"section":"GA","quantity":3},)"
        R"({"section":"A","quantity":2}]})"};
    std::string_view const alphabet = "{}[]\",:\\019-.eABG tn";
    Decoding decode;
    std::size_t good = 0;
    for (int round = 0; round < 30'000; ++round) {
        std::string text = bodies[random() % bodies.size()];
        for (auto changes = 1 + random() % 3; changes > 0; --changes)
            test::mutate(text, alphabet, random);
        if (!decode(text).empty()) continue;
        ++good;
        std::uint64_t total = 0;
        bool sound = !decode.decoder.lines().empty();
        for (ClaimLine const& line : decode.decoder.lines()) {
            for (SeatIndex const seat : line.seats) {
                sound = sound && seat.value() < decode.spec.layout.labelled_count();
            }
            std::uint64_t places = line.count;
            if (line.kind == Kind::seats) places = line.seats.size();
            if (line.kind == Kind::best) places = line.best.quantity;
            if (line.kind == Kind::candidates) sound = sound && line.count <= line.seats.size();
            if (line.kind == Kind::general) {
                sound = sound && decode.spec.layout.sections()[line.section.value()].general;
            }
            sound = sound && places > 0;
            total += places;
        }
        if (!sound || total > decode.spec.policy.max_per_order) FAIL_CHECK(text);
    }
    CHECK(good > 100);
}

}  // namespace holdfast::api
