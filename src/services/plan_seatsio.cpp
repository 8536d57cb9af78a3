// seats.io chart drawings, versions 17 to 22.
#include "services/plan_draft.hpp"
#include "services/plan_fields.hpp"
#include "services/plan_seatsio_index.hpp"
#include "services/plan_seatsio_keys.hpp"

#include <map>
#include <set>

namespace holdfast::services {
namespace {

/// Section of the rows, tables and booths that stand in none.
constexpr std::string_view sectionless = "main";

class SeatsioReader {
public:
    explicit SeatsioReader(LintLog& lint) : lint_(lint), fields_(lint), index_(lint) {}

    PlanDraft read(PlanValue const& root) {
        fields_.check_keys(root, "chart", seatsio::root_keys);
        draft_.name = fields_.text(root, "name").value_or(std::string{});
        index_.read(root, draft_);
        auto const floors = fields_.array(root, "subChartFloors");
        auto const chart = fields_.object(root, "subChart");
        if (floors && floors->size() > 0) {
            read_floors(*floors);
        } else if (chart) {
            draft_.focal = fields_.point(*chart, "focalPoint");
            read_chart(*chart, {});
        } else {
            fields_.missing(root, "subChart");
        }
        return std::move(draft_);
    }

private:
    /// What rows, tables, areas and booths take over from where they stand.
    struct Surroundings {
        std::string prefix;  // of names: "section-"
        Point origin;
        std::optional<std::uint32_t> category;
        bool category_refused{};
        std::optional<std::uint32_t> zone;
        std::optional<Point> focal;
    };

    /// Floors are charts of their own. A label that two floors use gets the floor's name before it.
    void read_floors(PlanValue const& floors) {
        count_labels(floors);
        for (std::size_t i = 0; i < floors.size(); ++i) {
            auto const floor = floors.at(i);
            if (!fields_.is_object(floor)) continue;
            floor_ = fields_.text(floor, "floorName").value_or(std::to_string(i + 1));
            floor_shown_ = fields_.text(floor, "floorDisplayName").value_or(floor_);
            Surroundings around;
            around.focal = fields_.point(floor, "focalPoint");
            read_chart(floor, around);
        }
    }

    void count_labels(PlanValue const& floors) {
        std::map<std::string, std::size_t, std::less<>> floors_with;
        for (std::size_t i = 0; i < floors.size(); ++i) {
            auto const floor = floors.at(i);
            std::set<std::string, std::less<>> labels;
            for (auto const* const list : {"sections", "generalAdmissionAreas"}) {
                auto const items = floor.find(list);
                if (!items || !items->is(PlanKind::array)) continue;
                for (std::size_t k = 0; k < items->size(); ++k) {
                    auto const item = items->at(k);
                    auto const label = item.find("label");
                    if (label) labels.emplace(label->text());
                }
            }
            for (auto const* const list : {"rows", "tables", "booths"}) {
                auto const items = floor.find(list);
                if (items && items->size() > 0) labels.emplace(sectionless);
            }
            for (auto const& label : labels) ++floors_with[label];
        }
        for (auto const& [label, times] : floors_with) {
            if (times > 1) on_many_floors_.insert(label);
        }
    }

    /// "floor-" if `label` needs it to be told from the same one on another floor.
    std::string floor_prefix(std::string_view label, std::string const& pointer) {
        if (!on_many_floors_.contains(label)) return {};
        lint_.warning("floor-in-name", pointer,
                      "\"" + std::string{label} +
                          "\" is on several floors, so names there begin "
                          "with the floor's");
        return floor_ + "-";
    }

    /// What people read: the floor, if the chart has floors, and the label.
    [[nodiscard]] std::string shown(std::string const& label) const {
        return floor_shown_.empty() ? label : floor_shown_ + ", " + label;
    }

    void read_chart(PlanValue const& chart, Surroundings around) {
        fields_.check_keys(chart, "sub-chart", seatsio::chart_keys);
        read_outside(chart, around);
        auto const sections = fields_.array(chart, "sections");
        for (std::size_t i = 0; sections && i < sections->size(); ++i) {
            auto const section = sections->at(i);
            if (fields_.is_object(section)) read_section(section, around);
        }
    }

