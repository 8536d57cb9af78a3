#include "services/plan_seatsio_index.hpp"

#include "services/plan_seatsio_keys.hpp"

#include <utility>

namespace holdfast::services {

void SeatsioIndex::read(PlanValue const& root, PlanDraft& draft) {
    read_categories(root, draft);
    read_zones(root, draft);
}

void SeatsioIndex::read_categories(PlanValue const& root, PlanDraft& draft) {
    auto const categories = fields_.object(root, "categories");
    if (!categories) {
        fields_.missing(root, "categories");
        return;
    }
    auto const list = fields_.array(*categories, "list");
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        auto const item = list->at(i);
        if (!fields_.is_object(item)) continue;
        fields_.check_keys(item, "category", seatsio::category_keys);
        auto key = fields_.label(item, "key");
        auto name = fields_.text(item, "label").value_or(key);
        auto const accessible = fields_.flag(item, "accessible");
        add_category(draft, {std::move(key), std::move(name), accessible}, item.pointer(), lint_);
    }
    for (std::uint32_t i = 0; i < draft.categories.size(); ++i) {
        by_key_.emplace(draft.categories[i].key, i);
        by_name_.emplace(draft.categories[i].name, i);
    }
}

void SeatsioIndex::read_zones(PlanValue const& root, PlanDraft& draft) {
    auto const zones = fields_.object(root, "zones");
    if (!zones) return;
    auto const list = fields_.array(*zones, "list");
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        auto const item = list->at(i);
        if (!fields_.is_object(item)) continue;
        fields_.check_keys(item, "zone", seatsio::zone_keys);
        Zone zone;
        zone.key = fields_.label(item, "key");
        zone.name = fields_.text(item, "label").value_or(zone.key);
        zone.focal = fields_.point(item, "focalPoint");
        auto const index = static_cast<std::uint32_t>(draft.zones.size());
        if (!zones_.emplace(zone.key, index).second) {
            lint_.error("repeated-zone", item.pointer(), "the zone stands here twice");
            continue;
        }
        draft.zones.push_back(std::move(zone));
    }
}

void SeatsioIndex::category_of(PlanValue const& object, std::optional<std::uint32_t>& category,
                               bool& refused) const {
    auto const key = fields_.text(object, "categoryKey");
    auto const name = key ? std::nullopt : fields_.text(object, "categoryLabel");
    if (!key && !name) return;
    auto const& index = key ? by_key_ : by_name_;
    auto const known = index.find(key ? *key : *name);
    refused = known == index.end();
    category = refused ? std::nullopt : std::optional{known->second};
    if (refused) {
        lint_.error("unknown-category", object.pointer(),
                    "the chart has no category \"" + (key ? *key : *name) + "\"");
    }
}

std::optional<std::uint32_t> SeatsioIndex::zone_of(PlanValue const& section) const {
    auto const key = fields_.text(section, "zone");
    if (!key || key->empty()) return std::nullopt;
    if (auto const known = zones_.find(*key); known != zones_.end()) return known->second;
    lint_.error("unknown-zone", section.pointer(), "the chart has no zone \"" + *key + "\"");
    return std::nullopt;
}

}  // namespace holdfast::services
