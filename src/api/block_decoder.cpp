#include "api/block_decoder.hpp"

#include "api/json_writer.hpp"
#include "api/times.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::api {
namespace {

constexpr std::int64_t places_max = limits::seats_per_claim_max;
constexpr IntegerRange places_range{1, places_max};
constexpr std::array<std::string_view, 2> block_kinds{"blocked", "not-for-sale"};

}  // namespace

BlockDecoder::Verdict BlockDecoder::decode(JsonValue body, EventSpec const& spec,
                                           TimePoint earliest_end) {
    spec_ = &spec;
    ObjectDecoder fields(body, state_);
    auto const seats = fields.take("seats");
    auto const sections = fields.take("sections");
    auto const categories = fields.take("categories");
    auto const section = fields.take("section");
    decode_kind(fields);
    decode_until(fields, earliest_end);
    skip_taken_ = fields.optional_boolean("skip_taken").value_or(false);
    if (seats) decode_seats(*seats);
    if (sections) decode_sections(*sections);
    if (categories) decode_categories(*categories);
    if (section) decode_quantity(fields, *section);
    fields.finish();
    if (!seats && !sections && !categories && !section)
        state_.fail(body, "one-of-seats-sections-categories-section");
    check_places(body);
    if (state_.failed()) return Verdict::input_error;
    if (offenders_.empty()) return Verdict::good;
    return duplicates_ ? Verdict::duplicate_seats : Verdict::unknown_seats;
}

engine::BlockCommand BlockDecoder::command() const noexcept {
    engine::BlockCommand command;
    command.places = places_;
    command.section = section_;
    command.quantity = quantity_;
    command.kind = kind_;
    command.until = until_;
    command.skip_taken = skip_taken_;
    return command;
}

void BlockDecoder::decode_kind(ObjectDecoder& body) {
    auto const kind = body.optional_text("kind", limits::name_bytes_max);
    if (!kind) return;
    if (*kind == "not-for-sale") {
        kind_ = engine::BlockKind::not_for_sale;
    } else if (*kind != "blocked") {
        state_.fail(value_error(body.pointer_to("kind"), block_kinds));
    }
}

void BlockDecoder::decode_until(ObjectDecoder& body, TimePoint earliest_end) {
    auto const value = body.take_nullable("until");
    if (!value) return;
    auto const time =
        parse_time(state_.text(*value, JsonLimits::string_bytes_max), spec_->time_zone);
    if (state_.failed()) return;
    if (!time) return state_.fail(*value, to_string(time.error()));
    if (time->at < earliest_end) {
        std::string more = ",\"min\":";
        append_time(more, earliest_end);
        return state_.fail(InputError{422, value->pointer(), "range", std::move(more)});
    }
    until_ = time->at;
}

void BlockDecoder::decode_seats(JsonValue names) {
    if (!state_.array(names, {1, places_max})) return;
    for (JsonValue const name : names) {
        if (!name.is(JsonKind::string)) return state_.fail(name, "type");
        if (auto const seat = spec_->layout.find_seat(name.text())) {
            places_.push_back(*seat);
        } else if (offenders_.size() < limits::names_listed_max) {
            offenders_.push_back(name.text());
        }
    }
    if (offenders_.empty()) find_duplicates();
}

void BlockDecoder::find_duplicates() {
    std::ranges::sort(places_);
    for (auto at = places_.begin(); at != places_.end();) {
        at = std::adjacent_find(at, places_.end());
        if (at == places_.end()) break;
        SeatIndex const seat = *at;
        duplicates_ = true;
        if (offenders_.size() < limits::names_listed_max)
            offenders_.push_back(spec_->layout.name_of(seat));
        at = std::find_if(at, places_.end(), [seat](SeatIndex other) { return other != seat; });
    }
}

std::optional<SectionIndex> BlockDecoder::section_named(JsonValue id) {
    auto const found = spec_->layout.find_section(state_.text(id, JsonLimits::string_bytes_max));
    if (!found) state_.fail(id, "unknown-section");
    return found;
}

void BlockDecoder::add_place(SeatIndex place, JsonValue where) {
    Layout const& layout = spec_->layout;
    bool const kept = place.value() < layout.labelled_count() &&
                      has(layout.seats()[place.value()].flags, SeatFlag::not_for_sale);
    if (kept || state_.failed()) return;
    // What several lists name counts once. Twice the bound, so that each counting is paid for.
    if (places_.size() == 2 * places_max) {
        count_once();
        if (places_.size() > places_max) return state_.fail_range(where, places_range, "places");
    }
    places_.push_back(place);
}

void BlockDecoder::add_places(Section const& section, JsonValue where) {
    for (std::uint32_t i = 0; i < section.capacity && !state_.failed(); ++i)
        add_place(SeatIndex{section.first.value() + i}, where);
}

void BlockDecoder::decode_sections(JsonValue ids) {
    if (!state_.array(ids, {1, limits::sections_per_event_max})) return;
    for (JsonValue const id : ids) {
        auto const index = section_named(id);
        if (!index) return;
        add_places(spec_->layout.sections()[index->value()], id);
    }
}

void BlockDecoder::decode_categories(JsonValue keys) {
    if (!state_.array(keys, {1, limits::categories_per_event_max})) return;
    Layout const& layout = spec_->layout;
    // All names first, so that the layout is scanned once whatever is named how often.
    std::vector<bool> wanted(layout.categories().size());
    for (JsonValue const key : keys) {
        auto const category = layout.find_category(state_.text(key, JsonLimits::string_bytes_max));
        if (!category) state_.fail(key, "unknown-category");
        if (state_.failed()) return;
        wanted[category->value()] = true;
    }
    for (std::uint32_t seat = 0; seat < layout.labelled_count() && !state_.failed(); ++seat)
        if (wanted[layout.seats()[seat].category.value()]) add_place(SeatIndex{seat}, keys);
    for (Section const& section : layout.sections())
        if (section.general && wanted[section.category.value()]) add_places(section, keys);
}

void BlockDecoder::decode_quantity(ObjectDecoder& body, JsonValue section) {
    auto const index = section_named(section);
    quantity_ = static_cast<std::uint32_t>(body.integer("quantity", {1, places_max}));
    if (!index || state_.failed()) return;
    section_ = *index;
    if (!spec_->layout.sections()[index->value()].general) state_.fail(section, "not-general");
}

void BlockDecoder::count_once() {
    std::ranges::sort(places_);
    auto const rest = std::ranges::unique(places_);
    places_.erase(rest.begin(), rest.end());
}

void BlockDecoder::check_places(JsonValue body) {
    if (state_.failed() || !offenders_.empty()) return;
    count_once();
    if (places_.size() + quantity_ > places_max) state_.fail_range(body, places_range, "places");
    if (places_.empty() && quantity_ == 0) state_.fail(body, "no-places");
}

}  // namespace holdfast::api
