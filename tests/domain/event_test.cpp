#include <holdfast/domain/event.hpp>
#include <holdfast/domain/refusal.hpp>

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

using namespace holdfast;

TEST_CASE("a slug is lower-case letters, digits and inner hyphens, 1 to 64 of them", "[event]") {
    for (auto const* const good : {"a", "0", "demo", "demo-2", "a-", "9--b"}) {
        CAPTURE(good);
        CHECK(is_slug(good));
    }
    for (auto const* const bad : {"", "-a", "A", "demo_1", "a b", "\xC3\xA4", "a/b", "a."}) {
        CAPTURE(bad);
        CHECK(!is_slug(bad));
    }
    CHECK(is_slug(std::string(64, 'a')));
    CHECK(!is_slug(std::string(65, 'a')));
    CHECK(!is_slug(std::string_view{"a\0", 2}));
}

TEST_CASE("states and rules have the names of the interface", "[event]") {
    CHECK(to_string(EventState::draft) == "draft");
    CHECK(to_string(EventState::preparing) == "preparing");
    CHECK(to_string(EventState::scheduled) == "scheduled");
    CHECK(to_string(EventState::open) == "open");
    CHECK(to_string(EventState::paused) == "paused");
    CHECK(to_string(EventState::closed) == "closed");
    CHECK(to_string(EventState::cancelled) == "cancelled");
    CHECK(to_string(OrphanRule::off) == "off");
    CHECK(to_string(OrphanRule::lenient) == "lenient");
    CHECK(to_string(OrphanRule::strict) == "strict");
}

TEST_CASE("value() of a refusal throws", "[event]") {
    Result<int> const refused{Refusal{.code = RefusalCode::busy}};
    CHECK_THROWS_AS(refused.value(), std::logic_error);
}
