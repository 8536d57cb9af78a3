#include "loadgen/wire.hpp"

#include <holdfast/domain/limits.hpp>

#include <boost/json.hpp>

namespace holdfast::loadgen {

namespace json = boost::json;

namespace {

json::value const* member(json::value const& from, std::string_view name) {
    return from.is_object() ? from.get_object().if_contains({name.data(), name.size()}) : nullptr;
}

json::array const* list(json::value const* from, std::string_view name) {
    auto const* found = from == nullptr ? nullptr : member(*from, name);
    return found != nullptr && found->is_array() ? &found->get_array() : nullptr;
}

/// A category's key may be a number or a text; both name it in `prices`.
void add_category(std::vector<std::string>& out, json::value const* key) {
    if (key == nullptr) return;
    if (key->is_string()) out.push_back(json::value_to<std::string>(*key));
    if (key->is_int64()) out.push_back(std::to_string(key->get_int64()));
}

json::array seat_names(Venue const& venue, std::vector<std::uint32_t> const& seats) {
    json::array names;
    names.reserve(seats.size());
    for (auto const seat : seats) names.emplace_back(venue.seats[seat]);
    return names;
}

}  // namespace

Readable<PlanFacts> recognise_plan(std::string_view text) {
    boost::system::error_code ec;
    auto const root = json::parse({text.data(), text.size()}, ec);
    if (ec) return Unreadable{"the plan is no JSON: " + ec.message()};
    PlanFacts facts;
    if (member(root, "subChart") != nullptr || member(root, "subChartFloors") != nullptr) {
        facts.format = "seatsio";
        if (auto const* categories = list(member(root, "categories"), "list")) {
            for (auto const& item : *categories)
                add_category(facts.categories, member(item, "key"));
        }
        return facts;
    }
    if (list(&root, "zones") != nullptr) {
        facts.format = "pretix";
        if (auto const* categories = list(&root, "categories")) {
            for (auto const& item : *categories) {
                add_category(facts.categories, member(item, "name"));
            }
        }
        return facts;
    }
    return Unreadable{"the plan is neither a pretix plan nor a seats.io drawing"};
}

std::string event_body(EventWish const& wish) {
    json::object prices;
    std::int64_t price = 1'500;
    for (auto const& category : wish.facts.categories) {
        prices[category] = price;
        price += 1'000;
    }
    // Seats are picked one by one at the end, so the rule against single free seats is off.
    // A table that is sold as a whole may be of any size.
    json::object const policy{{"hold_ttl_s", wish.hold_ttl_s},
                              {"max_per_order", limits::seats_per_order_max},
                              {"orphan_rule", "off"},
                              {"guest", true}};
    json::object const head{{"id", wish.id},
                            {"name", "Bench sale"},
                            {"currency", "EUR"},
                            {"publish", true},
                            {"policy", policy}};
    json::object const import{
        {"format", wish.facts.format}, {"disambiguate", true}, {"prices", prices}};
    // The plan stays the text it is: its numbers are not to pass through a second printer.
    std::string out = json::serialize(head);
    out.pop_back();
    out.append(",\"import\":").append(json::serialize(import));
    out.pop_back();
    out.append(",\"plan\":").append(wish.plan).append("}}");
    return out;
}

std::string claim_body(Venue const& venue, Places const& places) {
    json::array lines;
    if (!places.seats.empty()) {
        lines.push_back(json::object{{"seats", seat_names(venue, places.seats)}});
    }
    for (auto const& [area, quantity] : places.general) {
        lines.push_back(
            json::object{{"section", venue.areas[area].section}, {"quantity", quantity}});
    }
    if (lines.size() == 1) return json::serialize(lines.front());
    return json::serialize(json::object{{"lines", std::move(lines)}});
}

std::string best_body(std::uint32_t quantity) {
    return "{\"best\":{\"quantity\":" + std::to_string(quantity) + "}}";
}

std::string order_body(std::string_view hold, std::string_view token) {
    std::string out = R"({"holds":[{"hold":")";
    out.append(hold).append(R"(","token":")").append(token);
    out.append(R"("}],"payment":{"method":"none"}})");
    return out;
}

}  // namespace holdfast::loadgen
