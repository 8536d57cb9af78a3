// Database: one SQLite connection with the rules of RELIABILITY 3.6.
//
// Thread safety: one thread at a time. Every error carries SQLite's extended code and text.
#pragma once

#include <holdfast/store/store.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

struct sqlite3;

namespace holdfast::store {

class Database {
public:
    /// Opens or creates the file for the one writer: WAL, synchronous NORMAL.
    [[nodiscard]] static StoreResult<Database> open_writer(std::filesystem::path const& file);
    /// Opens an existing file; nothing can be written through it. Each read may take `limit`.
    [[nodiscard]] static StoreResult<Database> open_reader(std::filesystem::path const& file,
                                                           std::chrono::milliseconds limit);

    /// Runs statements whose rows nobody wants.
    [[nodiscard]] StoreResult<void> run(char const* sql);
    /// The single number that `sql` gives.
    [[nodiscard]] StoreResult<std::int64_t> number(std::string_view sql);
    /// The newest error of this connection.
    [[nodiscard]] StoreError error() const;
    [[nodiscard]] std::int64_t changes() const noexcept;
    [[nodiscard]] std::int64_t last_row_id() const noexcept;
    [[nodiscard]] bool in_transaction() const noexcept;
    /// Starts the time that `limit` bounds. For readers.
    void start_watch() noexcept;
    /// Size of the WAL after the newest commit. For the writer.
    [[nodiscard]] std::uint64_t wal_bytes() const noexcept;
    /// wal_checkpoint(TRUNCATE): false if a reader was in the way.
    [[nodiscard]] StoreResult<bool> checkpoint();
    [[nodiscard]] sqlite3* handle() const noexcept { return handle_.get(); }

private:
    struct Close {
        void operator()(sqlite3* handle) const noexcept;
    };
    // What SQLite's callbacks point to, so it must not move with the Database.
    struct Watch {
        std::chrono::milliseconds limit{};
        std::chrono::steady_clock::time_point deadline;
        std::uint64_t wal_pages{};
        std::uint64_t page_bytes{};
    };
    Database() = default;
    [[nodiscard]] static StoreResult<Database> open(std::filesystem::path const& file, int flags);
    [[nodiscard]] std::optional<StoreError> configure();

    std::unique_ptr<Watch> watch_;  // destroyed after the handle that points to it
    std::unique_ptr<sqlite3, Close> handle_;
};

/// Rolls back unless it was committed.
class Transaction {
public:
    explicit Transaction(Database& database) noexcept : database_(&database) {}
    ~Transaction();
    Transaction(Transaction const&) = delete;
    Transaction& operator=(Transaction const&) = delete;
    /// IMMEDIATE for writers: a deferred transaction that reads first fails with BUSY_SNAPSHOT,
    /// which no timeout heals.
    [[nodiscard]] StoreResult<void> begin_write() { return database_->run("BEGIN IMMEDIATE"); }
    [[nodiscard]] StoreResult<void> begin_read() { return database_->run("BEGIN DEFERRED"); }
    [[nodiscard]] StoreResult<void> commit() { return database_->run("COMMIT"); }

private:
    Database* database_;
};

}  // namespace holdfast::store
