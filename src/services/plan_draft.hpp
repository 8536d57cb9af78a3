// PlanDraft: what an importer has read, before it is checked and becomes a Layout.
//
// Purpose: the part that all formats share: prices, repeated ids, empty things, counts, the build.
// Thread safety: one thread. Cost: about 120 bytes a seat while the import runs.
#pragma once

#include "services/lint.hpp"

#include <holdfast/domain/layout.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::services {

struct DraftSeat {
    std::string name;   // the plan's own id
    std::string label;  // as printed on the chair
    Point at;
    std::optional<std::uint32_t> category;  // index into PlanDraft::categories
    bool category_refused{};                // it names one that does not exist; logged already
    std::uint8_t flags{};                   // SeatFlag bits
};

struct DraftRow {
    std::string label;
    std::vector<DraftSeat> seats;
    std::string pointer;  // where it stands in the plan
};

struct DraftSection {
    std::string id;
    std::string name;
    std::optional<std::uint32_t> category;
    bool category_refused{};
    std::optional<std::uint32_t> zone;
    std::optional<Point> focal;
    bool general{};
    std::uint32_t capacity{};  // of a general one
    std::vector<DraftRow> rows;
    std::string pointer;
};

struct DraftCategory {
    std::string key;
    std::string name;
    bool accessible{};
};

struct PlanDraft {
    std::string name;
    std::vector<DraftCategory> categories;
    std::vector<Zone> zones;
    std::vector<DraftSection> sections;
    std::optional<Point> focal;
    /// Ids of the plan that are not unique (a pretix plan named by uuid may repeat its guids):
    /// pairs of id and number of seats that share it. Filled by the importer or by find_repeated().
    std::vector<std::pair<std::string, std::size_t>> repeated_ids;
    /// All seats of a plan with repeated ids get new names, not only those that share one.
    bool rename_all{};
};

/// Ids that occur more than once in `ids`, sorted, with how often.
[[nodiscard]] std::vector<std::pair<std::string, std::size_t>> find_repeated(
    std::vector<std::string_view> ids);

/// Adds `{key, name}`; a repeated key is an error.
void add_category(PlanDraft& draft, DraftCategory category, std::string const& pointer,
                  LintLog& lint);

/// The finished plan: a layout if the log has no errors.
[[nodiscard]] std::optional<Layout> finish(PlanDraft& draft, ImportRequest const& request,
                                           LintLog& lint);

// The importers: each fills a draft and logs what is odd.
class PlanValue;
[[nodiscard]] PlanDraft read_pretix(PlanValue const& root, LintLog& lint);
[[nodiscard]] PlanDraft read_seatsio(PlanValue const& root, LintLog& lint);

}  // namespace holdfast::services
