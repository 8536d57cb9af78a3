// A store that is opened again must be the one that is on sale; its check can be skipped.
#include "tests/store/store_samples.hpp"

#include <sqlite3.h>

using namespace holdfast;
using namespace holdfast::samples;
using namespace holdfast::store;

TEST_CASE("an older copy of the store is not taken for the one on sale", "[store]") {
    TempFolder const folder;
    auto store = open_store(folder.file());
    EventSpec const first = full_event("first");
    REQUIRE(store->insert_event(first));
    REQUIRE(*store->checkpoint());
    std::filesystem::copy_file(folder.file(), folder.file("older.db"));
    auto const second = store->insert_event(full_event("second"));
    REQUIRE(second);
    REQUIRE(*store->checkpoint());
    REQUIRE(store->reopen());
    std::filesystem::rename(folder.file(), folder.file("newer.db"));
    std::filesystem::rename(folder.file("older.db"), folder.file());
    auto const refused = store->reopen();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == SQLITE_MISMATCH);
    CHECK_THAT(refused.error().message,
               Catch::Contains("no event " + std::to_string((**second).value())));
    CHECK_FALSE(store->usable());
    std::filesystem::rename(folder.file("newer.db"), folder.file());
    CHECK(store->reopen());
    CHECK(store->usable());
}

TEST_CASE("a check that is skipped leaves the store usable", "[store]") {
    TempFolder const folder;
    auto store = open_store(folder.file());
    REQUIRE(store->check());
    store->skip_check();
    auto const skipped = store->check();
    REQUIRE_FALSE(skipped);
    CHECK(skipped.error().code == SQLITE_INTERRUPT);
    CHECK(store->usable());
    CHECK(store->insert_event(full_event("next")));
}

TEST_CASE("dropping what the kernel has of a store changes nothing", "[store]") {
    TempFolder const folder;
    CHECK(Store::drop_cache(folder.file()));
    auto store = open_store(folder.file());
    REQUIRE(store->insert_event(full_event("show")));
    store.reset();
    REQUIRE(Store::drop_cache(folder.file()));
    store = open_store(folder.file());
    auto const events = store->load_events();
    REQUIRE(events);
    CHECK(events->size() == 1);
}
