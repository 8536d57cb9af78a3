// The pretix seating-plan format, after its seating-plan.schema.json (old files included).
#include "services/plan_draft.hpp"
#include "services/plan_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <unordered_map>

namespace holdfast::services {
namespace {

using Keys = std::string_view;

constexpr std::array<Keys, 4> root_keys{"categories", "name", "size", "zones"};
constexpr std::array<Keys, 2> category_keys{"color", "name"};
constexpr std::array<Keys, 7> zone_keys{"areas", "displayed", "name",   "position",
                                        "rows",  "uuid",      "zone_id"};
constexpr std::array<Keys, 9> row_keys{
    "number_of_seats", "position", "row_label",     "row_number", "row_number_position",
    "seat_label",      "seats",    "seats_spacing", "uuid"};
constexpr std::array<Keys, 7> seat_keys{"category",    "position",        "radius", "seat_guid",
                                        "seat_number", "start_direction", "uuid"};
constexpr std::array<Keys, 13> area_keys{
    "border_color", "circle",   "color", "ellipse", "height", "polygon", "position",
    "rectangle",    "rotation", "shape", "text",    "uuid",   "width"};

/// A gap this many times the row's median is an aisle.
constexpr double aisle_factor = 1.5;

constexpr std::array<std::string_view, 8> stage_words{"stage", "court", "screen", "podium",
                                                      "pitch", "bühne", "scène",  "escenario"};

class PretixReader {
public:
    explicit PretixReader(LintLog& lint) : lint_(lint), fields_(lint) {}

    PlanDraft read(PlanValue const& root) {
        fields_.check_keys(root, "plan", root_keys);
        draft_.name = fields_.text(root, "name").value_or(std::string{});
        read_categories(root);
        auto const zones = fields_.array(root, "zones");
        if (!zones) {
            fields_.missing(root, "zones");
            return std::move(draft_);
        }
        for (std::size_t i = 0; i < zones->size(); ++i) {
            auto const zone = zones->at(i);
            if (fields_.is_object(zone)) read_zone(zone);
        }
        if (!draft_.focal) take_focal_from_size(root);
        settle_names();
        return std::move(draft_);
    }

private:
    struct Identity {
        std::string guid;
        std::string uuid;
    };

    void read_categories(PlanValue const& root) {
        auto const list = fields_.array(root, "categories");
        if (!list) {
            fields_.missing(root, "categories");
            return;
        }
        for (std::size_t i = 0; i < list->size(); ++i) {
            auto const item = list->at(i);
            if (!fields_.is_object(item)) continue;
            fields_.check_keys(item, "category", category_keys);
            auto const name = fields_.label(item, "name");
            add_category(draft_, {name, name, false}, item.pointer(), lint_);
        }
        for (std::uint32_t i = 0; i < draft_.categories.size(); ++i) {
            category_index_.emplace(draft_.categories[i].key, i);
        }
    }

    void read_zone(PlanValue const& zone) {
        fields_.check_keys(zone, "zone", zone_keys);
        DraftSection section;
        section.pointer = zone.pointer();
        section.name = fields_.text(zone, "name").value_or(std::string{});
        section.id = zone.find("zone_id") ? fields_.label(zone, "zone_id") : section.name;
        if (section.id.empty()) section.id = fields_.label(zone, "name");
        auto const place = fields_.point(zone, "position").value_or(Point{});
        if (auto const rows = fields_.array(zone, "rows")) {
            for (std::size_t i = 0; i < rows->size(); ++i) {
                auto const row = rows->at(i);
                if (fields_.is_object(row)) read_row(row, place, section);
            }
        } else {
            fields_.missing(zone, "rows");
        }
        draft_.sections.push_back(std::move(section));
        if (auto const areas = fields_.array(zone, "areas")) {
            for (std::size_t i = 0; i < areas->size(); ++i) {
                auto const area = areas->at(i);
                if (fields_.is_object(area)) read_area(area, place);
            }
        }
    }

