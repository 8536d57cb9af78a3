// Migrations: the files of sql/, embedded at build time, each run once in one transaction.
#pragma once

#include "store/database.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace holdfast::store {

struct Migration {
    char const* name;
    char const* sql;
};

/// In the order of their numbers; the generated file of cmake/embed_sql.cmake.
[[nodiscard]] std::span<Migration const> migrations() noexcept;

/// Marks a SQLite file as ours: "HFST".
inline constexpr std::int64_t application_id = 0x48465354;

/// How many migrations the file has had; 0 for a file without tables. An error if it is not ours
/// or was made by a newer holdfast.
[[nodiscard]] StoreResult<std::uint32_t> schema_version(Database& database);

/// Brings the file up to date; the first migration also writes the meta row with `new_store_id`.
[[nodiscard]] StoreResult<void> migrate(Database& database,
                                        std::array<std::uint8_t, 16> const& new_store_id);

}  // namespace holdfast::store
