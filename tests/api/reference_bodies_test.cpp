// Every body of openapi.json is what its decoder takes: its examples are accepted, by the event of
// `serve --demo`, and at each place in them the document has the members that the decoder knows.
#include "tests/api/example_scene.hpp"
#include "tests/api/openapi_document.hpp"
#include "tests/api/source_words.hpp"

#include <map>
#include <optional>
#include <sstream>

namespace holdfast::test {
namespace {

namespace json = boost::json;

/// Every word in quotes of api's sources that could be a member's name: whatever a decoder asks
/// for is among them.
SourceWords candidate_names() {
    SourceWords names;
    for (auto const& [file, text] : sources_of("api")) {
        std::istringstream parts(text);
        for (std::string part; std::getline(parts, part, '"');) {
            bool const word = !part.empty() && part.size() < 32 &&
                              part.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == part.npos;
            if (word) names.insert(part);
        }
    }
    return names;
}

/// Where in a body, without the numbers of items: "/lines/*/best".
struct Spot {
    std::string pointer;
    std::string place;
    std::vector<json::value const*> found;  // schemas that apply there
};

/// All objects of a body with the schemas that apply to them.
void find_spots(json::value const& value, Spot const& spot, std::vector<Spot>& spots) {
    std::vector<json::object const*> flat;
    for (json::value const* const schema : spot.found) schemas().flatten(*schema, flat);
    auto const inside = [&](std::string_view keyword, std::string_view member) {
        std::vector<json::value const*> found;
        for (json::object const* const schema : flat) {
            auto const* const argument = schema->if_contains(keyword);
            if (argument == nullptr) continue;
            if (member.empty()) {
                found.push_back(argument);
            } else if (auto const* const named = argument->as_object().if_contains(member)) {
                found.push_back(named);
            }
        }
        return found;
    };
    if (auto const* const array = value.if_array()) {
        for (std::size_t i = 0; i < array->size(); ++i)
            find_spots(
                (*array)[i],
                {spot.pointer + "/" + std::to_string(i), spot.place + "/*", inside("items", "")},
                spots);
    }
    auto const* const object = value.if_object();
    if (object == nullptr) return;
    spots.push_back(spot);
    for (auto const& [key, member] : *object) {
        std::string const step = "/" + std::string(std::string_view(key));
        find_spots(member, {spot.pointer + step, spot.place + step, inside("properties", key)},
                   spots);
    }
}

/// The members that the document has at a spot. False: any name may stand there.
bool documented(Spot const& spot, SourceWords& names) {
    std::vector<json::object const*> flat;
    for (json::value const* const schema : spot.found) schemas().flatten(*schema, flat);
    bool listed = false;
    bool closed = true;
    for (json::object const* const schema : flat) {
        auto const* const rest = schema->if_contains("additionalProperties");
        if (rest != nullptr && rest->is_object()) closed = false;
        auto const* const members = schema->if_contains("properties");
        if (members == nullptr) continue;
        listed = true;
        for (auto const& [key, member] : members->as_object()) names.emplace(std::string_view(key));
    }
    return listed && closed;
}

/// Which of `candidates` the decoder knows at a spot of a body that it takes, and the names there.
SourceWords known_at(Spot const& spot, json::object const& example, SourceWords const& candidates,
                     ExampleScene& scene) {
    json::value const& body = example.at("value");
    SourceWords known;
    std::string const credentials = scene.credentials_of(example);
    for (std::string const& name : candidates) {
        json::value copy = body;
        auto& object = (spot.pointer.empty() ? copy : copy.at_pointer(spot.pointer)).as_object();
        // Good for no member, so nothing happens; and a member that is an object names the inside.
        bool const fresh = object.emplace(name, json::object{{"?", 0}}).second;
        std::string const error = fresh ? scene.error(json::serialize(copy), credentials) : "";
        std::string const place = spot.pointer + "/" + name + " ";
        // The second: known so that it can be refused in better words.
        bool const refused =
            error == place + "unknown-field" || error == place + "seats-or-general-places-only";
        if (!refused) known.insert(name);
    }
    return known;
}

std::string joined(SourceWords const& names) {
    std::string out;
    for (std::string const& name : names) out.append(out.empty() ? "" : " ").append(name);
    return out;
}

/// A lower bound of a member that a body has.
struct Edge {
    std::string member;
    json::value below;                 // just under it
    std::optional<json::value> least;  // just on it
};

/// The lower bounds of the members at a spot.
std::vector<Edge> edges_at(Spot const& spot, json::value const& body) {
    std::vector<json::object const*> flat;
    for (json::value const* const schema : spot.found) schemas().flatten(*schema, flat);
    json::value const& object = spot.pointer.empty() ? body : body.at_pointer(spot.pointer);
    std::vector<Edge> edges;
    for (json::object const* const schema : flat) {
        auto const* const members = schema->if_contains("properties");
        for (auto const& [key, value] :
             members != nullptr ? members->as_object() : json::object{}) {
            if (!object.as_object().contains(key)) continue;
            std::string const member(std::string_view{key});
            std::vector<json::object const*> found;
            schemas().flatten(value, found);
            for (json::object const* const one : found) {
                if (auto const* const least = one->if_contains("minimum"))
                    edges.push_back({member, least->as_int64() - 1, *least});
                if (auto const* const least = one->if_contains("minLength")) {
                    CHECK(*least == 1);
                    edges.push_back({member, "", "x"});
                }
                if (auto const* const least = one->if_contains("minItems")) {
                    CHECK(*least == 1);
                    edges.push_back({member, json::array{}, std::nullopt});
                }
            }
        }
    }
    return edges;
}

/// Its least is the value of another member, if that is larger.
bool depends_on_another(Edge const& edge) {
    return edge.member == "hold_max_life_s";
}

std::string replaced_at(json::value body, std::string const& pointer, json::value const& value) {
    body.at_pointer(pointer) = value;
    return json::serialize(body);
}

constexpr char const* of_places =
    "/lines /lines/*/quantity /lines/*/seats /lines/*/section /quantity /seats /section";

/// The lower bounds that the examples lead to, by operation.
std::map<std::string, std::string> const probed_places{
    {"createEvent",
     "/categories /categories/*/key /categories/*/name /categories/*/price /name "
     "/policy/hold_max_life_s /policy/hold_seconds_budget /policy/hold_ttl_s "
     "/policy/max_extensions /policy/max_open_holds_per_user /policy/max_per_order "
     "/policy/max_per_user /policy/rehold_cooldown_s /sections /sections/*/capacity "
     "/sections/*/category /sections/*/id /sections/*/name /sections/*/rows "
     "/sections/*/rows/*/label /sections/*/rows/*/seats /sections/*/rows/*/seats/*/label "
     "/sections/*/rows/*/seats/*/x /sections/*/rows/*/seats/*/y /time_zone /venue"},
    {"claim",
     "/account /best/accessible /best/categories /best/quantity /best/sections /candidates /count "
     "/lines /lines/*/best/quantity /lines/*/best/sections /lines/*/candidates /lines/*/count "
     "/lines/*/quantity /lines/*/seats /lines/*/section /quantity /seats /section"},
    {"extendHold", "/seconds"},
    {"exchangeSeats", of_places},
    {"releasePlaces", of_places},
    {"blockPlaces", "/categories /quantity /seats /section /sections"},
    {"buy", "/holds /holds/*/hold /holds/*/token"},
    {"refundTickets", "/tickets"},
    {"reseatTickets", "/seats /seats/*/section /seats/*/ticket /seats/*/to"},
    {"startBackup", "/to"},
};

}  // namespace

TEST_CASE("every body has the members that its decoder knows, and no other", "[reference]") {
    SourceWords candidates = candidate_names();
    REQUIRE(candidates.contains("prevent_orphans"));
    candidates.insert("surplus");
    for (Operation const& one : operations()) {
        if (!one.described.contains("requestBody")) continue;
        CAPTURE(one.name());
        auto const& media = one.described.at("requestBody").at("content").at("application/json");
        std::map<std::string, SourceWords> told;
        std::map<std::string, SourceWords> known;
        for (auto const& [key, value] : media.at("examples").as_object()) {
            json::object const& example = value.as_object();
            ExampleScene scene(one);
            json::value const& body = example.at("value");
            std::vector<Spot> spots;
            find_spots(body, {"", "", {&media.at("schema")}}, spots);
            for (Spot const& spot : spots) {
                SourceWords names;
                if (!documented(spot, names)) continue;
                CAPTURE(key, spot.pointer);
                SourceWords all = candidates;
                all.insert(names.begin(), names.end());
                told[spot.place].insert(names.begin(), names.end());
                known[spot.place].merge(known_at(spot, example, all, scene));
                json::value surplus = body;
                (spot.pointer.empty() ? surplus : surplus.at_pointer(spot.pointer))
                    .as_object()["surplus"] = 1;
                CHECK(lines(schemas().faults(media.at("schema"), surplus)) != "");
            }
        }
        for (auto const& [place, names] : told) {
            CAPTURE(place);
            CHECK(joined(names) == joined(known[place]));
        }
    }
}

TEST_CASE("every example of a body is accepted, with the credentials that it is shown with",
          "[reference]") {
    for (Operation const& one : operations()) {
        if (!one.described.contains("requestBody")) continue;
        auto const& media = one.described.at("requestBody").at("content").at("application/json");
        for (auto const& [key, example] : media.at("examples").as_object()) {
            CAPTURE(one.name(), key);
            ExampleScene scene(one);
            std::string const body = json::serialize(example.at("value"));
            std::string const who = scene.credentials_of(example.as_object());
            CHECK(body.find('\'') == std::string::npos);  // so that a shell can quote it
            CHECK(scene.error(body, who) == "");
            if (one.id() == "createEvent") continue;
            ExampleScene fresh(one);
            auto const answer = fresh.send(body, fresh.credentials_of(example.as_object()));
            CAPTURE(answer.body);
            CHECK(answer.status / 100 == 2);
        }
    }
}

TEST_CASE("what is under a lower bound of the document is refused, and the bound is not",
          "[reference]") {
    std::map<std::string, std::string> probed;
    for (Operation const& one : operations()) {
        if (!one.described.contains("requestBody")) continue;
        CAPTURE(one.name());
        auto const& media = one.described.at("requestBody").at("content").at("application/json");
        SourceWords places;
        for (auto const& [key, example] : media.at("examples").as_object()) {
            json::value const& body = example.at("value");
            ExampleScene scene(one);
            std::vector<Spot> spots;
            find_spots(body, {"", "", {&media.at("schema")}}, spots);
            for (Spot const& spot : spots) {
                for (Edge const& edge : edges_at(spot, body)) {
                    std::string const pointer = spot.pointer + "/" + edge.member;
                    std::string const refusal = pointer + " range";
                    CAPTURE(key, pointer);
                    places.insert(spot.place + "/" + edge.member);
                    CHECK(scene.error(replaced_at(body, pointer, edge.below), staff) == refusal);
                    if (edge.least && !depends_on_another(edge))
                        CHECK(scene.error(replaced_at(body, pointer, *edge.least), staff) !=
                              refusal);
                }
            }
        }
        if (!places.empty()) probed.emplace(one.id(), joined(places));
    }
    CHECK(probed == probed_places);
}

}  // namespace holdfast::test
