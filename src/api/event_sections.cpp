#include "api/event_sections.hpp"

#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::api {
namespace {

// Where nothing is drawn: rows behind each other, centred, sections one behind the other.
constexpr double seat_step = 20;
constexpr double row_step = 40;

constexpr std::string_view standard_key = "standard";

class SectionsDecoder {
public:
    SectionsDecoder(DecodeState& state, EventBody& body) : state_(state), body_(body) {}

    void decode(DrawnSections const& drawn) {
        if (drawn.categories) decode_categories(*drawn.categories);
        named_only_ = !drawn.categories;
        if (!state_.array(drawn.sections, {1, limits::sections_per_event_max})) return;
        if (named_only_) collect_categories(drawn.sections);
        measure(drawn.sections);
        for (auto const& category : categories_) {
            if (state_.failed()) return;
            builder_.add_category(category);
        }
        for (JsonValue const section : drawn.sections) {
            if (state_.failed()) return;
            decode_section(section);
        }
        if (!state_.failed()) finish(drawn);
    }

private:
    std::string label(ObjectDecoder& object, std::string_view key) {
        auto const text = object.text(key, limits::name_bytes_max);
        if (!is_clean_text(text)) state_.fail(object.pointer_to(key), "control-character");
        return std::string{text};
    }
    std::optional<std::string> optional_label(ObjectDecoder& object, std::string_view key) {
        auto const text = object.optional_text(key, limits::name_bytes_max);
        if (!text) return std::nullopt;
        if (!is_clean_text(*text)) state_.fail(object.pointer_to(key), "control-character");
        return std::string{*text};
    }

    void warn_no_price(Category const& category) {
        constexpr std::size_t items_max = 1'000;
        if (++body_.report.warning_count > items_max) return;
        body_.report.warnings.push_back(
            {"no-price", category.key, "the category has no price, so it is 0"});
    }

    void decode_categories(JsonValue value) {
        if (!state_.array(value, {1, limits::categories_per_event_max})) return;
        for (JsonValue const item : value) {
            ObjectDecoder object(item, state_);
            Category category;
            category.key = label(object, "key");
            category.name = optional_label(object, "name").value_or(category.key);
            auto const price = object.optional_integer("price", {0, limits::price_max});
            category.price = price.value_or(0);
            object.finish();
            if (state_.failed()) return;
            if (!price) warn_no_price(category);
            if (index_of(category.key)) state_.fail(object.pointer_to("key"), "duplicate");
            categories_.push_back(std::move(category));
        }
    }

    /// Without `categories` each name that a section uses is one; none at all is "standard".
    void collect_categories(JsonValue sections) {
        for (JsonValue const section : sections) {
            auto const name =
                section.is(JsonKind::object) ? section.find("category") : std::nullopt;
            std::string key{standard_key};
            if (name) key = state_.text(*name, limits::name_bytes_max);
            if (state_.failed()) return;
            if (index_of(key)) continue;
            if (categories_.size() == limits::categories_per_event_max) {
                return state_.fail_range(sections, {1, limits::categories_per_event_max},
                                         "categories");
            }
            categories_.push_back({key, key, 0});
            warn_no_price(categories_.back());
        }
    }

    /// The most seats that any row has by number: rows are centred in this width.
    void measure(JsonValue sections) {
        for (JsonValue const section : sections) {
            auto const rows = section.is(JsonKind::object) ? section.find("rows") : std::nullopt;
            if (!rows || !rows->is(JsonKind::array)) continue;
            for (JsonValue const row : *rows) {
                auto const seats = row.is(JsonKind::object) ? row.find("seats") : std::nullopt;
                if (seats) widest_ = std::max(widest_, seats_in(*seats));
            }
        }
    }

    static std::int64_t seats_in(JsonValue seats) {
        auto const number =
            seats.is(JsonKind::integer) ? seats.integer() : static_cast<std::int64_t>(seats.size());
        return std::clamp<std::int64_t>(number, 0, limits::places_per_event_max);
    }