    void read_row(PlanValue const& row, Point zone, DraftSection& section) {
        fields_.check_keys(row, "row", row_keys);
        DraftRow made;
        made.pointer = row.pointer();
        // A row without its number can be told by its place; its seats have ids of their own.
        made.label = fields_.text(row, "row_number").value_or(std::string{});
        auto const place = moved(zone, fields_.point(row, "position").value_or(Point{}));
        auto const seats = fields_.array(row, "seats");
        if (!seats) fields_.missing(row, "seats");
        std::string direction;
        for (std::size_t i = 0; seats && i < seats->size(); ++i) {
            auto const seat = seats->at(i);
            if (fields_.is_object(seat)) read_seat(seat, place, direction, made);
        }
        mark_aisles(made);
        section.rows.push_back(std::move(made));
    }

    void read_seat(PlanValue const& seat, Point row, std::string& direction, DraftRow& made) {
        fields_.check_keys(seat, "seat", seat_keys);
        DraftSeat placed;
        placed.label = fields_.label(seat, "seat_number");
        auto const position = fields_.point(seat, "position");
        if (!position && !seat.find("position")) fields_.missing(seat, "position");
        placed.at = moved(row, position.value_or(Point{}));
        read_category(seat, placed);
        // The row is filled from both sides of the seat where the stated direction changes.
        auto const stated = fields_.text(seat, "start_direction").value_or(std::string{});
        if (!stated.empty()) {
            if (!direction.empty() && stated != direction) set(placed, SeatFlag::aisle_before);
            direction = stated;
        }
        read_extensions(seat, placed);
        identities_.push_back(
            {fields_.label(seat, "seat_guid"), fields_.text(seat, "uuid").value_or(std::string{})});
        made.seats.push_back(std::move(placed));
    }

    void read_category(PlanValue const& seat, DraftSeat& placed) {
        auto const name = fields_.text(seat, "category");
        if (!name) return;
        if (auto const known = category_index_.find(*name); known != category_index_.end()) {
            placed.category = known->second;
            return;
        }
        placed.category_refused = true;
        lint_.error("unknown-category", seat.pointer(),
                    "the plan has no category \"" + *name + "\"");
    }

    /// Keys that are not in the schema and were met in the wild. They are warned of like all
    /// unknown keys, but a seat that cannot be sold must not be sold.
    void read_extensions(PlanValue const& seat, DraftSeat& placed) {
        if (auto const chair = seat.find("wheelchair"); chair && chair->boolean()) {
            set(placed, SeatFlag::accessible);
        }
        auto const status = seat.find("status");
        if (!status || status->text().empty() || status->text() == "available") return;
        set(placed, SeatFlag::not_for_sale);
        lint_.warning("not-for-sale", seat.pointer(),
                      "the seat has the status \"" + std::string{status->text()} +
                          "\" and is imported as not for sale");
    }

    static void set(DraftSeat& seat, SeatFlag flag) {
        seat.flags = static_cast<std::uint8_t>(seat.flags | static_cast<unsigned>(flag));
    }

    static void mark_aisles(DraftRow& row) {
        if (row.seats.size() < 2) return;
        std::vector<double> gaps;
        for (std::size_t i = 1; i < row.seats.size(); ++i) {
            auto const& a = row.seats[i - 1].at;
            auto const& b = row.seats[i].at;
            gaps.push_back(std::hypot(b.x - a.x, b.y - a.y));
        }
        auto sorted = gaps;
        auto const upper = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
        std::ranges::nth_element(sorted, upper);
        auto median = *upper;
        if (sorted.size() % 2 == 0)
            median = (median + *std::max_element(sorted.begin(), upper)) / 2;
        for (std::size_t i = 0; i < gaps.size(); ++i) {
            if (gaps[i] > aisle_factor * median) set(row.seats[i + 1], SeatFlag::aisle_before);
        }
    }

