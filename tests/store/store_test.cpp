#include "store/migrations.hpp"
#include "tests/store/store_samples.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <random>
#include <sqlite3.h>

namespace holdfast::store {
namespace {

using samples::TempFolder;

std::string read_file(std::filesystem::path const& file) {
    std::ifstream stream{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

void write_file(std::filesystem::path const& file, std::string const& bytes) {
    std::ofstream stream{file, std::ios::binary | std::ios::trunc};
    stream << bytes;
}

std::int64_t number(Database& database, std::string_view sql) {
    auto const found = database.number(sql);
    if (!found) throw std::runtime_error{found.error().message};
    return *found;
}

}  // namespace

TEST_CASE("every migration in sql/ is embedded, in order", "[store]") {
    std::vector<std::string> files;
    std::filesystem::path const folder = std::filesystem::path{HOLDFAST_SOURCE_DIR} / "sql";
    for (auto const& entry : std::filesystem::directory_iterator{folder}) {
        files.push_back(entry.path().filename().string());
    }
    std::ranges::sort(files);
    std::vector<std::string> embedded;
    for (Migration const& migration : migrations()) {
        embedded.emplace_back(migration.name);
        CHECK(migration.sql == read_file(folder / migration.name));
    }
    CHECK(embedded == files);
    for (std::size_t i = 0; i < embedded.size(); ++i) {
        CHECK(std::stoul(embedded[i]) == i + 1);
    }
}

TEST_CASE("a new store takes the given id and keeps it", "[store]") {
    TempFolder const folder;
    {
        auto const store = samples::open_store(folder.file());
        CHECK(store->identity().store_id == samples::store_id);
        CHECK(store->identity().applied_lsn == no_lsn);
        CHECK(store->identity().applied_chain == 0);
    }
    std::array<std::uint8_t, 16> const other{99};
    auto const again = Store::open(folder.file(), other);
    REQUIRE(again);
    CHECK((*again)->identity().store_id == samples::store_id);
    auto database = Database::open_reader(folder.file(), std::chrono::seconds{2});
    REQUIRE(database);
    CHECK(number(*database, "PRAGMA user_version") ==
          static_cast<std::int64_t>(migrations().size()));
    CHECK(number(*database, "PRAGMA application_id") == application_id);
    CHECK(number(*database,
                 "SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
                 "AND sql NOT LIKE '%STRICT%'") == 0);
}

TEST_CASE("what an older holdfast wrote is brought up to date", "[store]") {
    TempFolder const folder;
    {
        auto old = Database::open_writer(folder.file());
        REQUIRE(old);
        for (std::size_t i = 0; i < 2; ++i) REQUIRE(old->run(migrations()[i].sql));
        REQUIRE(old->run(
            ("PRAGMA user_version = 2; PRAGMA application_id = " + std::to_string(application_id))
                .c_str()));
        REQUIRE(
            old->run("INSERT INTO meta (id, store_id) VALUES (1, zeroblob(16));"
                     "PRAGMA foreign_keys = OFF;"
                     "INSERT INTO orders VALUES (5, x'000000000000000100000000000000AA', 1,"
                     " 'cancelled', 'none', 7, 'EUR', 1);"
                     "INSERT INTO tickets VALUES (5, 0, zeroblob(16), 1, 3, 'A', 'A', 7, 0);"
                     "INSERT INTO history VALUES (5, 5, 1, 'confirmed'),"
                     " (6, 5, 2, 'cancelled')"));
    }
    auto const store = samples::open_store(folder.file());
    auto reader = Reader::open(folder.file());
    REQUIRE(reader);
    auto const order = (*reader)->order({1, 0xAA});
    REQUIRE(order);
    REQUIRE(order->has_value());
    CHECK((*order)->state == OrderState::cancelled);
    REQUIRE((*order)->tickets.size() == 1);
    CHECK_FALSE((*order)->tickets[0].live);
    CHECK_FALSE((*order)->tickets[0].refunded);
    auto database = Database::open_reader(folder.file(), std::chrono::seconds{2});
    REQUIRE(database);
    CHECK(number(*database,
                 "SELECT group_concat(lsn || what) = '5confirmed,6cancelled' "
                 "FROM history") == 1);
}

TEST_CASE("connections have the settings the rules ask for", "[store]") {
    TempFolder const folder;
    samples::open_store(folder.file());
    auto writer = Database::open_writer(folder.file());
    REQUIRE(writer);
    CHECK(number(*writer, "PRAGMA synchronous") == 1);
    CHECK(number(*writer, "PRAGMA wal_autocheckpoint") == 0);
    CHECK(number(*writer, "PRAGMA busy_timeout") == 5'000);
    CHECK(number(*writer, "PRAGMA foreign_keys") == 1);
    CHECK(number(*writer, "PRAGMA trusted_schema") == 0);
    CHECK(number(*writer, "PRAGMA cell_size_check") == 1);
    CHECK(number(*writer, "PRAGMA journal_size_limit") == 67'108'864);
    auto reader = Database::open_reader(folder.file(), std::chrono::seconds{2});
    REQUIRE(reader);
    CHECK(number(*reader, "PRAGMA query_only") == 1);
    for (Database* const database : {&*writer, &*reader}) {
        int defensive = 0;
        int no_checkpoint = 0;
        sqlite3_db_config(database->handle(), SQLITE_DBCONFIG_DEFENSIVE, -1, &defensive);
        sqlite3_db_config(database->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, -1, &no_checkpoint);
        CHECK(defensive == 1);
        CHECK(no_checkpoint == 1);
        CHECK_FALSE(database->run("ATTACH ':memory:' AS other"));
    }
    auto const written = reader->run("DELETE FROM meta");
    REQUIRE_FALSE(written);
    CHECK((written.error().code & 0xFF) == SQLITE_READONLY);
}

TEST_CASE("peek tells the identity and writes nothing", "[store]") {
    TempFolder const folder;
    auto const none = Store::peek(folder.file());
    REQUIRE(none);
    CHECK_FALSE(*none);
    CHECK_FALSE(std::filesystem::exists(folder.file()));
    {
        auto const store = samples::open_store(folder.file());
        REQUIRE(store->begin());
        REQUIRE(store->commit(Lsn{77}, 0xFFFFFFFF));
    }
    std::string const before = read_file(folder.file());
    auto const found = Store::peek(folder.file());
    REQUIRE(found);
    REQUIRE(*found);
    CHECK((*found)->store_id == samples::store_id);
    CHECK((*found)->applied_lsn == Lsn{77});
    CHECK((*found)->applied_chain == 0xFFFFFFFF);
    CHECK(read_file(folder.file()) == before);
}

TEST_CASE("a file that a crash left without tables is as good as new", "[store]") {
    TempFolder const folder;
    write_file(folder.file(), "");
    auto const peeked = Store::peek(folder.file());
    REQUIRE(peeked);
    CHECK_FALSE(*peeked);
    CHECK(Store::open(folder.file(), samples::store_id));
}

TEST_CASE("files that are not a store of ours are refused", "[store]") {
    TempFolder const folder;
    auto const refuses = [&](int code) {
        auto const peeked = Store::peek(folder.file());
        auto const opened = Store::open(folder.file(), samples::store_id);
        REQUIRE_FALSE(peeked);
        REQUIRE_FALSE(opened);
        CHECK((peeked.error().code & 0xFF) == code);
        CHECK((opened.error().code & 0xFF) == code);
        CHECK_FALSE(opened.error().message.empty());
    };
    SECTION("not SQLite") {
        write_file(folder.file(), std::string(10'000, 'x'));
        refuses(SQLITE_NOTADB);
    }
    SECTION("somebody else's") {
        {
            auto other = Database::open_writer(folder.file());
            REQUIRE(other);
            REQUIRE(other->run("CREATE TABLE theirs (a)"));
        }
        refuses(SQLITE_NOTADB);
    }
    SECTION("made by a newer holdfast") {
        samples::open_store(folder.file());
        {
            auto newer = Database::open_writer(folder.file());
            REQUIRE(newer);
            REQUIRE(newer->run("PRAGMA user_version = 99"));
        }
        refuses(SQLITE_SCHEMA);
        CHECK_THAT(Store::peek(folder.file()).error().message, Catch::Contains("99"));
    }
    SECTION("a folder") {
        std::filesystem::create_directory(folder.file());
        CHECK_FALSE(Store::peek(folder.file()));
        CHECK_FALSE(Store::open(folder.file(), samples::store_id));
    }
}

TEST_CASE("a damaged store gives errors and no crash", "[store]") {
    TempFolder const folder;
    {
        auto const store = samples::open_store(folder.file());
        for (char const* const slug : {"one", "two", "three"}) {
            REQUIRE(store->insert_event(samples::full_event(slug)));
        }
        REQUIRE(store->checkpoint());
    }
    std::filesystem::remove(folder.path() / "store.db-wal");
    std::filesystem::remove(folder.path() / "store.db-shm");
    std::string const good = read_file(folder.file());
    REQUIRE(good.size() > 20'000);
    std::mt19937_64 random{samples::seed()};
    int failures = 0;
    for (int round = 0; round < 60; ++round) {
        std::string bad = good;
        // A damaged run somewhere behind the header, or a file that is cut.
        if (round % 3 == 0) {
            bad.resize(100 + random() % (bad.size() - 100));
        } else {
            std::size_t const from = 100 + random() % (bad.size() - 4'200);
            for (std::size_t i = 0; i < 4'000; ++i) bad[from + i] = static_cast<char>(random());
        }
        write_file(folder.file(), bad);
        auto const opened = Store::open(folder.file(), samples::store_id);
        if (!opened) {
            ++failures;
            CHECK_FALSE(opened.error().message.empty());
        } else {
            auto const events = (*opened)->load_events();
            if (!events) {
                ++failures;
                // The connection is gone for good, and says why.
                auto const begun = (*opened)->begin();
                REQUIRE_FALSE(begun);
                CHECK_THAT(begun.error().message, Catch::Contains("closed after"));
            }
        }
        std::filesystem::remove(folder.path() / "store.db-wal");
        std::filesystem::remove(folder.path() / "store.db-shm");
    }
    CHECK(failures > 20);
}

TEST_CASE("a checkpoint moves the whole WAL into the file", "[store]") {
    TempFolder const folder;
    auto const store = samples::open_store(folder.file());
    REQUIRE(store->insert_event(samples::full_event("demo")));
    CHECK(store->wal_bytes() > 4'096);
    auto moved = store->checkpoint();
    REQUIRE(moved);
    CHECK(*moved);
    CHECK(store->wal_bytes() == 0);
    CHECK(std::filesystem::file_size(folder.path() / "store.db-wal") == 0);
    CHECK(read_file(folder.file()).find("Town hall") != std::string::npos);
}

TEST_CASE("an error says of what kind it is, whatever SQLite calls it", "[store]") {
    using Kind = StoreError::Kind;
    std::pair<int, Kind> const rows[] = {
        {SQLITE_BUSY_SNAPSHOT, Kind::busy},
        {SQLITE_INTERRUPT, Kind::stopped},
        {SQLITE_CONSTRAINT_UNIQUE, Kind::contradiction},
        {SQLITE_CORRUPT_INDEX, Kind::damaged},
        {SQLITE_NOTADB, Kind::damaged},
        {SQLITE_IOERR_SHORT_READ, Kind::damaged},
        {SQLITE_IOERR_WRITE, Kind::not_durable},
        {SQLITE_IOERR_FSYNC, Kind::not_durable},
        {SQLITE_FULL, Kind::not_durable},
        {SQLITE_CANTOPEN_ISDIR, Kind::not_durable},
        {SQLITE_READONLY_DBMOVED, Kind::not_durable},
        {SQLITE_SCHEMA, Kind::newer},
        {SQLITE_ERROR, Kind::other},
    };
    for (auto const& [code, kind] : rows) {
        CAPTURE(code);
        CHECK(StoreError{code, "text"}.kind == kind);
        CHECK(StoreError{code, "text"}.code == code);
    }
}

TEST_CASE("a reader in the way of a checkpoint is no error, and the writer goes on", "[store]") {
    TempFolder const folder;
    samples::open_store(folder.file());
    auto writer = Database::open_writer(folder.file());
    REQUIRE(writer);
    sqlite3_busy_timeout(writer->handle(), 0);
    auto reader = Database::open_reader(folder.file(), std::chrono::seconds{20});
    REQUIRE(reader);
    REQUIRE(reader->run("BEGIN; SELECT * FROM meta"));
    REQUIRE(writer->run("UPDATE meta SET applied_lsn = 5"));
    std::uint64_t const wal_bytes = writer->wal_bytes();
    CHECK(wal_bytes > 0);
    auto const blocked = writer->checkpoint();
    REQUIRE(blocked);
    CHECK_FALSE(*blocked);
    CHECK(writer->wal_bytes() == wal_bytes);
    CHECK(number(*reader, "SELECT applied_lsn FROM meta") == 0);
    REQUIRE(writer->run("UPDATE meta SET applied_lsn = 6"));
    REQUIRE(reader->run("COMMIT"));
    auto const moved = writer->checkpoint();
    REQUIRE(moved);
    CHECK(*moved);
    CHECK(writer->wal_bytes() == 0);
    CHECK(number(*reader, "SELECT applied_lsn FROM meta") == 6);
}

TEST_CASE("P12: a batch has the file for itself from its begin on", "[store]") {
    TempFolder const folder;
    auto const store = samples::open_store(folder.file());
    auto other = Database::open_writer(folder.file());
    REQUIRE(other);
    sqlite3_busy_timeout(other->handle(), 0);
    REQUIRE(store->begin());
    // A batch that began by reading could not write after this, however long it waited.
    auto const written = other->run("UPDATE meta SET applied_lsn = 3");
    REQUIRE_FALSE(written);
    CHECK((written.error().code & 0xFF) == SQLITE_BUSY);
    REQUIRE(store->commit(Lsn{5}, 1));
    CHECK(number(*other, "SELECT applied_lsn FROM meta") == 5);
}

TEST_CASE("P12: a read that takes too long is stopped", "[store][limit]") {
    TempFolder const folder;
    samples::open_store(folder.file());
    auto reader = Database::open_reader(folder.file(), std::chrono::milliseconds{20});
    REQUIRE(reader);
    reader->start_watch();
    auto const endless = reader->number(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30000000) "
        "SELECT count(*) FROM n");
    REQUIRE_FALSE(endless);
    CHECK(endless.error().code == SQLITE_INTERRUPT);
    reader->start_watch();
    CHECK(reader->number("SELECT 1"));
}

}  // namespace holdfast::store