    void read_outside(PlanValue const& chart, Surroundings around) {
        DraftSection section;
        section.pointer = chart.pointer();
        for (auto const* const list : {"rows", "tables", "booths"}) {
            auto const items = chart.find(list);
            if (items && items->is(PlanKind::array) && items->size() > 0) section.id = sectionless;
        }
        if (!section.id.empty()) {
            around.prefix = floor_prefix(sectionless, section.pointer);
            section.id = around.prefix + section.id;
            section.name = shown(std::string(sectionless));
        }
        section.focal = around.focal;
        read_contents(chart, around, section);
        if (!section.id.empty()) draft_.sections.push_back(std::move(section));
        around.prefix.clear();
        read_areas(chart, around);
    }

    void read_section(PlanValue const& section, Surroundings around) {
        fields_.check_keys(section, "section", seatsio::section_keys);
        DraftSection made;
        made.pointer = section.pointer();
        auto const label = fields_.label(section, "label");
        made.name = shown(label);
        made.id = floor_prefix(label, made.pointer) + label;
        around.prefix = made.id + "-";
        around.origin = moved(around.origin, fields_.point(section, "topLeft").value_or(Point{}));
        index_.category_of(section, around.category, around.category_refused);
        around.zone = index_.zone_of(section);
        auto const chart = fields_.object(section, "subChart");
        if (chart) {
            fields_.check_keys(*chart, "sub-chart", seatsio::chart_keys);
            if (auto const focal = fields_.point(*chart, "focalPoint")) {
                around.focal = moved(around.origin, *focal);
            }
            if (auto const inner = chart->find("sections"); inner && inner->size() > 0) {
                lint_.error("nested-section", inner->pointer(), "sections have no sections inside");
            }
        } else {
            fields_.missing(section, "subChart");
        }
        made.category = around.category;
        made.category_refused = around.category_refused;
        made.zone = around.zone;
        made.focal = around.focal;
        if (chart) read_contents(*chart, around, made);
        bool const holds_areas = chart && chart->find("generalAdmissionAreas") &&
                                 chart->find("generalAdmissionAreas")->size() > 0;
        if (!holds_areas || !made.rows.empty()) draft_.sections.push_back(std::move(made));
        if (chart) read_areas(*chart, around);
    }

    /// Rows, tables and booths; areas are sections of their own and are read by read_areas().
    void read_contents(PlanValue const& chart, Surroundings const& around, DraftSection& section) {
        auto const rows = fields_.array(chart, "rows");
        for (std::size_t i = 0; rows && i < rows->size(); ++i) {
            auto const row = rows->at(i);
            if (!fields_.is_object(row)) continue;
            fields_.check_keys(row, "row", seatsio::row_keys);
            read_row(row, around, section);
        }
        auto const tables = fields_.array(chart, "tables");
        for (std::size_t i = 0; tables && i < tables->size(); ++i) {
            auto const table = tables->at(i);
            if (fields_.is_object(table)) read_table(table, around, section);
        }
        auto const booths = fields_.array(chart, "booths");
        for (std::size_t i = 0; booths && i < booths->size(); ++i) {
            auto const booth = booths->at(i);
            if (fields_.is_object(booth)) read_booth(booth, around, section);
        }
    }

    void read_table(PlanValue const& table, Surroundings around, DraftSection& section) {
        fields_.check_keys(table, "table", seatsio::table_keys);
        read_row(table, around, section);
        std::vector<DraftSeat>& seats = section.rows.back().seats;
        DraftSeat whole;
        index_.category_of(table, whole.category, whole.category_refused);
        for (DraftSeat& seat : seats) {
            if (seat.category || seat.category_refused) continue;
            seat.category = whole.category;
            seat.category_refused = whole.category_refused;
        }
        if (!fields_.flag(table, "bookAsAWhole")) return;
        lint_.warning("book-as-a-whole", table.pointer(),
                      "the table is sold as a whole, at the price of all its seats");
        for (std::size_t i = 1; i < seats.size(); ++i)
            seats[i].flags |= static_cast<std::uint8_t>(SeatFlag::joined);
    }

