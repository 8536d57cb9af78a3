// Plan import: vendors' seating plans become Layouts.
//
// Purpose: reads the pretix seating-plan format and seats.io drawings, reports everything odd
//   (lint) and refuses what would sell a seat twice.
// Thread safety: pure functions.
// Cost: linear in the plan; runs on a worker.
// Sources of the formats: pretix `seating-plan.schema.json`; seats.io chart drawings, versions 17
//   to 22.
#pragma once

#include <holdfast/base/result.hpp>
#include <holdfast/domain/layout.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::services {

enum class PlanFormat : std::uint8_t { pretix, seatsio };
[[nodiscard]] std::optional<PlanFormat> parse_plan_format(std::string_view name) noexcept;

struct LintItem {
    std::string code;   // "repeated-seat-id", "no-category", "placeholder-label", "unknown-key", …
    std::string where;  // JSON pointer into the plan, or the seat's name
    std::string detail;
};

struct LintReport {
    std::vector<LintItem> errors;  // at most 1,000 of each list; the counts are exact
    std::vector<LintItem> warnings;
    std::uint64_t error_count{};
    std::uint64_t repeat_count{};  // of the errors: ids that stand twice, which can be named anew
    std::uint64_t warning_count{};
    std::uint32_t sections{}, rows{}, seats{}, general_places{}, categories{};
};

struct ImportRequest {
    PlanFormat format{};
    std::string_view plan;  // JSON text, as the vendor writes it
    bool disambiguate{};
    std::map<std::string, std::int64_t>
        prices;  // by category key or name; missing = 0 and a warning
};

struct ImportedPlan {
    std::string name;              // the plan's own
    std::optional<Layout> layout;  // absent if the report has errors
    LintReport report;
};

/// Never throws; a plan that is no JSON or no plan of that format gives a report with errors.
[[nodiscard]] ImportedPlan import_plan(ImportRequest const& request);

/// The demo plan that ships in the binary, in the seats.io format, and its prices.
[[nodiscard]] std::string_view demo_plan() noexcept;
[[nodiscard]] std::map<std::string, std::int64_t> demo_prices();  // in cents

}  // namespace holdfast::services
