#include "services/plan_draft.hpp"

#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace holdfast::services {
namespace {

constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_in_any_case(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(a, b, {}, lower, lower);
}

void drop_empty(PlanDraft& draft, LintLog& lint) {
    for (auto& section : draft.sections) {
        std::erase_if(section.rows, [&lint](DraftRow const& row) {
            if (!row.seats.empty()) return false;
            lint.warning("empty-row", row.pointer, "the row has no seats and was left out");
            return true;
        });
    }
    std::erase_if(draft.sections, [&lint](DraftSection const& section) {
        bool const empty = section.general ? section.capacity == 0 : section.rows.empty();
        if (empty) {
            lint.warning("empty-section", section.pointer,
                         "the section has no places and was left out");
        }
        return empty;
    });
}

void count(PlanDraft const& draft, LintReport& report) {
    std::uint64_t rows = 0;
    std::uint64_t seats = 0;
    std::uint64_t general = 0;
    for (auto const& section : draft.sections) {
        if (section.general) general += section.capacity;
        rows += section.rows.size();
        for (auto const& row : section.rows) seats += row.seats.size();
    }
    auto const bounded = [](std::uint64_t number) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, 0xFFFF'FFFFU));
    };
    report.sections = bounded(draft.sections.size());
    report.rows = bounded(rows);
    report.seats = bounded(seats);
    report.general_places = bounded(general);
    report.categories = bounded(draft.categories.size());
}

/// With `disambiguate` a section whose id was there before gets a mark behind it.
void settle_section_ids(PlanDraft& draft, bool disambiguate, LintLog& lint) {
    std::set<std::string, std::less<>> taken;
    for (auto const& section : draft.sections) taken.insert(section.id);
    std::map<std::string, std::size_t, std::less<>> next_mark;
    for (auto& section : draft.sections) {
        auto const [mark, is_first] = next_mark.try_emplace(section.id, 2);
        if (is_first) continue;
        auto const detail = "the id \"" + section.id + "\" is that of another section";
        if (!disambiguate) {
            lint.error("repeated-section-id", section.pointer, detail);
            continue;
        }
        lint.warning("repeated-section-id", section.pointer, detail);
        std::string id;
        do {
            id = mark->first + "~" + std::to_string(mark->second++);
        } while (!taken.insert(id).second);
        section.id = std::move(id);
    }
}

void rename_seats(PlanDraft& draft, std::set<std::string, std::less<>> const& repeated) {
    for (auto& section : draft.sections) {
        for (std::size_t row = 0; row < section.rows.size(); ++row) {
            auto const start =
                section.id + '/' + std::to_string(row) + '/' + section.rows[row].label + '/';
            for (auto& seat : section.rows[row].seats) {
                if (draft.rename_all || repeated.contains(seat.name)) {
                    seat.name = start + seat.label;
                }
            }
        }
    }
}

void report_repeated(PlanDraft const& draft, bool disambiguate, LintLog& lint) {
    for (auto const& [id, times] : draft.repeated_ids) {
        auto const detail = std::to_string(times) + " seats have the id \"" + id + "\"";
        if (disambiguate) {
            lint.warning("repeated-seat-id", id,
                         detail + "; they are named SECTION/ROW/LABEL/SEAT");
        } else {
            lint.error("repeated-seat-id", id, detail);
        }
    }
}

std::vector<std::string_view> seat_names(PlanDraft const& draft) {
    std::vector<std::string_view> names;
    for (auto const& section : draft.sections) {
        for (auto const& row : section.rows) {
            for (auto const& seat : row.seats) names.emplace_back(seat.name);
        }
    }
    return names;
}

void settle_seat_names(PlanDraft& draft, bool disambiguate, LintLog& lint) {
    if (draft.repeated_ids.empty()) draft.repeated_ids = find_repeated(seat_names(draft));
    report_repeated(draft, disambiguate, lint);
    if (draft.repeated_ids.empty() || !disambiguate) return;
    std::set<std::string, std::less<>> repeated;
    for (auto const& [id, times] : draft.repeated_ids) repeated.insert(id);
    rename_seats(draft, repeated);
    // Rows may hold a label twice, and a longer name may be another seat's own.
    draft.repeated_ids = find_repeated(seat_names(draft));
    report_repeated(draft, false, lint);
}

void settle_categories(PlanDraft& draft, LintLog& lint) {
    for (auto& section : draft.sections) {
        std::optional<std::uint32_t> first;
        for (auto& row : section.rows) {
            for (auto& seat : row.seats) {
                if (!seat.category_refused && !seat.category) seat.category = section.category;
                if (!seat.category && seat.category_refused) continue;
                if (!seat.category) {
                    lint.error("no-category", seat.name,
                               "neither the seat nor its section has a category");
                    continue;
                }
                if (draft.categories[*seat.category].accessible) {
                    seat.flags |= static_cast<std::uint8_t>(SeatFlag::accessible);
                }
                if (!first) first = seat.category;
            }
        }
        if (section.general && !section.category && !section.category_refused) {
            lint.error("no-category", section.pointer, "the area has no category");
        }
        if (!section.category) section.category = first;
    }
}

