// SeatsioIndex: the categories and zones of a seats.io chart, and who names them.
//
// Purpose: keys are numbers or texts, and older charts name categories by label; here they become
// places in the draft's lists. Thread safety: one thread. Cost: one hash look-up a name.
#pragma once

#include "services/plan_draft.hpp"
#include "services/plan_fields.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace holdfast::services {

class SeatsioIndex {
public:
    explicit SeatsioIndex(LintLog& lint) noexcept : lint_(lint), fields_(lint) {}

    /// Fills the draft's categories and zones from the chart.
    void read(PlanValue const& root, PlanDraft& draft);
    /// The category an object names, by key or, without one, by label. Without either `category`
    /// stays what it is; one that does not exist is logged and `refused`.
    void category_of(PlanValue const& object, std::optional<std::uint32_t>& category,
                     bool& refused) const;
    /// The zone a section names; one that does not exist is logged.
    [[nodiscard]] std::optional<std::uint32_t> zone_of(PlanValue const& section) const;

private:
    void read_categories(PlanValue const& root, PlanDraft& draft);
    void read_zones(PlanValue const& root, PlanDraft& draft);

    LintLog& lint_;
    PlanFields fields_;
    std::unordered_map<std::string, std::uint32_t> by_key_;
    std::unordered_map<std::string, std::uint32_t> by_name_;
    std::unordered_map<std::string, std::uint32_t> zones_;
};

}  // namespace holdfast::services