    std::optional<CategoryIndex> index_of(std::string_view key) const {
        auto const found = std::ranges::find(categories_, key, &Category::key);
        if (found == categories_.end()) return std::nullopt;
        return CategoryIndex{static_cast<std::uint32_t>(found - categories_.begin())};
    }

    CategoryIndex find_category(JsonValue value) {
        auto const known = index_of(state_.text(value, limits::name_bytes_max));
        if (!known) state_.fail(value, "unknown-category");
        return known.value_or(CategoryIndex{0});
    }

    CategoryIndex category_of_section(ObjectDecoder& object) {
        auto const named = object.take("category");
        if (state_.failed()) return CategoryIndex{0};
        if (named) return find_category(*named);
        if (named_only_) return *index_of(standard_key);  // collect_categories() has made it
        if (categories_.size() > 1) state_.fail(object.pointer_to("category"), "required");
        return CategoryIndex{0};
    }

    void decode_section(JsonValue value) {
        ObjectDecoder object(value, state_);
        Section section;
        section.id = label(object, "id");
        section.name = optional_label(object, "name").value_or(section.id);
        section.category = category_of_section(object);
        auto const rows = object.take("rows");
        auto const capacity =
            object.optional_integer("capacity", {1, limits::places_per_event_max});
        if (!rows && !capacity) state_.fail(object.pointer_to("rows"), "required");
        if (rows && capacity) state_.fail(object.pointer_to("capacity"), "conflict");
        object.finish();
        if (state_.failed()) return;
        if (capacity) {
            section.capacity = static_cast<std::uint32_t>(*capacity);
            count_places(*capacity, value);
            builder_.add_general(std::move(section));
        } else {
            decode_rows(*rows, std::move(section));
        }
    }

    void count_places(std::int64_t places, JsonValue where) {
        places_ += places;
        constexpr std::int64_t most = limits::places_per_event_max;
        if (places_ > most) state_.fail_range(where, {1, most}, "places");
    }

    void decode_rows(JsonValue rows, Section section) {
        if (!state_.array(rows, {1, limits::rows_per_event_max})) return;
        auto const id = section.id;
        auto const category = section.category;
        builder_.add_section(std::move(section));
        for (JsonValue const value : rows) {
            ObjectDecoder row(value, state_);
            auto const row_label = label(row, "label");
            auto const seats = row.take_required("seats");
            bool const whole = row.optional_boolean("whole").value_or(false);
            row.finish();
            if (state_.failed()) return;
            constexpr std::int64_t most = limits::rows_per_event_max;
            if (++rows_ > most) state_.fail_range(value, {1, most}, "rows");
            builder_.add_row(row_label);
            row_is_empty_ = true;
            place_ = {0, next_row_y_};
            next_row_y_ += row_step;
            add_seats(*seats, {id + "-" + row_label + "-", category, whole});
            if (state_.failed()) return;
        }
        next_row_y_ += row_step;
    }

    struct RowOfSeats {
        std::string prefix;
        CategoryIndex category;
        bool whole{};  // its seats can only be claimed all together
    };

    void add_seats(JsonValue seats, RowOfSeats const& row) {
        if (!seats.is(JsonKind::array)) {
            auto const number = state_.integer(seats, {1, limits::places_per_event_max});
            count_places(number, seats);
            place_.x = static_cast<double>(widest_ - number) * seat_step / 2;
            for (std::int64_t i = 1; i <= number && !state_.failed(); ++i) {
                add_seat(std::to_string(i), {place_, row.category, 0}, row);
                place_.x += seat_step;
            }
            return;
        }
        if (!state_.array(seats, {1, limits::places_per_event_max})) return;
        count_places(seats.size(), seats);
        place_.x = static_cast<double>(widest_ - seats_in(seats)) * seat_step / 2;
        for (JsonValue const value : seats) {
            decode_seat(value, row);
            if (state_.failed()) return;
            place_.x += seat_step;
        }
    }

