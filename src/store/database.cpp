#include "store/database.hpp"

#include "store/statement.hpp"

#include <holdfast/domain/limits.hpp>

#include <sqlite3.h>
#include <string>
#include <utility>

namespace holdfast::store {
namespace {

constexpr int busy_timeout_ms = 5'000;
// How many steps of SQLite's machine pass between two looks at the clock.
constexpr int steps_between_looks = 1'000;

}  // namespace

void Database::Close::operator()(sqlite3* handle) const noexcept {
    // close_v2 waits for statements that are finalized later, whatever the order of destruction.
    sqlite3_close_v2(handle);
}

StoreResult<Database> Database::open(std::filesystem::path const& file, int flags) {
    Database database;
    database.watch_ = std::make_unique<Watch>();
    sqlite3* handle = nullptr;
    // NOMUTEX: a connection belongs to one thread. Paths are paths, never URIs.
    int const code = sqlite3_open_v2(file.c_str(), &handle,
                                     flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    database.handle_.reset(handle);
    if (handle == nullptr) return StoreError{code, sqlite3_errstr(code)};
    if (code != SQLITE_OK) return database.error();
    if (auto failed = database.configure()) return *std::move(failed);
    return database;
}

std::optional<StoreError> Database::configure() {
    sqlite3* const handle = handle_.get();
    for (auto const& [option, value] :
         {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1}, std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
          // Only Store::checkpoint moves pages: a second one races with the writer (RELIABILITY
          // F2).
          std::pair{SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1}, std::pair{SQLITE_DBCONFIG_DQS_DDL, 0},
          std::pair{SQLITE_DBCONFIG_DQS_DML, 0}}) {
        int const code = sqlite3_db_config(handle, option, value, nullptr);
        if (code != SQLITE_OK) return StoreError{code, "sqlite3_db_config was refused"};
    }
    // No statement here comes near these; no ATTACH at all.
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 100'000);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 512'000'000);
    sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, 100);
    sqlite3_busy_timeout(handle, busy_timeout_ms);
    auto const set =
        run("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA foreign_keys = ON;"
            "PRAGMA temp_store = MEMORY");
    if (!set) return set.error();
    return std::nullopt;
}

StoreResult<Database> Database::open_writer(std::filesystem::path const& file) {
    auto database = open(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!database) return database;
    Statement mode{*database, "PRAGMA journal_mode = WAL"};
    auto const row = mode.next();
    if (!row) return row.error();
    if (mode.text(0) != "wal") {
        return StoreError{SQLITE_CANTOPEN, "the file system does not support WAL"};
    }
    mode.reset();
    // Ids are random, so each batch of the projection touches pages all over an index: with the
    // default's 2 MiB they are written out and read back within one transaction.
    auto const set = database->run(
        "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864;"
        "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536");
    if (!set) return set.error();
    auto const page_bytes = database->number("PRAGMA page_size");
    if (!page_bytes) return page_bytes.error();
    database->watch_->page_bytes = static_cast<std::uint64_t>(*page_bytes);
    auto const count_pages = [](void* watch, sqlite3*, char const*, int pages) {
        static_cast<Watch*>(watch)->wal_pages = static_cast<std::uint64_t>(pages);
        return SQLITE_OK;
    };
    sqlite3_wal_hook(database->handle(), count_pages, database->watch_.get());
    return database;
}

StoreResult<Database> Database::open_reader(std::filesystem::path const& file,
                                            std::chrono::milliseconds limit) {
    auto database = open(file, SQLITE_OPEN_READONLY);
    if (!database) return database;
    auto const set = database->run("PRAGMA query_only = ON");
    if (!set) return set.error();
    database->watch_->limit = limit;
    database->start_watch();
    // A reader that stays in a transaction pins the WAL, which then grows without bound.
    auto const too_long = [](void* watch) {
        return std::chrono::steady_clock::now() >= static_cast<Watch*>(watch)->deadline ? 1 : 0;
    };
    sqlite3_progress_handler(database->handle(), steps_between_looks, too_long,
                             database->watch_.get());
    return database;
}

StoreResult<void> Database::run(char const* sql) {
    if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error();
    return {};
}

StoreResult<std::int64_t> Database::number(std::string_view sql) {
    Statement statement{*this, sql};
    auto const row = statement.next();
    if (!row) return row.error();
    if (!*row) return StoreError{SQLITE_CORRUPT, std::string{sql} + " gave no row"};
    return statement.integer(0);
}

StoreError Database::error() const {
    StoreError error{sqlite3_extended_errcode(handle_.get()), sqlite3_errmsg(handle_.get())};
    int const primary = error.code & 0xFF;
    // SQLite keeps the number of an earlier error, and notes one for these two only.
    int const number = sqlite3_system_errno(handle_.get());
    if ((primary == SQLITE_CANTOPEN || primary == SQLITE_IOERR) && number != 0 && !error.cause)
        error.cause = std::error_code{number, std::generic_category()};
    return error;
}

std::int64_t Database::changes() const noexcept {
    return sqlite3_changes64(handle_.get());
}

std::int64_t Database::last_row_id() const noexcept {
    return sqlite3_last_insert_rowid(handle_.get());
}

bool Database::in_transaction() const noexcept {
    return sqlite3_get_autocommit(handle_.get()) == 0;
}

void Database::start_watch() noexcept {
    watch_->deadline = std::chrono::steady_clock::now() + watch_->limit;
}

std::uint64_t Database::wal_bytes() const noexcept {
    return watch_->wal_pages * watch_->page_bytes;
}

StoreResult<bool> Database::checkpoint() {
    int in_log = -1;
    int moved = -1;
    int const code = sqlite3_wal_checkpoint_v2(handle_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE,
                                               &in_log, &moved);
    if ((code & 0xFF) == SQLITE_BUSY) return false;
    if (code != SQLITE_OK) return error();
    watch_->wal_pages = 0;
    return in_log == moved;
}

Transaction::~Transaction() {
    // A failed ROLLBACK leaves nothing to do: an error that matters has closed it already.
    if (database_->in_transaction()) static_cast<void>(database_->run("ROLLBACK"));
}

}  // namespace holdfast::store
