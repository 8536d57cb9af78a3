// The bounds in openapi.json are those of domain/limits.hpp, and the document is well made.
#include "api/json_reader.hpp"
#include "tests/api/example_scene.hpp"
#include "tests/api/openapi_document.hpp"

#include <holdfast/api/overload.hpp>
#include <holdfast/domain/event.hpp>
#include <holdfast/domain/limits.hpp>

#include <map>

namespace holdfast::test {
namespace {

namespace json = boost::json;

struct Most {
    static constexpr std::int64_t order = limits::seats_per_order_max;
    static constexpr std::int64_t places = limits::places_per_event_max;
    static constexpr std::int64_t sections = limits::sections_per_event_max;
    static constexpr std::int64_t categories = limits::categories_per_event_max;
    static constexpr std::int64_t block = limits::seats_per_claim_max;
    static constexpr std::int64_t name = limits::name_bytes_max;
    static constexpr std::int64_t text = api::JsonLimits::string_bytes_max;
    static constexpr std::int64_t token = 64;       // of a time, a zone or a ticket
    static constexpr std::int64_t far = 1'000'000;  // of a seat that is drawn
};

/// Upper bounds by where they stand: "schema/member/member", "[]" for items.
std::map<std::string, std::int64_t> const upper_bounds{
    {"limit", limits::page_items_max},
    {"idempotency-key", limits::key_bytes_max},
    {"EventId", limits::slug_bytes_max},
    {"TimeInput", Most::token},
    {"EventPolicy/hold_ttl_s", limits::hold_ttl_highest.count()},
    {"EventPolicy/hold_max_life_s", limits::hold_life_highest.count()},
    {"EventPolicy/max_extensions", limits::extensions_max},
    {"EventPolicy/max_per_order", Most::order},
    {"EventPolicy/max_per_user", Most::places},
    {"EventPolicy/max_open_holds_per_user", limits::open_holds_max},
    {"EventPolicy/hold_seconds_budget", limits::hold_seconds_max},
    {"EventPolicy/rehold_cooldown_s", limits::rehold_cooldown_highest.count()},
    {"EventPolicy/orphan_endgame_pct", 100},
    {"EventPolicy/payment_methods", 3},
    {"Category/key", Most::name},
    {"Category/name", Most::name},
    {"Category/price", limits::price_max},
    {"SeatDraft/label", Most::name},
    {"SeatDraft/x", Most::far},
    {"SeatDraft/y", Most::far},
    {"SeatDraft/category", Most::name},
    {"RowDraft/label", Most::name},
    {"RowDraft/seats", Most::places},
    {"SectionDraft/id", Most::name},
    {"SectionDraft/name", Most::name},
    {"SectionDraft/category", Most::name},
    {"SectionDraft/rows", limits::rows_per_event_max},
    {"SectionDraft/capacity", Most::places},
    {"EventDraft/id", limits::slug_bytes_max},
    {"EventDraft/name", Most::name},
    {"EventDraft/venue", Most::name},
    {"EventDraft/time_zone", Most::token},
    {"EventDraft/categories", Most::categories},
    {"EventDraft/sections", Most::sections},
    {"EventDraft/import/prices/*", limits::price_max},
    {"SeatsLine/seats", Most::order},
    {"CandidatesLine/candidates", Most::order},
    {"CandidatesLine/count", Most::order},
    {"BestLine/best/quantity", Most::order},
    {"BestLine/best/sections", Most::sections},
    {"BestLine/best/categories", Most::categories},
    {"BestLine/best/zone", Most::text},
    {"BestLine/best/accessible", Most::order},
    {"SectionLine/section", Most::text},
    {"SectionLine/quantity", Most::order},
    {"Claim/account", limits::account_max},
    {"Ready/overload", api::OverloadLadder::top},
    {"Claim/lines", limits::claim_lines_max},
    {"PlaceList/lines", limits::claim_lines_max},
    {"ExtendBody/seconds", limits::hold_life_highest.count()},
    {"BlockBody/seats", Most::block},
    {"BlockBody/sections", Most::sections},
    {"BlockBody/sections[]", Most::text},
    {"BlockBody/categories", Most::categories},
    {"BlockBody/categories[]", Most::text},
    {"BlockBody/section", Most::text},
    {"BlockBody/quantity", Most::block},
    {"BlockBody/until", Most::text},
    {"OrderBody/holds", limits::holds_per_order_max},
    {"OrderBody/holds[]", Most::text},
    {"OrderBody/holds[]/hold", Most::text},
    {"OrderBody/holds[]/token", Most::text},
    {"BackupBody/to", Most::text},
    {"RefundBody/tickets[]", Most::token},
    {"ReseatBody/seats[]/ticket", Most::token},
    {"ReseatBody/seats[]/to", Most::name},
    {"ReseatBody/seats[]/section", Most::text},
};

/// Upper bounds of a schema and of what is in it; two that differ at one place are kept as -1.
void find_bounds(json::value const& schema, std::string const& at,
                 std::map<std::string, std::int64_t>& found) {
    auto const* const object = schema.if_object();
    if (object == nullptr) return;
    for (char const* const bound : {"maximum", "maxLength", "maxItems"}) {
        auto const* const most = object->if_contains(bound);
        if (most == nullptr) continue;
        auto const [known, fresh] = found.emplace(at, most->as_int64());
        if (!fresh && known->second != most->as_int64()) known->second = -1;
    }
    if (auto const* const members = object->if_contains("properties"))
        for (auto const& [key, member] : members->as_object())
            find_bounds(member, at + "/" + std::string(std::string_view(key)), found);
    if (auto const* const items = object->if_contains("items"))
        find_bounds(*items, at + "[]", found);
    if (auto const* const rest = object->if_contains("additionalProperties"))
        find_bounds(*rest, at + "/*", found);
    for (char const* const branches : {"oneOf", "anyOf", "allOf"})
        if (auto const* const list = object->if_contains(branches))
            for (json::value const& branch : list->as_array()) find_bounds(branch, at, found);
}

void collect(json::value const& value, std::string_view key, std::vector<std::string>& found) {
    if (auto const* const object = value.if_object()) {
        for (auto const& [member, inside] : *object) {
            if (member == key && inside.is_string()) found.emplace_back(inside.get_string());
            collect(inside, key, found);
        }
    } else if (auto const* const array = value.if_array()) {
        for (json::value const& item : *array) collect(item, key, found);
    }
}

/// Every schema in `value` whose examples do not fit it.
void check_examples(json::value const& value, std::string const& at) {
    if (auto const* const array = value.if_array()) {
        for (json::value const& item : *array) check_examples(item, at + "/*");
        return;
    }
    auto const* const object = value.if_object();
    if (object == nullptr) return;
    CAPTURE(at);
    auto const* const examples = object->if_contains("examples");
    if (examples != nullptr && examples->is_array())
        for (json::value const& example : examples->get_array())
            CHECK(lines(schemas().faults(value, example, true)) == "");
    if (examples != nullptr && examples->is_object())
        for (auto const& [key, example] : examples->get_object())
            CHECK(lines(schemas().faults(object->at("schema"), example.at("value"))) == "");
    auto const* const example = object->if_contains("example");
    if (example != nullptr)
        CHECK(lines(schemas().faults(object->at("schema"), *example, true)) == "");
    for (auto const& [key, member] : *object)
        if (key != "example" && key != "examples")
            check_examples(member, at + "/" + std::string(std::string_view(key)));
}

}  // namespace

TEST_CASE("the bounds of the document are those of the code", "[reference]") {
    std::map<std::string, std::int64_t> found;
    for (auto const& [key, schema] : openapi().at("components").at("schemas").as_object())
        find_bounds(schema, std::string(std::string_view(key)), found);
    for (auto const& [key, parameter] : openapi().at("components").at("parameters").as_object())
        find_bounds(parameter.at("schema"), std::string(std::string_view(key)), found);
    CHECK(found == upper_bounds);
    auto const& policy = component("schemas", "EventPolicy").at("properties");
    EventPolicy const standard;
    auto const seconds = [](Milliseconds time) { return time.count() / 1'000; };
    // What `hold.ttl_min_s` allows; the sentence has what it is by default.
    CHECK(policy.at("hold_ttl_s").at("minimum") == 1);
    auto const says = [&policy](char const* member, std::string const& text) {
        std::string const prose(policy.at(member).at("description").as_string());
        return prose.find(text) != std::string::npos;
    };
    CHECK(says("hold_ttl_s", " " + std::to_string(limits::hold_ttl_lowest.count()) + " unless"));
    CHECK(policy.at("hold_ttl_s").at("default") == seconds(standard.hold_ttl));
    // Longer if one hold lives longer, so it is no `default`.
    CHECK_FALSE(policy.at("hold_max_life_s").as_object().contains("default"));
    CHECK(says("hold_max_life_s",
               "Default: " + std::to_string(seconds(standard.hold_max_life)) + ","));
    CHECK(policy.at("max_extensions").at("default") == standard.max_extensions);
    CHECK(policy.at("max_per_order").at("default") == standard.max_per_order);
    CHECK(policy.at("rehold_cooldown_s").at("default") == standard.rehold_cooldown.count());
    CHECK(policy.at("orphan_rule").at("default").as_string() == to_string(standard.orphan_rule));
    CHECK(policy.at("orphan_endgame_pct").at("default") == standard.orphan_endgame_pct);
    CHECK(policy.at("honour_open_holds").at("default") == standard.honour_open_holds);
    CHECK(component("parameters", "limit").at("schema").at("default") ==
          limits::page_items_default);
}

TEST_CASE("the document is of this version and well made", "[reference]") {
    CHECK(openapi().at("openapi") == "3.1.0");
    CHECK(openapi().at("info").at("version") == HOLDFAST_VERSION);
    CHECK(openapi().at("info").as_object().contains("contact"));
    // Whatever the server is called: its own document is no place for a name of this machine.
    CHECK(openapi().at("servers").as_array().front().at("url") == "/");
    std::set<std::string> ids;
    std::set<std::string> tags;
    for (json::value const& tag : openapi().at("tags").as_array())
        tags.emplace(tag.at("name").as_string());
    for (Operation const& one : operations()) {
        CAPTURE(one.name());
        CHECK(ids.insert(one.id()).second);
        CHECK(one.described.at("summary").as_string().size() > 5);
        CHECK(one.described.at("description").as_string().size() > 5);
        REQUIRE(one.described.at("tags").as_array().size() == 1);
        CHECK(tags.contains(std::string(one.described.at("tags").as_array().front().as_string())));
        auto const& responses = one.described.at("responses").as_object();
        CHECK(responses.contains("400"));
        CHECK(responses.contains("422"));
        CHECK(responses.contains("default"));
        bool const anyone =
            std::ranges::any_of(one.described.at("security").as_array(),
                                [](json::value const& way) { return way.as_object().empty(); });
        if (!anyone) CHECK(responses.contains("401"));
    }
}

TEST_CASE("every reference of the document leads somewhere, and none is missing", "[reference]") {
    std::vector<std::string> targets;
    collect(openapi(), "$ref", targets);
    std::set<std::string> used(targets.begin(), targets.end());
    for (std::string const& target : used) {
        CAPTURE(target);
        boost::json::error_code error;
        REQUIRE(target.starts_with("#/"));
        CHECK(openapi().find_pointer(target.substr(1), error) != nullptr);
    }
    for (char const* const kind : {"schemas", "parameters", "headers", "responses"}) {
        for (auto const& [key, described] : openapi().at("components").at(kind).as_object()) {
            std::string const target =
                "#/components/" + std::string(kind) + "/" + std::string(std::string_view(key));
            CAPTURE(target);
            CHECK(used.contains(target));
        }
    }
}

TEST_CASE("every example of the document fits its schema", "[reference]") {
    check_examples(openapi(), "");
}

TEST_CASE("what a decoder of events refuses for its members fits no schema", "[reference]") {
    Operation const& create = operation("POST", "/v1/events");
    ExampleScene scene(create);
    auto const& schema = create.described.at("requestBody").at("content").at("application/json");
    std::string const plan = R"("import":{"format":"pretix","plan":{}})";
    std::string const section = R"("sections":[{"id":"A","capacity":5}])";
    for (auto const& [members, error] : std::map<std::string, std::string>{
             {"", "/sections required"},
             {plan + "," + section, "/sections conflict"},
             {plan + R"(,"categories":[{"key":"a"}])", "/categories conflict"},
             {R"("sections":[{"id":"A"}])", "/sections/0/rows required"},
             {R"("sections":[{"id":"A","capacity":5,"rows":[{"label":"1","seats":2}]}])",
              "/sections/0/capacity conflict"},
         }) {
        std::string const body = R"({"name":"X")" + (members.empty() ? "" : "," + members) + "}";
        CAPTURE(body);
        CHECK(scene.error(body, staff) == error);
        CHECK(lines(schemas().faults(schema.at("schema"), json::parse(body))) != "");
    }
    std::string const good = R"({"name":"X",)" + section + "}";
    CHECK(scene.error(good, staff) == "");
    CHECK(lines(schemas().faults(schema.at("schema"), json::parse(good))) == "");
}

}  // namespace holdfast::test
