// Report: what a command on a data folder found, before it is printed.
//
// Purpose: one shape for verify, audit, rebuild and salvage: lines, a verdict as the last of them,
//   and the exit code. Thread safety: values.
#pragma once

#include "app/restored_state.hpp"

#include <holdfast/engine/audit.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::app {

struct Report {
    int exit_code{};
    std::string output;
    std::string errors;
};

/// `NAME: FAILED, exit N`, and why on the standard error.
[[nodiscard]] Report failed_report(std::string_view name, journal::Failure const& failure);
/// A backup says what it consists of; a data folder does not. One line, or none; 77 if it is not
/// whole, or ends before where it promises to.
[[nodiscard]] ResultOf<std::string, journal::Failure> check_backup(
    std::filesystem::path const& data, Lsn last);
/// Prints it; its exit code.
[[nodiscard]] int print(Report const& report);

/// Amounts in minor units by currency, as `18000 EUR, 500 JPY (minor units)`; `0` if there is none.
using Money = std::map<std::string, std::int64_t>;
[[nodiscard]] std::string text_of(Money const& money);
[[nodiscard]] std::string text_of(engine::PlaceCounts const& counts);
/// `1 order`, `2 orders`
[[nodiscard]] std::string count_of(std::uint64_t count, std::string_view thing);

}  // namespace holdfast::app
