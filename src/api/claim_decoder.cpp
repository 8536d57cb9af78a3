#include "api/claim_decoder.hpp"

#include <algorithm>

namespace holdfast::api {
namespace {

using engine::BestWish;
using engine::ClaimLine;
using Kind = ClaimLine::Kind;

template <class Index>
void sort_unique(std::vector<Index>& list) {
    std::ranges::sort(list);
    auto const repeated = std::ranges::unique(list);
    list.erase(repeated.begin(), repeated.end());
}

std::uint64_t places_of(ClaimLine const& line) {
    switch (line.kind) {
        case Kind::seats:
            return line.seats.size();
        case Kind::best:
            return line.best.quantity;
        case Kind::candidates:
        case Kind::general:
            break;
    }
    return line.count;
}

}  // namespace

ClaimDecoder::Verdict ClaimDecoder::decode(JsonValue body, EventSpec const& spec, ClaimBody kind) {
    start(spec, kind);
    ObjectDecoder fields(body, state_);
    if (kind == ClaimBody::claim) decode_claimer(fields);
    if (auto const lines = fields.take("lines")) {
        fields.finish();
        if (state_.array(*lines, {1, limits::claim_lines_max})) {
            for (JsonValue const value : *lines) {
                ObjectDecoder line(value, state_);
                decode_line(line, value);
                line.finish();
            }
        }
    } else {
        decode_line(fields, body);
        fields.finish();
    }
    check_partial(fields);
    check_total(body);
    if (state_.failed()) return Verdict::input_error;
    if (!offenders_.empty()) return Verdict::unknown_seats;
    if (find_duplicates()) return Verdict::duplicate_seats;
    bool const broken = kind == ClaimBody::claim && find_broken_group();
    return broken ? Verdict::inseparable : Verdict::good;
}

void ClaimDecoder::start(EventSpec const& spec, ClaimBody kind) {
    spec_ = &spec;
    kind_ = kind;
    if (state_.failed()) state_ = DecodeState{};
    line_count_ = 0;
    preview_ = false;
    partial_ = false;
    account_ = 0;
    offenders_.clear();
}

void ClaimDecoder::decode_claimer(ObjectDecoder& body) {
    partial_ = body.optional_boolean("partial").value_or(false);
    constexpr auto account_max = static_cast<std::int64_t>(limits::account_max);
    auto const account = body.optional_integer("account", {1, account_max});
    account_ = static_cast<std::uint64_t>(account.value_or(0));
}

/// Searches take what is free as it is, and a number of places is all or nothing.
void ClaimDecoder::check_partial(ObjectDecoder const& body) {
    bool const named =
        std::ranges::any_of(lines(), [](auto const& line) { return line.kind == Kind::seats; });
    if (partial_ && !named && !state_.failed())
        state_.fail(body.pointer_to("partial"), "needs-seats");
}

std::string_view ClaimDecoder::section_of_line(std::size_t index) const noexcept {
    if (index >= line_count_) return {};
    ClaimLine const& line = lines_[index];
    auto const sections = spec_->layout.sections();
    if (line.kind == Kind::general) return sections[line.section.value()].id;
    bool const one = line.kind == Kind::best && line.best.sections.size() == 1;
    return one ? std::string_view(sections[line.best.sections.front().value()].id)
               : std::string_view{};
}

ClaimLine& ClaimDecoder::new_line(Kind kind) {
    if (line_count_ == lines_.size()) lines_.emplace_back();
    ClaimLine& line = lines_[line_count_++];
    line.kind = kind;
    line.seats.clear();
    line.count = 0;
    line.best.quantity = 0;
    line.best.sections.clear();
    line.best.categories.clear();
    line.best.zone.reset();
    line.best.accessible = 0;
    line.best.prevent_orphans = true;
    line.best.together = false;
    line.section = SectionIndex{};
    return line;
}

IntegerRange ClaimDecoder::order_range() const noexcept {
    return {1, spec_->policy.max_per_order};
}

void ClaimDecoder::decode_line(ObjectDecoder& line, JsonValue value) {
    auto const seats = line.take("seats");
    auto const candidates = line.take("candidates");
    auto const best = line.take("best");
    auto const section = line.take("section");
    int const forms = (seats ? 1 : 0) + (candidates ? 1 : 0) + (best ? 1 : 0) + (section ? 1 : 0);
    // A misspelt form is better told as the unknown field it is.
    if (forms == 0) line.finish();
    bool const list = kind_ == ClaimBody::list;
    if (list && candidates) state_.fail(*candidates, "seats-or-general-places-only");
    if (list && best) state_.fail(*best, "seats-or-general-places-only");
    if (forms != 1)
        state_.fail(value, list ? "one-of-seats-section" : "one-of-seats-candidates-best-section");
    if (state_.failed()) return;
    if (seats) decode_seats(*seats);
    if (candidates) decode_candidates(line, *candidates);
    if (best) decode_best(*best);
    if (section) decode_section(line, *section);
}

void ClaimDecoder::decode_seats(JsonValue names) {
    ClaimLine& line = new_line(Kind::seats);
    if (state_.array(names, order_range())) add_seats(names, line);
}

void ClaimDecoder::decode_candidates(ObjectDecoder& fields, JsonValue names) {
    ClaimLine& line = new_line(Kind::candidates);
    if (!state_.array(names, {1, limits::seats_per_order_max})) return;
    auto const most = std::min<std::int64_t>(names.size(), order_range().max);
    line.count = static_cast<std::uint32_t>(fields.integer("count", {1, most}));
    add_seats(names, line);
}

void ClaimDecoder::add_seats(JsonValue names, ClaimLine& line) {
    for (JsonValue const name : names) {
        if (!name.is(JsonKind::string)) {
            state_.fail(name, "type");
            return;
        }
        if (auto const seat = spec_->layout.find_seat(name.text())) {
            line.seats.push_back(*seat);
        } else {
            offenders_.push_back(name.text());
        }
    }
}

void ClaimDecoder::decode_best(JsonValue value) {
    ClaimLine& line = new_line(Kind::best);
    ObjectDecoder best(value, state_);
    std::int64_t const quantity = best.integer("quantity", order_range());
    line.best.quantity = static_cast<std::uint32_t>(quantity);
    decode_scope(best, line.best);
    auto const accessible = best.optional_integer("accessible", {0, quantity});
    line.best.accessible = static_cast<std::uint32_t>(accessible.value_or(0));
    line.best.together = best.optional_boolean("together").value_or(false);
    line.best.prevent_orphans = best.optional_boolean("prevent_orphans").value_or(true);
    if (best.optional_boolean("preview").value_or(false)) preview_ = true;
    best.finish();
    if (!state_.failed()) turn_general(line);
}

void ClaimDecoder::decode_scope(ObjectDecoder& best, BestWish& wish) {
    if (auto const sections = best.take("sections")) {
        if (state_.array(*sections, {1, limits::sections_per_event_max})) {
            for (JsonValue const name : *sections) wish.sections.push_back(section_named(name));
        }
        sort_unique(wish.sections);
    }
    if (auto const categories = best.take("categories")) {
        if (state_.array(*categories, {1, limits::categories_per_event_max})) {
            for (JsonValue const name : *categories) {
                auto const found =
                    spec_->layout.find_category(state_.text(name, JsonLimits::string_bytes_max));
                if (!found) state_.fail(name, "unknown-category");
                wish.categories.push_back(found.value_or(CategoryIndex{}));
            }
        }
        sort_unique(wish.categories);
    }
    if (auto const zone = best.take("zone")) {
        std::string_view const key = state_.text(*zone, JsonLimits::string_bytes_max);
        auto const zones = spec_->layout.zones();
        auto const found = std::ranges::find(zones, key, &Zone::key);
        if (found == zones.end()) state_.fail(*zone, "unknown-zone");
        wish.zone = static_cast<std::uint32_t>(found - zones.begin());
    }
}

SectionIndex ClaimDecoder::section_named(JsonValue name) {
    std::string_view const id = state_.text(name, JsonLimits::string_bytes_max);
    auto const found = spec_->layout.find_section(id);
    if (!found) state_.fail(name, "unknown-section");
    return found.value_or(SectionIndex{});
}

/// Best available over places without seats is any place: a wish that only one general section can
/// serve, and no section with rows, becomes a claim of that section.
void ClaimDecoder::turn_general(ClaimLine& line) const {
    BestWish const& wish = line.best;
    if (wish.accessible > 0 || wish.together) return;  // places without seats are not neighbours
    std::optional<SectionIndex> general;
    auto const listed = [](auto const& list, auto index) {
        return list.empty() || std::ranges::binary_search(list, index);
    };
    for (std::uint32_t index = 0; Section const& section : spec_->layout.sections()) {
        SectionIndex const candidate{index++};
        bool const in_zone = !wish.zone || section.zone == wish.zone;
        if (!listed(wish.sections, candidate) || !in_zone) continue;
        // Rows may have categories of their own, so a section with rows is never ruled out by one.
        if (!section.general) return;
        if (!listed(wish.categories, section.category)) continue;
        if (general) return;
        general = candidate;
    }
    if (!general) return;
    line.kind = Kind::general;
    line.section = *general;
    line.count = wish.quantity;
}

void ClaimDecoder::decode_section(ObjectDecoder& fields, JsonValue name) {
    SectionIndex const section = section_named(name);
    std::int64_t const quantity = fields.integer("quantity", order_range());
    if (state_.failed()) return;
    bool const general = spec_->layout.sections()[section.value()].general;
    if (!general && kind_ == ClaimBody::list) return state_.fail(name, "not-general");
    ask_section(new_line(Kind::general), section, static_cast<std::uint32_t>(quantity));
}

void ClaimDecoder::ask_section(ClaimLine& line, SectionIndex section,
                               std::uint32_t quantity) const {
    bool const general = spec_->layout.sections()[section.value()].general;
    line.kind = general ? Kind::general : Kind::best;
    line.section = section;
    line.count = quantity;
    if (general) return;
    line.best.quantity = quantity;
    line.best.sections.push_back(section);
}

void ClaimDecoder::check_total(JsonValue body) {
    if (state_.failed()) return;
    std::uint64_t total = 0;
    for (ClaimLine const& line : lines()) total += places_of(line);
    bool const fits = total <= spec_->policy.max_per_order;
    // One line alone is within its own bounds.
    if (!fits && line_count_ > 1)
        state_.fail_range(*body.find("lines"), {1, spec_->policy.max_per_order}, "places");
}

bool ClaimDecoder::find_duplicates() {
    all_seats_.clear();
    for (ClaimLine const& line : lines()) {
        all_seats_.insert(all_seats_.end(), line.seats.begin(), line.seats.end());
    }
    std::ranges::sort(all_seats_);
    for (std::size_t i = 1; i < all_seats_.size(); ++i) {
        std::string_view const name = spec_->layout.name_of(all_seats_[i]);
        bool const repeated = all_seats_[i] == all_seats_[i - 1];
        if (repeated && (offenders_.empty() || offenders_.back() != name)) {
            offenders_.push_back(name);
        }
    }
    return !offenders_.empty();
}

/// Named seats hold groups whole. Candidates are taken one by one, so a group can't be among them.
bool ClaimDecoder::find_broken_group() {
    Layout const& layout = spec_->layout;
    if (layout.largest_group() <= 1) return false;
    std::optional<SeatGroup> broken;
    all_seats_.clear();
    for (ClaimLine const& line : lines()) {
        if (line.kind == Kind::seats)
            all_seats_.insert(all_seats_.end(), line.seats.begin(), line.seats.end());
        if (line.kind != Kind::candidates || broken) continue;
        for (SeatIndex const seat : line.seats) {
            SeatGroup const group = layout.group_of(seat);
            if (group.count > 1) broken = group;
        }
    }
    std::ranges::sort(all_seats_);
    if (!broken) broken = layout.broken_group(all_seats_);
    if (!broken) return false;
    for (std::uint32_t i = 0; i < broken->count; ++i)
        offenders_.push_back(layout.name_of(SeatIndex{broken->first.value() + i}));
    return true;
}

}  // namespace holdfast::api
