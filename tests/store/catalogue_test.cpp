#include "tests/store/store_samples.hpp"

#include <holdfast/domain/layout_codec.hpp>

#include <catch2/catch.hpp>

namespace holdfast::store {
namespace {

using samples::TempFolder;

void check_equal(EventSpec const& found, EventSpec const& wanted) {
    CHECK(found.slug == wanted.slug);
    CHECK(found.name == wanted.name);
    CHECK(found.venue == wanted.venue);
    CHECK(found.time_zone == wanted.time_zone);
    CHECK(found.starts_at == wanted.starts_at);
    CHECK(found.opens_at == wanted.opens_at);
    CHECK(found.closes_at == wanted.closes_at);
    CHECK(found.currency == wanted.currency);
    CHECK(found.publish == wanted.publish);
    CHECK(found.policy == wanted.policy);
    CHECK(found.created_at == wanted.created_at);
    CHECK(encode_layout(found.layout) == encode_layout(wanted.layout));
}

EventSpec plain_event(std::string slug) {
    EventSpec spec;
    spec.slug = std::move(slug);
    spec.layout = *samples::mixed().build();
    return spec;
}

}  // namespace

TEST_CASE("events come back as they were inserted, after a restart too", "[store]") {
    TempFolder const folder;
    EventSpec const full = samples::full_event("demo");
    EventSpec const plain = plain_event("a-plain-1");
    {
        auto const store = samples::open_store(folder.file());
        auto const empty = store->load_events();
        REQUIRE(empty);
        CHECK(empty->empty());
        auto const first = store->insert_event(full);
        REQUIRE(first);
        CHECK(*first == EventId{1});
        auto const second = store->insert_event(plain);
        REQUIRE(second);
        CHECK(*second == EventId{2});
    }
    auto const store = samples::open_store(folder.file());
    auto const events = store->load_events();
    REQUIRE(events);
    REQUIRE(events->size() == 2);
    CHECK((*events)[0].id == EventId{1});
    check_equal((*events)[0], full);
    CHECK((*events)[1].id == EventId{2});
    check_equal((*events)[1], plain);
}

TEST_CASE("a slug in use gives no event, and ids stay dense", "[store]") {
    TempFolder const folder;
    auto const store = samples::open_store(folder.file());
    REQUIRE(store->insert_event(plain_event("demo")));
    auto const again = store->insert_event(samples::full_event("demo"));
    REQUIRE(again);
    CHECK_FALSE(*again);
    auto const next = store->insert_event(plain_event("demo-2"));
    REQUIRE(next);
    CHECK(*next == EventId{2});
    auto const events = store->load_events();
    REQUIRE(events);
    REQUIRE(events->size() == 2);
    check_equal((*events)[0], plain_event("demo"));
}

TEST_CASE("P4: a request that is sent again finds the event that it has made", "[store]") {
    TempFolder const folder;
    auto const store = samples::open_store(folder.file());
    EventSpec spec = plain_event("demo");
    spec.made_by = {{1, 2, 3, 4}};
    auto const first = store->insert_event(spec);
    REQUIRE(first);
    REQUIRE(first->has_value());
    auto const again = store->insert_event(spec);
    REQUIRE(again);
    CHECK(*again == *first);
    // Of another request, or of none, the name is in use.
    spec.made_by = {{1, 2, 3, 5}};
    CHECK_FALSE(store->insert_event(spec)->has_value());
    spec.made_by.reset();
    CHECK_FALSE(store->insert_event(spec)->has_value());
    CHECK(store->load_events()->size() == 1);
}

TEST_CASE("a refused event leaves nothing behind and the store goes on", "[store]") {
    TempFolder const folder;
    auto const store = samples::open_store(folder.file());
    EventSpec broken = plain_event("broken");
    broken.policy.hold_ttl = Milliseconds{0};  // against a CHECK of the table
    auto const refused = store->insert_event(broken);
    REQUIRE_FALSE(refused);
    CHECK((refused.error().code & 0xFF) == 19);  // SQLITE_CONSTRAINT
    auto const next = store->insert_event(plain_event("good"));
    REQUIRE(next);
    CHECK(*next == EventId{1});
}

TEST_CASE("sections and categories can be queried", "[store]") {
    TempFolder const folder;
    auto const store = samples::open_store(folder.file());
    EventSpec const spec = samples::full_event("demo");
    REQUIRE(store->insert_event(spec));
    auto database = Database::open_reader(folder.file(), std::chrono::seconds{2});
    REQUIRE(database);
    auto const capacity = database->number("SELECT sum(capacity) FROM sections WHERE event = 1");
    REQUIRE(capacity);
    CHECK(*capacity == spec.layout.place_count());
    auto const sections = database->number("SELECT count(*) FROM sections");
    REQUIRE(sections);
    CHECK(*sections == static_cast<std::int64_t>(spec.layout.sections().size()));
    auto const price = database->number("SELECT price FROM categories WHERE key = 'vip'");
    REQUIRE(price);
    CHECK(*price == 12'000);
}

}  // namespace holdfast::store
