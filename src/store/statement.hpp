// Statement: one prepared statement.
//
// Values are put in order, then run() or next() is called. A failure to prepare or put is kept and
// told by that call, so that callers look once. Text and blobs that were put must live until then.
#pragma once

#include "store/database.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast::store {

/// What the connection says of its last call, with the system's cause.
[[nodiscard]] StoreError newest_error(sqlite3* handle);

class Statement {
public:
    Statement(Database& database, std::string_view sql);

    Statement& put(std::int64_t value);
    Statement& put(std::string_view text);
    Statement& put(std::span<std::uint8_t const> blob);
    Statement& put(std::optional<std::int64_t> value);
    Statement& put(std::span<std::byte const> blob);
    /// As a blob of 16 bytes, most significant first; it is copied.
    Statement& put(OrderId const& order);

    /// For statements without rows: runs to the end and makes ready for the next values.
    [[nodiscard]] StoreResult<void> run();
    /// True: there is a row. After false or an error it is ready for the next values.
    [[nodiscard]] StoreResult<bool> next();
    /// Gives up the rows that are left.
    void reset() noexcept;

    // Columns of the row. A value of another type reads as SQLite converts it.
    [[nodiscard]] bool is_null(int column) const noexcept;
    [[nodiscard]] std::int64_t integer(int column) const noexcept;
    [[nodiscard]] std::string_view text(int column) const noexcept;
    [[nodiscard]] std::span<std::byte const> bytes(int column) const noexcept;
    /// What put(OrderId) wrote; zero if the column is something else.
    [[nodiscard]] OrderId order(int column) const noexcept;

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept;
    };
    void keep(int code);
    [[nodiscard]] StoreError take_error();

    sqlite3* handle_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    std::optional<StoreError> unprepared_;
    std::optional<StoreError> failed_put_;
    int puts_{};
};

}  // namespace holdfast::store
