// Every body of openapi.json is what its decoder takes: its examples are accepted, by the event of
// `serve --demo`, and at each place in them the document has the members that the decoder knows.
#include "api/event_body.hpp"
#include "tests/api/calm_backups.hpp"
#include "tests/api/openapi_document.hpp"
#include "tests/api/stage.hpp"

#include <holdfast/api/routes.hpp>
#include <holdfast/services/plan_import.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using Names = std::set<std::string, std::less<>>;

/// Every word in quotes of api's sources that could be a member's name: whatever a decoder asks
/// for is among them.
Names candidate_names() {
    Names names;
    auto const root = std::filesystem::path(HOLDFAST_SOURCE_DIR) / "src/api";
    for (auto const& entry : std::filesystem::directory_iterator(root)) {
        std::string const ending = entry.path().extension().string();
        if (ending != ".cpp" && ending != ".hpp") continue;
        std::ifstream in(entry.path());
        std::ostringstream text;
        text << in.rdbuf();
        std::istringstream parts(text.str());
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
bool documented(Spot const& spot, Names& names) {
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

void replace_all(std::string& text, std::string_view from, std::string const& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
}

/// What `holdfast serve --demo` sells.
EventSpec demo_event(bool publish) {
    auto imported = services::import_plan(
        {services::PlanFormat::seatsio, services::demo_plan(), false, services::demo_prices()});
    REQUIRE(imported.layout.has_value());
    EventSpec spec = sample_event();
    spec.policy = {};
    spec.publish = publish;
    spec.layout = std::move(*imported.layout);
    return spec;
}

/// A stage where the ids of the document's examples stand for something.
class Scene {
public:
    explicit Scene(Operation const& operation)
        : stage(demo_event(operation.id() != "publishEvent")), operation_(operation) {
        stage.context->backups = &backups_;
        router_.emplace(api::admin_routes(*stage.context));
        if (operation.id() == "resumeSale") stage.post("/v1/events/demo/pause", "", staff);
        bool const needs =
            operation.path.starts_with("/v1/holds") || operation.path.starts_with("/v1/orders");
        if (!needs) return;
        auto const held = stage.claim(
            R"({"lines":[{"seats":["A-1-7","A-1-8"]},{"section":"Floor","quantity":2}]})");
        auto const sold = stage.claim(R"({"seats":["B-2-1","B-2-2"]})");
        auto const order = stage.post(
            "/v1/orders", json::serialize(json::object{{"holds", {sold["hold"]}}}), staff);
        REQUIRE(order.status == 201);
        stage.record_order(order["order"], {sold["hold"]});
        auto const tickets = json::parse(order.body).at("tickets");
        auto const example = [](char const* schema) -> json::value const& {
            return component("schemas", schema).at("examples").at(0);
        };
        auto const& told = example("Order");
        replace(example("Hold").at("hold"), held["hold"]);
        replace(example("Hold").at("token"), held["token"]);
        replace(told.at("order"), order["order"]);
        for (std::size_t i : {0U, 1U})
            replace(told.at("tickets").at(i).at("ticket"),
                    std::string(tickets.at(i).at("ticket").as_string()));
        token_ = held["token"];
    }

    std::string translated(std::string text) const {
        for (auto const& [told, real] : real_) replace_all(text, told, real);
        return text;
    }

    Stage::Answer send(std::string const& body) {
        std::string target = operation_.path;
        for (auto const& [key, parameter] :
             openapi().at("components").at("parameters").as_object()) {
            if (!parameter.as_object().contains("example")) continue;
            std::string const example(parameter.at("example").as_string());
            replace_all(target, "{" + std::string(std::string_view(key)) + "}", example);
        }
        bool const by_staff = operation_.staff_only() || body.find("account") != body.npos;
        std::string const who = by_staff ? staff : token_.empty() ? "" : "Hold " + token_;
        return send_as(who, translated(target), translated(body));
    }

    Stage stage;

private:
    /// Not by the stage, which does not have all of the routes.
    Stage::Answer send_as(std::string const& who, std::string const& target,
                          std::string const& body) {
        http::Request request;
        request.method = operation_.method == "PUT" ? http::Method::put : http::Method::post;
        request.path = target;
        std::vector<http::Field> fields;
        if (!who.empty()) fields.push_back({"Authorization", who});
        request.fields = fields;
        request.body = body;
        request.received_at = stage.now;
        request.request_id = "r-1";
        auto const match = router_->match(request);
        REQUIRE(match.route != nullptr);
        http::Reply reply;
        match.route->handler(request, reply);
        return {reply.status, reply.body, reply.headers, std::string(reply.content_type),
                reply.lsn};
    }
    void replace(json::value const& told, std::string const& real) {
        real_.emplace(std::string(told.as_string()), real);
    }

    Operation operation_;
    CalmBackups backups_;
    std::optional<http::Router> router_;
    std::map<std::string, std::string> real_;
    std::string token_;
};

/// "pointer code" of the refusal of a body, else "".
std::string error_of(Scene& scene, Operation const& operation, std::string const& body) {
    if (operation.id() != "createEvent") return scene.send(body).error();
    api::JsonReader reader;
    auto const decoded = api::decode_event_body(reader, body, {});
    if (decoded) return "";
    return decoded.error().pointer + " " + std::string(decoded.error().code);
}

/// Which of `candidates` the decoder knows at a spot of a body that it takes, and the names there.
Names known_at(Spot const& spot, json::value const& body, Names const& candidates, Scene& scene,
               Operation const& operation) {
    Names known;
    for (std::string const& name : candidates) {
        json::value copy = body;
        auto& object = (spot.pointer.empty() ? copy : copy.at_pointer(spot.pointer)).as_object();
        // Good for no member, so nothing happens; and a member that is an object names the inside.
        bool const fresh = object.emplace(name, json::object{{"?", 0}}).second;
        std::string const error = fresh ? error_of(scene, operation, json::serialize(copy)) : "";
        std::string const place = spot.pointer + "/" + name + " ";
        // The second: known so that it can be refused in better words.
        bool const refused =
            error == place + "unknown-field" || error == place + "seats-or-general-places-only";
        if (!refused) known.insert(name);
    }
    return known;
}

std::string joined(Names const& names) {
    std::string out;
    for (std::string const& name : names) out.append(out.empty() ? "" : " ").append(name);
    return out;
}

}  // namespace

TEST_CASE("every body has the members that its decoder knows, and no other", "[reference]") {
    Names candidates = candidate_names();
    REQUIRE(candidates.contains("prevent_orphans"));
    candidates.insert("surplus");
    for (Operation const& one : operations()) {
        if (!one.described.contains("requestBody")) continue;
        CAPTURE(one.name());
        auto const& media = one.described.at("requestBody").at("content").at("application/json");
        std::map<std::string, Names> told;
        std::map<std::string, Names> known;
        for (auto const& [key, example] : media.at("examples").as_object()) {
            Scene scene(one);
            json::value const body = example.at("value");
            std::vector<Spot> spots;
            find_spots(body, {"", "", {&media.at("schema")}}, spots);
            for (Spot const& spot : spots) {
                Names names;
                if (!documented(spot, names)) continue;
                CAPTURE(key, spot.pointer);
                Names all = candidates;
                all.insert(names.begin(), names.end());
                told[spot.place].insert(names.begin(), names.end());
                known[spot.place].merge(known_at(spot, body, all, scene, one));
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

TEST_CASE("every example of a body is accepted", "[reference]") {
    for (Operation const& one : operations()) {
        if (!one.described.contains("requestBody")) continue;
        auto const& media = one.described.at("requestBody").at("content").at("application/json");
        for (auto const& [key, example] : media.at("examples").as_object()) {
            CAPTURE(one.name(), key);
            Scene scene(one);
            std::string const body = json::serialize(example.at("value"));
            CHECK(error_of(scene, one, body) == "");
            if (one.id() == "createEvent") continue;
            Scene fresh(one);
            auto const answer = fresh.send(body);
            CAPTURE(answer.body);
            CHECK(answer.status / 100 == 2);
        }
    }
}

}  // namespace holdfast::test