    void decode_seat(JsonValue value, RowOfSeats const& row) {
        constexpr std::int64_t far = 1'000'000;
        ObjectDecoder object(value, state_);
        auto const seat_label = label(object, "label");
        Seat seat{place_, row.category, 0};
        auto const x = object.optional_integer("x", {-far, far});
        auto const y = object.optional_integer("y", {-far, far});
        if (x) seat.at.x = static_cast<double>(*x);
        if (y) seat.at.y = static_cast<double>(*y);
        if (auto const named = object.take("category")) seat.category = find_category(*named);
        struct Named {
            std::string_view key;
            SeatFlag flag;
        };
        for (auto const& [key, flag] : std::array{
                 Named{"accessible", SeatFlag::accessible}, Named{"companion", SeatFlag::companion},
                 Named{"restricted_view", SeatFlag::restricted_view},
                 Named{"aisle_before", SeatFlag::aisle_before},
                 Named{"not_for_sale", SeatFlag::not_for_sale},
                 Named{"joined", SeatFlag::joined}}) {
            if (!object.optional_boolean(key).value_or(false)) continue;
            seat.flags = static_cast<std::uint8_t>(seat.flags | static_cast<unsigned>(flag));
        }
        if (row_is_empty_ && has(seat.flags, SeatFlag::joined))
            state_.fail(object.pointer_to("joined"), "first-of-row");
        object.finish();
        if (!state_.failed()) add_seat(seat_label, seat, row);
    }

    void add_seat(std::string_view seat_label, Seat seat, RowOfSeats const& row) {
        if (row.whole && !row_is_empty_)
            seat.flags = static_cast<std::uint8_t>(seat.flags | unsigned(SeatFlag::joined));
        row_is_empty_ = false;
        name_ = row.prefix;
        name_ += seat_label;
        if (name_.size() > limits::name_bytes_max) {
            state_.fail("/sections", "name-too-long");
            return;
        }
        builder_.add_seat({name_, seat_label, seat});
    }

    void finish(DrawnSections const& drawn) {
        auto layout = std::move(builder_).build();
        if (layout) {
            body_.spec.layout = std::move(*layout);
            count();
            return;
        }
        auto const& error = layout.error();
        if (error.kind == LayoutError::Kind::duplicate_seat) {
            body_.repeated_seats = error.names;
            return;
        }
        if (error.kind == LayoutError::Kind::duplicate_section) {
            fail_at_second(drawn.sections, error.names.front());
        }
        // Every other bound has been checked at its place; one that was not is told all the same.
        state_.fail(drawn.sections, "range");
    }

    void fail_at_second(JsonValue sections, std::string_view id) {
        bool seen = false;
        for (JsonValue const section : sections) {
            auto const value = section.find("id");
            if (!value || value->text() != id) continue;
            if (std::exchange(seen, true)) state_.fail(*value, "duplicate");
        }
    }

    void count() {
        auto const& layout = body_.spec.layout;
        body_.report.sections = static_cast<std::uint32_t>(layout.sections().size());
        body_.report.rows = static_cast<std::uint32_t>(layout.rows().size());
        body_.report.seats = layout.labelled_count();
        body_.report.general_places = layout.place_count() - layout.labelled_count();
        body_.report.categories = static_cast<std::uint32_t>(layout.categories().size());
    }

    DecodeState& state_;
    EventBody& body_;
    LayoutBuilder builder_;
    std::vector<Category> categories_;
    bool named_only_{};  // there are no `categories`
    std::int64_t widest_{};
    std::int64_t places_{};
    std::int64_t rows_{};
    Point place_;  // of the next seat, where its row gives none
    double next_row_y_{};
    bool row_is_empty_{};
    std::string name_;
};

}  // namespace

void decode_sections(DrawnSections const& drawn, DecodeState& state, EventBody& body) {
    SectionsDecoder{state, body}.decode(drawn);
}

}  // namespace holdfast::api
