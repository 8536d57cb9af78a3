// Blocks at their largest size: 10,000 places a call, in every mixture, with bounded answers.
#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

/// More than any answer may be: 10,000 names of 100 bytes.
constexpr std::size_t answer_bytes_max = 1'100'000;

void add_section(LayoutBuilder& builder, std::string const& id, CategoryIndex category, int rows) {
    Section section;
    section.id = id;
    section.category = category;
    builder.add_section(section);
    for (int row = 1; row <= rows; ++row) {
        builder.add_row(std::to_string(row));
        for (int seat = 1; seat <= 100; ++seat) {
            std::string const label = std::to_string(seat);
            builder.add_seat({id + "-" + std::to_string(row) + "-" + label,
                              label,
                              {{seat * 1.0, row * 1.0}, category, 0}});
        }
    }
}

/// L has 7,000 seats of std, M 3,000 of vip; GA 2,000 places of vip.
EventSpec arena() {
    LayoutBuilder builder;
    CategoryIndex const standard = builder.add_category({"std", "Standard", 100});
    CategoryIndex const vip = builder.add_category({"vip", "VIP", 200});
    add_section(builder, "L", standard, 70);
    add_section(builder, "M", vip, 30);
    Section floor;
    floor.id = "GA";
    floor.category = vip;
    floor.capacity = 2'000;
    builder.add_general(floor);
    EventSpec spec = sample_event();
    spec.layout = std::move(*std::move(builder).build());
    return spec;
}

/// Names of seats of L, 100 a row, from `first` on, counted from 0.
std::string names_of(int first, int count) {
    std::string names;
    for (int i = first; i < first + count; ++i) {
        names += names.empty() ? "\"" : ",\"";
        names += "L-" + std::to_string(i / 100 + 1) + "-" + std::to_string(i % 100 + 1) + "\"";
    }
    return names;
}
std::string seats(std::string const& names) {
    return "\"seats\":[" + names + "]";
}

struct Arena {
    Stage stage{arena()};

    Stage::Answer block(std::string const& fields) {
        auto answer = stage.post(demo_blocks, "{" + fields + "}", staff);
        CHECK(answer.body.size() < answer_bytes_max);
        return answer;
    }
    std::uint32_t blocked() {
        std::uint32_t count = 0;
        for (auto const& each : stage.event->availability(stage.now)) {
            CHECK(each.free + each.held + each.sold + each.blocked == each.capacity);
            count += each.blocked;
        }
        return count;
    }
};

std::size_t count_of(std::string const& text, std::string const& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE_METHOD(Arena, "10,000 places in any mixture are blocked, and 10,001 are not",
                 "[blocks]") {
    std::string const over = seats(names_of(0, 5'001)) + R"(,"sections":["M","GA"])";
    for (std::string const& fields :
         {over, seats(names_of(0, 5'000)) + R"(,"sections":["M","GA"],"section":"GA","quantity":1)",
          seats(names_of(0, 5'001)) + R"(,"categories":["vip"])",
          std::string(R"("sections":["L",)"
                      R"("M"],"section":"GA","quantity":1)"),
          std::string(R"("categories":["std","vip"])")}) {
        auto const refused = block(fields);
        CHECK(refused.status == 422);
        CHECK(refused["code"] == "validation");
        CHECK(refused.error().find("range") != std::string::npos);
    }
    CHECK(stage.journal.records().empty());
    auto const most =
        block(seats(names_of(0, 5'000)) + R"(,"sections":["M"],"categories":["vip"])");
    REQUIRE(most.status == 201);
    CHECK(blocked() == 10'000);
    CHECK(stage.get("/v1/holds/" + most["hold"], staff).body.size() < answer_bytes_max);
    CHECK(stage.del("/v1/blocks/" + most["hold"], staff).status == 204);
    CHECK(blocked() == 0);
    CHECK(block(R"("sections":["L","M"])").status == 201);
    CHECK(blocked() == 10'000);
    CHECK(stage.journal.count(journal::RecordType::claim) == 2);
}

TEST_CASE_METHOD(Arena, "a place that several lists name counts once", "[blocks]") {
    auto const block_of_all =
        block(seats(names_of(0, 7'000)) +
              R"(,"sections":["L","L","M","L"],"categories":["std","STANDARD","std"],)" +
              R"("kind":"not-for-sale")");
    CHECK(block_of_all.status == 201);
    CHECK(block_of_all["kind"] == "not-for-sale");
    CHECK(blocked() == 10'000);
}

TEST_CASE_METHOD(Arena, "thousands of wrong names are told by the first thousand", "[blocks]") {
    auto const twice = block(seats(names_of(0, 5'000) + "," + names_of(0, 5'000)));
    CHECK(twice.status == 422);
    CHECK(twice["code"] == "duplicate-seat");
    CHECK(count_of(twice.body, "\"L-") == limits::names_listed_max);
    std::string unknown;
    std::string const tail(80, 'x');
    for (int i = 0; i < 10'000; ++i)
        unknown += (i == 0 ? "\"" : ",\"") + std::to_string(10'000 + i) + tail + "\"";
    auto const nowhere = block(seats(unknown));
    CHECK(nowhere.status == 422);
    CHECK(nowhere["code"] == "unknown-seat");
    CHECK(nowhere.body.size() < 80 * limits::names_listed_max);
    // One wrong name among thousands of good ones is enough, wherever it stands.
    for (std::string const& names :
         {"\"L-0-0\"," + names_of(0, 9), names_of(0, 6'999) + ",\"l-1-1\""})
        CHECK(block(seats(names))["code"] == "unknown-seat");
    CHECK(stage.journal.records().empty());
    CHECK(blocked() == 0);
}

TEST_CASE_METHOD(Arena, "blocks that overlap are refused whole, or take what is free", "[blocks]") {
    auto const first = block(seats(names_of(0, 4'000)));
    REQUIRE(first.status == 201);
    REQUIRE(stage.claim("{" + seats(names_of(6'990, 10)) + "}").status == 201);
    auto const second = block(seats(names_of(2'000, 5'000)) + R"(,"sections":["M"])");
    CHECK(second.status == 409);
    CHECK(second["code"] == "seats-unavailable");
    CHECK(second["refused_count"] == "2010");
    CHECK(count_of(second.body, "\"reason\"") == limits::names_listed_max);
    CHECK(second["retryable"] == "false");
    CHECK(blocked() == 4'000);
    auto const rest =
        block(seats(names_of(2'000, 5'000)) + R"(,"sections":["M"],"skip_taken":true)");
    REQUIRE(rest.status == 201);
    CHECK(blocked() == 4'000 + 2'990 + 3'000);
    // Nothing is left of it: that is a conflict, too.
    CHECK(block(R"("sections":["L"],"skip_taken":true)").status == 409);
    CHECK(stage.del("/v1/blocks/" + first["hold"], staff).status == 204);
    CHECK(blocked() == 5'990);
    CHECK(stage.seat_is_free("L-1-1"));
    CHECK(stage.del("/v1/blocks/" + rest["hold"], staff).status == 204);
    CHECK(blocked() == 0);
}

}  // namespace holdfast::test