std::int64_t price_of(DraftCategory const& category, std::size_t index,
                      std::vector<std::optional<std::int64_t>> const& prices, LintLog& lint) {
    if (prices[index]) return *prices[index];
    lint.warning("no-price", category.key,
                 "no price was given for the category \"" + category.name + "\", so it is 0");
    return 0;
}

std::vector<std::optional<std::int64_t>> match_prices(PlanDraft const& draft,
                                                      ImportRequest const& request, LintLog& lint) {
    std::vector<std::optional<std::int64_t>> prices(draft.categories.size());
    std::vector<bool> by_key(draft.categories.size());
    for (auto const& [key, price] : request.prices) {
        if (price < 0 || price > limits::price_max) {
            lint.error("price-range", key, "the price is out of range");
            continue;
        }
        bool used = false;
        for (std::size_t i = 0; i < draft.categories.size(); ++i) {
            bool const is_key = draft.categories[i].key == key;
            if (!is_key && !same_in_any_case(draft.categories[i].name, key)) continue;
            used = true;
            // A price by key is exact and wins over one by name.
            if (!by_key[i]) prices[i] = price;
            by_key[i] = by_key[i] || is_key;
        }
        if (!used) {
            lint.error("unknown-price", key, "the plan has no category of this key or name");
        }
    }
    return prices;
}

std::string_view code_of(LayoutError::Kind kind) noexcept {
    switch (kind) {
        case LayoutError::Kind::duplicate_section:
            return "repeated-section-id";
        case LayoutError::Kind::duplicate_category:
            return "repeated-category";
        case LayoutError::Kind::duplicate_seat:
            return "repeated-seat-id";
        case LayoutError::Kind::name_too_long:
            return "name-too-long";
        case LayoutError::Kind::empty:
            return "no-places";
        case LayoutError::Kind::too_many_places:
            return "too-many-places";
        case LayoutError::Kind::too_many_sections:
            return "too-many-sections";
        case LayoutError::Kind::too_many_rows:
            return "too-many-rows";
        case LayoutError::Kind::too_many_categories:
            return "too-many-categories";
        case LayoutError::Kind::unknown_category:
            return "no-category";
        case LayoutError::Kind::price_out_of_range:
            break;
    }
    return "price-range";
}

void add_rows(LayoutBuilder& builder, DraftSection const& section) {
    for (auto const& row : section.rows) {
        builder.add_row(row.label);
        for (auto const& seat : row.seats) {
            Seat const placed{seat.at, CategoryIndex{*seat.category}, seat.flags};
            builder.add_seat({seat.name, seat.label, placed});
        }
    }
}

std::optional<Layout> build(PlanDraft const& draft, LayoutBuilder builder, LintLog& lint) {
    for (auto const& zone : draft.zones) builder.add_zone(zone);
    if (draft.focal) builder.set_focal(*draft.focal);
    for (auto const& from : draft.sections) {
        Section section;
        section.id = from.id;
        section.name = from.name;
        section.category = CategoryIndex{from.category.value_or(0)};
        section.zone = from.zone;
        section.focal = from.focal;
        section.capacity = from.capacity;
        if (from.general) {
            builder.add_general(std::move(section));
        } else {
            builder.add_section(std::move(section));
            add_rows(builder, from);
        }
    }
    auto layout = std::move(builder).build();
    if (layout) return std::move(*layout);
    auto const& error = layout.error();
    for (auto const& name : error.names) {
        lint.error(code_of(error.kind), name, "the plan cannot be built as it is");
    }
    return std::nullopt;
}

}  // namespace

std::vector<std::pair<std::string, std::size_t>> find_repeated(std::vector<std::string_view> ids) {
    std::ranges::sort(ids);
    std::vector<std::pair<std::string, std::size_t>> repeated;
    for (auto first = ids.begin(); first != ids.end();) {
        auto const end = std::find_if(first, ids.end(), [id = *first](auto x) { return x != id; });
        if (end - first > 1) {
            repeated.emplace_back(*first, static_cast<std::size_t>(end - first));
        }
        first = end;
    }
    return repeated;
}

void add_category(PlanDraft& draft, DraftCategory category, std::string const& pointer,
                  LintLog& lint) {
    bool const known = std::ranges::any_of(
        draft.categories, [&category](auto const& other) { return other.key == category.key; });
    if (known) {
        lint.error("repeated-category", pointer,
                   "the category \"" + category.key + "\" stands here twice");
        return;
    }
    if (draft.categories.size() == limits::categories_per_event_max) {
        lint.error("too-many-categories", pointer, "an event has at most 1,024 categories");
        return;
    }
    draft.categories.push_back(std::move(category));
}

std::optional<Layout> finish(PlanDraft& draft, ImportRequest const& request, LintLog& lint) {
    drop_empty(draft, lint);
    count(draft, lint.report());
    settle_section_ids(draft, request.disambiguate, lint);
    settle_seat_names(draft, request.disambiguate, lint);
    settle_categories(draft, lint);
    auto const prices = match_prices(draft, request, lint);
    LayoutBuilder builder;
    for (std::size_t i = 0; i < draft.categories.size(); ++i) {
        auto const& category = draft.categories[i];
        auto const price = price_of(category, i, prices, lint);
        builder.add_category({category.key, category.name, price});
    }
    if (!lint.clean()) return std::nullopt;
    return build(draft, std::move(builder), lint);
}

}  // namespace holdfast::services