    void read_row(PlanValue const& row, Surroundings const& around, DraftSection& section) {
        DraftRow made;
        made.pointer = row.pointer();
        made.label = fields_.label(row, "label");
        auto const prefix = around.prefix + made.label + "-";
        auto const seats = fields_.array(row, "seats");
        if (!seats && !row.find("seats")) fields_.missing(row, "seats");
        for (std::size_t i = 0; seats && i < seats->size(); ++i) {
            auto const seat = seats->at(i);
            if (!fields_.is_object(seat)) continue;
            fields_.check_keys(seat, "seat", seatsio::seat_keys);
            DraftSeat placed;
            placed.label = fields_.label(seat, "label");
            placed.name = prefix + placed.label;
            placed.at = moved(around.origin, fields_.coordinates(seat, true));
            index_.category_of(seat, placed.category, placed.category_refused);
            read_flags(seat, placed);
            made.seats.push_back(std::move(placed));
        }
        section.rows.push_back(std::move(made));
    }

    /// A booth is one place to sell: a row of one seat that has the booth's label.
    void read_booth(PlanValue const& booth, Surroundings const& around, DraftSection& section) {
        fields_.check_keys(booth, "booth", seatsio::area_keys);
        lint_.warning("booth", booth.pointer(), "the booth is imported as a row of one seat");
        DraftRow made;
        made.pointer = booth.pointer();
        made.label = fields_.label(booth, "label");
        DraftSeat placed;
        placed.label = made.label;
        placed.name = around.prefix + made.label;
        auto place = fields_.point(booth, "center");
        if (!place) place = fields_.point(booth, "topLeft");
        placed.at = moved(around.origin, place ? *place : fields_.coordinates(booth, false));
        index_.category_of(booth, placed.category, placed.category_refused);
        read_flags(booth, placed);
        made.seats.push_back(std::move(placed));
        section.rows.push_back(std::move(made));
    }

    void read_areas(PlanValue const& chart, Surroundings const& around) {
        auto const areas = fields_.array(chart, "generalAdmissionAreas");
        for (std::size_t i = 0; areas && i < areas->size(); ++i) {
            auto const area = areas->at(i);
            if (fields_.is_object(area)) read_area(area, around);
        }
    }

    void read_area(PlanValue const& area, Surroundings const& around) {
        fields_.check_keys(area, "general-admission area", seatsio::area_keys);
        DraftSection made;
        made.general = true;
        made.pointer = area.pointer();
        auto const label = fields_.label(area, "label");
        auto const prefix =
            around.prefix.empty() ? floor_prefix(label, made.pointer) : around.prefix;
        made.name = shown(label);
        made.id = prefix + label;
        made.category = around.category;
        made.category_refused = around.category_refused;
        index_.category_of(area, made.category, made.category_refused);
        made.zone = around.zone;
        made.focal = around.focal;
        if (!area.find("capacity")) fields_.missing(area, "capacity");
        made.capacity = fields_.count(area, "capacity").value_or(0);
        if (fields_.flag(area, "bookAsAWhole")) {
            lint_.warning("book-as-a-whole", made.pointer,
                          "the area is to be sold as a whole; its places are sold one by one");
        }
        if (fields_.flag(area, "variableOccupancy")) {
            lint_.warning("variable-occupancy", made.pointer,
                          "the area has a variable occupancy; all its places are sold");
        }
        draft_.sections.push_back(std::move(made));
    }

    void read_flags(PlanValue const& object, DraftSeat& seat) {
        unsigned flags = seat.flags;
        if (fields_.flag(object, "accessible")) flags |= unsigned(SeatFlag::accessible);
        if (fields_.flag(object, "companionSeat")) flags |= unsigned(SeatFlag::companion);
        if (fields_.flag(object, "restrictedView")) flags |= unsigned(SeatFlag::restricted_view);
        seat.flags = static_cast<std::uint8_t>(flags);
    }

    LintLog& lint_;
    PlanFields fields_;
    SeatsioIndex index_;
    PlanDraft draft_;
    std::string floor_;        // name of the floor being read
    std::string floor_shown_;  // what people call it; empty: the chart has no floors
    std::set<std::string, std::less<>> on_many_floors_;
};

}  // namespace

PlanDraft read_seatsio(PlanValue const& root, LintLog& lint) {
    return SeatsioReader{lint}.read(root);
}

}  // namespace holdfast::services