    void read_area(PlanValue const& area, Point zone) {
        fields_.check_keys(area, "area", area_keys);
        if (draft_.focal || !names_a_stage(area)) return;
        auto const position = moved(zone, fields_.point(area, "position").value_or(Point{}));
        auto const middle = middle_of(area);
        auto const turn =
            fields_.number(area, "rotation").value_or(0) * std::numbers::pi / 180;  // clockwise
        draft_.focal = Point{position.x + middle.x * std::cos(turn) - middle.y * std::sin(turn),
                             position.y + middle.x * std::sin(turn) + middle.y * std::cos(turn)};
    }

    bool names_a_stage(PlanValue const& area) const {
        auto const value = area.find("text");
        if (!value) return false;
        std::string text{value->text()};  // old files
        if (value->is(PlanKind::object))
            text = fields_.text(*value, "text").value_or(std::string{});
        std::ranges::transform(text, text.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        return std::ranges::any_of(stage_words, [&text](std::string_view word) {
            return text.find(word) != std::string::npos;
        });
    }

    /// Middle of an area, seen from its position: that is a corner of a rectangle, the middle of a
    /// circle or ellipse, and the origin of a polygon's points.
    Point middle_of(PlanValue const& area) const {
        auto const shape = fields_.text(area, "shape").value_or(std::string{});
        if (shape == "rectangle") {
            auto const rectangle = fields_.object(area, "rectangle");
            auto const& from = rectangle ? *rectangle : area;  // old files: flat
            return {fields_.number(from, "width").value_or(0) / 2,
                    fields_.number(from, "height").value_or(0) / 2};
        }
        if (shape == "polygon") return middle_of_polygon(area);
        auto const text = area.find("text");
        if (shape == "text" && text && text->is(PlanKind::object)) {
            return fields_.point(*text, "position").value_or(Point{});
        }
        return {};
    }

    Point middle_of_polygon(PlanValue const& area) const {
        auto const polygon = fields_.object(area, "polygon");
        if (!polygon) return {};
        auto const points = fields_.array(*polygon, "points");
        if (!points || points->size() == 0) return {};
        Point low{coordinate_max, coordinate_max};
        Point high{-coordinate_max, -coordinate_max};
        for (std::size_t i = 0; i < points->size(); ++i) {
            auto const point = points->at(i);
            auto const at = fields_.coordinates(point, true);
            low = {std::min(low.x, at.x), std::min(low.y, at.y)};
            high = {std::max(high.x, at.x), std::max(high.y, at.y)};
        }
        return {(low.x + high.x) / 2, (low.y + high.y) / 2};
    }

    void take_focal_from_size(PlanValue const& root) {
        auto const size = fields_.object(root, "size");
        if (!size) return;
        draft_.focal = Point{fields_.number(*size, "width").value_or(0) / 2, 0};
    }

    /// A seat is its uuid if that is its alone, else its guid; repeated guids are reported anyway,
    /// because tickets, check-in lists and exports of the vendor go by them.
    void settle_names() {
        std::vector<std::string_view> guids;
        std::unordered_map<std::string_view, std::size_t> uses;
        for (auto const& identity : identities_) {
            guids.emplace_back(identity.guid);
            ++uses[identity.uuid];
        }
        auto next = identities_.begin();
        for (auto& section : draft_.sections) {
            for (auto& row : section.rows) {
                for (auto& seat : row.seats) {
                    bool const own = !next->uuid.empty() && uses[next->uuid] == 1;
                    seat.name = own ? next->uuid : next->guid;
                    ++next;
                }
            }
        }
        draft_.repeated_ids = find_repeated(std::move(guids));
        draft_.rename_all = !draft_.repeated_ids.empty();
    }

    LintLog& lint_;
    PlanFields fields_;
    PlanDraft draft_;
    std::unordered_map<std::string, std::uint32_t> category_index_;
    std::vector<Identity> identities_;  // of all seats, in order
};

}  // namespace

PlanDraft read_pretix(PlanValue const& root, LintLog& lint) {
    return PretixReader{lint}.read(root);
}

}  // namespace holdfast::services
