#include "services/lint.hpp"
#include "services/plan_draft.hpp"
#include "services/plan_json.hpp"

#include <holdfast/services/plan_import.hpp>

#include <utility>

namespace holdfast::services {

std::optional<PlanFormat> parse_plan_format(std::string_view name) noexcept {
    if (name == "pretix") return PlanFormat::pretix;
    if (name == "seatsio") return PlanFormat::seatsio;
    return std::nullopt;
}

ImportedPlan import_plan(ImportRequest const& request) {
    LintLog lint;
    ImportedPlan imported;
    auto const document = PlanDocument::parse(request.plan, lint);
    if (document) {
        auto const root = document->root();
        if (root.is(PlanKind::object)) {
            auto draft = request.format == PlanFormat::pretix ? read_pretix(root, lint)
                                                              : read_seatsio(root, lint);
            imported.name = draft.name;
            imported.layout = finish(draft, request, lint);
        } else {
            lint.error("type", "", "a plan must be an object");
        }
    }
    imported.report = std::move(lint.report());
    return imported;
}

}  // namespace holdfast::services
