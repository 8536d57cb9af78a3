// A file that a crash left while it was being made.
#include "tests/store/store_samples.hpp"

#include <catch2/catch.hpp>
#include <sqlite3.h>

namespace holdfast::store {
namespace {

/// What SQLite leaves of a file whose first change a power cut has ended: it is half done, and the
/// journal beside it, not a WAL yet, says how to undo it.
void leave_half_made(std::filesystem::path const& file) {
    samples::TempFolder const elsewhere;
    auto const made = elsewhere.file();
    sqlite3* handle = nullptr;
    REQUIRE(sqlite3_open(made.c_str(), &handle) == SQLITE_OK);
    // More than the cache holds, so that some of it is in the file before the end.
    int const done =
        sqlite3_exec(handle,
                     "CREATE TABLE first (a); DROP TABLE first; PRAGMA cache_size = 1; BEGIN;"
                     "CREATE TABLE half (a); INSERT INTO half WITH RECURSIVE n(i) AS "
                     "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99) "
                     "SELECT zeroblob(4000) FROM n",
                     nullptr, nullptr, nullptr);
    CHECK(done == SQLITE_OK);
    std::filesystem::copy_file(made, file);
    std::filesystem::copy_file(made.string() + "-journal", file.string() + "-journal");
    sqlite3_close(handle);
}

}  // namespace

TEST_CASE("P10: a whole file beside which another program has left a journal is not unmade",
          "[store]") {
    samples::TempFolder const folder;
    {
        auto const store = samples::open_store(folder.file());
        bool const in_wal_only = GENERATE(true, false);
        if (!in_wal_only) REQUIRE(store->checkpoint());
    }
    {
        // As of another file: what it would bring back is none of this one.
        samples::TempFolder const elsewhere;
        leave_half_made(elsewhere.file());
        std::filesystem::copy_file(elsewhere.file().string() + "-journal",
                                   folder.file().string() + "-journal");
    }
    auto const peeked = Store::peek(folder.file());
    REQUIRE_FALSE(peeked);
    CHECK(peeked.error().kind == StoreError::Kind::damaged);
    CHECK_THAT(peeked.error().message, Catch::Contains("-journal"));
    std::filesystem::remove(folder.file().string() + "-journal");
    auto const again = Store::peek(folder.file());
    REQUIRE(again);
    REQUIRE(*again);
    CHECK((*again)->store_id == samples::store_id);
}

TEST_CASE("P3: a file that a crash left before it had a WAL is as good as new", "[store]") {
    samples::TempFolder const folder;
    leave_half_made(folder.file());
    {
        // Whoever only reads cannot undo it.
        auto reader = Database::open_reader(folder.file(), std::chrono::seconds{60});
        REQUIRE(reader);
        auto const read = reader->number("PRAGMA user_version");
        REQUIRE_FALSE(read);
        CHECK(read.error().code == SQLITE_READONLY_ROLLBACK);
    }
    auto const peeked = Store::peek(folder.file());
    REQUIRE(peeked);
    CHECK_FALSE(*peeked);
    auto const store = samples::open_store(folder.file());
    CHECK(store->identity().store_id == samples::store_id);
    CHECK_FALSE(std::filesystem::exists(folder.file().string() + "-journal"));
}

}  // namespace holdfast::store
