// ClaimDecoder::decode_plain beside decode(): where it takes a body, the results are the same.
#include "api/claim_decoder.hpp"
#include "tests/api/sample_event.hpp"
#include "tests/support/mutate.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace holdfast::api {
namespace {

using engine::ClaimLine;

bool same_lines(ClaimLine const& left, ClaimLine const& right) {
    bool const same = left.kind == right.kind && left.seats == right.seats &&
                      left.count == right.count && left.section == right.section;
    engine::BestWish const& a = left.best;
    engine::BestWish const& b = right.best;
    return same && a.quantity == b.quantity && a.sections == b.sections &&
           a.categories == b.categories && a.zone == b.zone && a.accessible == b.accessible &&
           a.prevent_orphans == b.prevent_orphans && a.together == b.together;
}

/// Two decoders, each used again and again as a thread does.
class BothWays {
public:
    explicit BothWays(EventSpec the_spec) : spec(std::move(the_spec)) {}

    /// Whether the plain way takes it. Fails if it takes what the other refuses or reads in another
    /// way.
    bool plain(std::string_view text) {
        CAPTURE(text);
        bool const taken = plainly.decode_plain(text, spec);
        if (!taken) return false;
        auto const body = reader.read_object(text);
        REQUIRE(body.has_value());
        REQUIRE(fully.decode(*body, spec) == ClaimDecoder::Verdict::good);
        REQUIRE(plainly.lines().size() == fully.lines().size());
        REQUIRE(same_lines(plainly.lines()[0], fully.lines()[0]));
        REQUIRE(plainly.account() == fully.account());
        REQUIRE(plainly.preview() == fully.preview());
        REQUIRE(plainly.section_of_line(0) == fully.section_of_line(0));
        return true;
    }

    EventSpec spec;
    JsonReader reader;
    ClaimDecoder plainly, fully;
};

/// What the plain way is made for.
std::vector<std::string> const plain_bodies{
    R"({"section":"GA","quantity":1})",
    R"({"quantity":10,"section":"A"})",
    " {\t\"section\" : \"B\" ,\r\n\"quantity\": 2 } \n",
    R"({"seats":["A-1-1"]})",
    R"({"seats":["A-1-2","A-1-1","B-2-3"]})",
    R"({ "seats" : [ "A-1-2" , "A-1-1" ] })",
    R"({"best":{"quantity":2}})",
    R"({"best":{"together":true,"quantity":4}})",
    R"({"best":{"quantity":4,"together":false}})",
};

}  // namespace

TEST_CASE("ordinary claims are read in the plain way, as in the other", "[claim]") {
    BothWays both(test::sample_event());
    for (std::string const& body : plain_bodies) {
        CAPTURE(body);
        CHECK(both.plain(body));
    }
}

TEST_CASE("what is unusual, and what will be refused, is left to the other way", "[claim]") {
    BothWays both(test::sample_event());
    for (std::string const body : {
             "",
             "{}",
             "[]",
             "{",
             R"({"section":"GA","quantity":1}x)",
             R"({"section":"GA","quantity":1},)",
             R"({"section":"GA","quantity":1)",
             R"({"section":"GA","quantity":0})",
             R"({"section":"GA","quantity":-1})",
             R"({"section":"GA","quantity":01})",
             R"({"section":"GA","quantity":1.0})",
             R"({"section":"GA","quantity":1e0})",
             R"({"section":"GA","quantity":"1"})",
             R"({"section":"GA","quantity":11})",
             R"({"section":"GA","quantity":99999999999999999999})",
             R"({"section":"GA","quantity":})",
             R"({"section":"GA"})",
             R"({"quantity":1})",
             R"({"section":"XX","quantity":1})",
             R"({"section":"","quantity":1})",
             R"({"section":"G\u0041","quantity":1})",
             R"({"section":"GA","section":"GA"})",
             R"({"section":"GA","quantity":1,"quantity":1})",
             R"({"section":"GA","quantity":1,"account":7})",
             R"({"section":"GA","quantity":1,"partial":false})",
             R"({"section":"GA","quantity":1,"seats":["A-1-1"]})",
             R"({"Section":"GA","quantity":1})",
             R"({"seats":[]})",
             R"({"seats":["A-1-1",]})",
             R"({"seats":["A-1-1" "A-1-2"]})",
             R"({"seats":["A-1-1","A-1-1"]})",
             R"({"seats":["A-1-1","Z-1-1"]})",
             R"({"seats":["A-1-1",1]})",
             R"({"seats":["A-1-1"],"count":1})",
             R"({"seats":"A-1-1"})",
             R"({"seats":["A-1-1","A-1-2","A-1-3","A-1-4","A-1-5","A-1-6","A-1-7","A-1-8",)"
             R"("A-1-9","A-1-10","A-2-1"]})",
             R"({"best":{}})",
             R"({"best":{"together":true}})",
             R"({"best":{"quantity":2,"together":1}})",
             R"({"best":{"quantity":2,"together":truex}})",
             R"({"best":{"quantity":2,"quantity":2}})",
             R"({"best":{"quantity":2,"together":true,"together":true}})",
             R"({"best":{"quantity":2,"preview":true}})",
             R"({"best":{"quantity":2,"sections":["A"]}})",
             R"({"best":{"quantity":2}},)",
             R"({"best":2})",
             R"({"candidates":["A-1-1"],"count":1})",
             R"({"lines":[{"section":"GA","quantity":1}]})",
             "{\"seats\":[\"caf\xC3\xA9\"]}",
             "\xEF\xBB\xBF{\"section\":\"GA\",\"quantity\":1}",
         }) {
        CAPTURE(body);
        CHECK_FALSE(both.plain(body));
    }
}

TEST_CASE("a house of one general section, and groups that stay whole, in the plain way",
          "[claim]") {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    Section floor;
    floor.id = "GA";
    floor.capacity = 50;
    builder.add_general(floor);
    EventSpec spec = test::sample_event();
    spec.layout = std::move(*std::move(builder).build());
    BothWays general(std::move(spec));
    CHECK(general.plain(R"({"best":{"quantity":2}})"));
    CHECK(general.plainly.lines()[0].kind == ClaimLine::Kind::general);
    BothWays sofas(test::sofa_event());
    CHECK(sofas.plain(R"({"seats":["A-2","A-3"]})"));
    CHECK_FALSE(sofas.plain(R"({"seats":["A-1","A-2"]})"));
}

TEST_CASE("whatever a mutated claim says, the plain way says nothing else", "[claim][fuzz]") {
    std::mt19937_64 random(test::seed_of_run());
    std::string_view const alphabet = "{}[]\",:\\0129-.eAGBat r\t";
    BothWays both(test::sample_event());
    std::size_t taken = 0;
    for (int round = 0; round < 50'000; ++round) {
        std::string text = plain_bodies[random() % plain_bodies.size()];
        for (auto changes = 1 + random() % 3; changes > 0; --changes)
            test::mutate(text, alphabet, random);
        if (both.plain(text)) ++taken;
    }
    CHECK(taken > 100);
}

}  // namespace holdfast::api
