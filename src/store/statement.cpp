#include "store/statement.hpp"

#include <holdfast/base/assert.hpp>

#include <array>
#include <sqlite3.h>
#include <utility>

namespace holdfast::store {

StoreError newest_error(sqlite3* handle) {
    StoreError error{sqlite3_extended_errcode(handle), sqlite3_errmsg(handle)};
    int const primary = error.code & 0xFF;
    // SQLite keeps the number of an earlier error, and notes one for these two only.
    int const number = sqlite3_system_errno(handle);
    if ((primary == SQLITE_CANTOPEN || primary == SQLITE_IOERR) && number != 0 && !error.cause)
        error.cause = std::error_code{number, std::generic_category()};
    return error;
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
    // Its result is that of the last step, which was looked at.
    sqlite3_finalize(statement);
}

Statement::Statement(Database& database, std::string_view sql) : handle_(database.handle()) {
    sqlite3_stmt* statement = nullptr;
    int const code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    statement_.reset(statement);
    if (code != SQLITE_OK) unprepared_ = newest_error(handle_);
}

void Statement::keep(int code) {
    if (code == SQLITE_OK) return;
    if (!failed_put_) failed_put_ = newest_error(handle_);
}

Statement& Statement::put(std::int64_t value) {
    if (statement_) keep(sqlite3_bind_int64(statement_.get(), ++puts_, value));
    return *this;
}

Statement& Statement::put(std::string_view text) {
    if (!statement_) return *this;
    // A null pointer would bind NULL; nullptr as destructor: the caller keeps the text.
    char const* const data = text.data() == nullptr ? "" : text.data();
    keep(sqlite3_bind_text64(statement_.get(), ++puts_, data, text.size(), nullptr, SQLITE_UTF8));
    return *this;
}

Statement& Statement::put(std::span<std::byte const> blob) {
    if (!statement_) return *this;
    keep(sqlite3_bind_blob64(statement_.get(), ++puts_, blob.data(), blob.size(), nullptr));
    return *this;
}

Statement& Statement::put(std::span<std::uint8_t const> blob) {
    return put(std::as_bytes(blob));
}

Statement& Statement::put(std::optional<std::int64_t> value) {
    if (value) return put(*value);
    if (statement_) keep(sqlite3_bind_null(statement_.get(), ++puts_));
    return *this;
}

Statement& Statement::put(OrderId const& order) {
    if (!statement_) return *this;
    std::array<std::uint8_t, 16> bytes{};
    for (unsigned i = 0; i < 8; ++i) {
        bytes[i] = static_cast<std::uint8_t>(order.high >> (56 - 8 * i));
        bytes[8 + i] = static_cast<std::uint8_t>(order.low >> (56 - 8 * i));
    }
    keep(sqlite3_bind_blob64(statement_.get(), ++puts_, bytes.data(), bytes.size(),
                             SQLITE_TRANSIENT));
    return *this;
}

StoreError Statement::take_error() {
    if (unprepared_) return *unprepared_;
    StoreError error = failed_put_ ? *std::move(failed_put_) : newest_error(handle_);
    failed_put_.reset();
    return error;
}

StoreResult<void> Statement::run() {
    auto const row = next();
    if (!row) return row.error();
    HOLDFAST_ASSERT(!*row);
    return {};
}

StoreResult<bool> Statement::next() {
    if (unprepared_) return take_error();
    if (failed_put_) {
        StoreError error = take_error();
        reset();
        return error;
    }
    int const code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) {
        reset();
        return false;
    }
    StoreError error = take_error();
    reset();
    return error;
}

void Statement::reset() noexcept {
    puts_ = 0;
    if (!statement_) return;
    // Their results repeat that of the last step.
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
}

bool Statement::is_null(int column) const noexcept {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const noexcept {
    return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::text(int column) const noexcept {
    auto const* const data = sqlite3_column_text(statement_.get(), column);
    if (data == nullptr) return {};
    return {reinterpret_cast<char const*>(data),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::span<std::byte const> Statement::bytes(int column) const noexcept {
    void const* const data = sqlite3_column_blob(statement_.get(), column);
    if (data == nullptr) return {};
    return {static_cast<std::byte const*>(data),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

OrderId Statement::order(int column) const noexcept {
    OrderId order;
    auto const found = bytes(column);
    if (found.size() != 16) return order;
    for (unsigned i = 0; i < 8; ++i) {
        order.high = (order.high << 8) | std::to_integer<std::uint64_t>(found[i]);
        order.low = (order.low << 8) | std::to_integer<std::uint64_t>(found[8 + i]);
    }
    return order;
}

}  // namespace holdfast::store
