#include "store/migrations.hpp"

#include "store/statement.hpp"

#include <sqlite3.h>
#include <string>

namespace holdfast::store {
namespace {

[[nodiscard]] StoreResult<void> run_one(Database& database, std::uint32_t number,
                                        std::array<std::uint8_t, 16> const& new_store_id) {
    Transaction transaction{database};
    if (auto const begun = transaction.begin_write(); !begun) return begun;
    Migration const& migration = migrations()[number - 1];
    if (auto const done = database.run(migration.sql); !done) {
        StoreError error = done.error();
        error.message.insert(0, std::string{migration.name} + ": ");
        return error;
    }
    if (number == 1) {
        Statement meta{database, "INSERT INTO meta (id, store_id) VALUES (1, ?)"};
        if (auto const made = meta.put(new_store_id).run(); !made) return made;
        auto const marked =
            database.run(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
        if (!marked) return marked;
    }
    auto const counted = database.run(("PRAGMA user_version = " + std::to_string(number)).c_str());
    if (!counted) return counted;
    return transaction.commit();
}

}  // namespace

StoreResult<std::uint32_t> schema_version(Database& database) {
    auto const tables = database.number("SELECT count(*) FROM sqlite_schema");
    if (!tables) return tables.error();
    if (*tables == 0) return 0U;
    auto const owner = database.number("PRAGMA application_id");
    if (!owner) return owner.error();
    if (*owner != application_id) {
        return StoreError{SQLITE_NOTADB, "this SQLite file is not holdfast's"};
    }
    auto const version = database.number("PRAGMA user_version");
    if (!version) return version.error();
    auto const newest = static_cast<std::int64_t>(migrations().size());
    if (*version > newest) {
        return StoreError{SQLITE_SCHEMA, "the store has schema version " +
                                             std::to_string(*version) +
                                             " and needs the newer holdfast that made it; this "
                                             "one knows versions up to " +
                                             std::to_string(newest)};
    }
    if (*version < 1) return StoreError{SQLITE_CORRUPT, "the store has no schema version"};
    return static_cast<std::uint32_t>(*version);
}

StoreResult<void> migrate(Database& database, std::array<std::uint8_t, 16> const& new_store_id) {
    auto const version = schema_version(database);
    if (!version) return version.error();
    for (auto number = *version + 1; number <= migrations().size(); ++number) {
        if (auto const done = run_one(database, number, new_store_id); !done) return done;
    }
    return {};
}

}  // namespace holdfast::store
