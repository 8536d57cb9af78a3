#include "api/event_body.hpp"

#include "api/event_sections.hpp"
#include "api/json_decoder.hpp"
#include "api/json_writer.hpp"
#include "api/times.hpp"

#include <holdfast/base/crc32c.hpp>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace holdfast::api {
namespace {

using std::chrono::duration_cast;
using std::chrono::seconds;
using namespace std::string_view_literals;

constexpr std::size_t zone_bytes_max = 64;

// Told with an error.
constexpr std::array orphan_rules{"off"sv, "lenient"sv, "strict"sv};
constexpr std::array plan_formats{"pretix"sv, "seatsio"sv};
constexpr std::string_view with_max_per_user = ",\"with\":\"/policy/max_per_user\"";
constexpr std::string_view slug_pattern = ",\"pattern\":\"^[a-z0-9][a-z0-9-]{0,63}$\"";

std::string clean_text(ObjectDecoder& object, DecodeState& state, std::string_view key,
                       bool needed) {
    std::string_view text;
    if (needed) {
        text = object.text(key, limits::name_bytes_max);
    } else {
        text = object.optional_text(key, limits::name_bytes_max).value_or(std::string_view{});
    }
    if (!is_clean_text(text)) state.fail(object.pointer_to(key), "control-character");
    return std::string{text};
}

std::optional<ZonedTime> decode_time(ObjectDecoder& object, DecodeState& state,
                                     std::string_view key, std::string const& zone) {
    auto const value = object.take_nullable(key);
    if (!value || state.failed()) return std::nullopt;
    auto const text = state.text(*value, zone_bytes_max);
    if (state.failed()) return std::nullopt;
    auto const time = parse_time(text, zone);
    if (time) return *time;
    state.fail(*value, to_string(time.error()));
    return std::nullopt;
}

void decode_times(ObjectDecoder& body, DecodeState& state, EventSpec& spec) {
    if (auto const zone = body.optional_text("time_zone", zone_bytes_max)) {
        spec.time_zone = *zone;
        if (!time_zone_exists(spec.time_zone)) {
            state.fail(body.pointer_to("time_zone"), "unknown-time-zone");
        }
    }
    // Also after an error: what stands there is known (json_decoder.hpp).
    spec.starts_at = decode_time(body, state, "starts_at", spec.time_zone);
    auto const value = body.take("sale");
    if (!value) return;
    ObjectDecoder sale(*value, state);
    spec.opens_at = decode_time(sale, state, "opens_at", spec.time_zone);
    spec.closes_at = decode_time(sale, state, "closes_at", spec.time_zone);
    if (spec.opens_at && spec.closes_at && spec.closes_at->at <= spec.opens_at->at) {
        std::string more = ",\"after\":";
        append_time(more, spec.opens_at->at, spec.opens_at->offset_minutes);
        state.fail(InputError{422, sale.pointer_to("closes_at"), "range", std::move(more)});
    }
    sale.finish();
}

void decode_payment_methods(ObjectDecoder& policy, DecodeState& state, PaymentMethods& methods) {
    auto const list = policy.take("payment_methods");
    if (!list || !state.array(*list, {1, 3})) return;
    methods = {false, false, false};
    for (JsonValue const item : *list) {
        auto const name = state.text(item, limits::name_bytes_max);
        if (name == "wallet" || name == "external") {
            state.fail(item, "unsupported");
        } else if (name != "none") {
            state.fail(item, "value");
        } else if (std::exchange(methods.none, true)) {
            state.fail(item, "duplicate");
        }
    }
}

void decode_orphan_rule(ObjectDecoder& policy, DecodeState& state, OrphanRule& rule) {
    auto const name = policy.optional_text("orphan_rule", limits::name_bytes_max);
    if (!name) return;
    for (auto const known : {OrphanRule::off, OrphanRule::lenient, OrphanRule::strict}) {
        if (*name != to_string(known)) continue;
        rule = known;
        return;
    }
    state.fail(value_error(policy.pointer_to("orphan_rule"), orphan_rules));
}

/// Milliseconds of an optional number of seconds in that range.
Milliseconds decode_seconds(ObjectDecoder& policy, std::string_view key, Milliseconds standard,
                            std::pair<Milliseconds, Milliseconds> range) {
    auto const in_seconds = [](Milliseconds time) { return duration_cast<seconds>(time).count(); };
    auto const value =
        policy.optional_integer(key, {in_seconds(range.first), in_seconds(range.second)});
    return value ? Milliseconds{seconds{*value}} : standard;
}

void decode_limits(ObjectDecoder& policy, EventPolicy& made) {
    auto const count = [&policy](std::string_view key, IntegerRange range, std::uint32_t standard) {
        auto const value = policy.optional_integer(key, range);
        return value ? static_cast<std::uint32_t>(*value) : standard;
    };
    made.max_extensions = count("max_extensions", {0, limits::extensions_max}, made.max_extensions);
    made.max_per_order =
        count("max_per_order", {1, limits::seats_per_order_max}, made.max_per_order);
}

void decode_account_limits(ObjectDecoder& policy, DecodeState& state, EventPolicy& made) {
    auto const limit = [&](std::string_view key, std::int64_t most) {
        std::optional<std::uint32_t> read;
        if (auto const value = policy.take_nullable(key))
            read = static_cast<std::uint32_t>(state.integer(*value, {1, most}));
        return read;
    };
    made.max_per_user = limit("max_per_user", limits::places_per_event_max);
    made.max_open_holds_per_user = limit("max_open_holds_per_user", limits::open_holds_max);
    made.hold_seconds_budget = limit("hold_seconds_budget", limits::hold_seconds_max);
    made.rehold_cooldown =
        duration_cast<seconds>(decode_seconds(policy, "rehold_cooldown_s", made.rehold_cooldown,
                                              {Milliseconds{0}, limits::rehold_cooldown_highest}));
}

void decode_policy(ObjectDecoder& body, DecodeState& state, EventPolicy& made,
                   EventBodyRules const& rules) {
    auto const value = body.take("policy");
    if (!value) return;
    ObjectDecoder policy(*value, state);
    made.hold_ttl = decode_seconds(policy, "hold_ttl_s", made.hold_ttl,
                                   {rules.hold_ttl_min, limits::hold_ttl_highest});
    // A life that is not given is never shorter than one hold.
    made.hold_max_life =
        decode_seconds(policy, "hold_max_life_s", std::max(made.hold_max_life, made.hold_ttl),
                       {made.hold_ttl, limits::hold_life_highest});
    decode_limits(policy, made);
    decode_account_limits(policy, state, made);
    decode_orphan_rule(policy, state, made.orphan_rule);
    if (auto const share = policy.optional_integer("orphan_endgame_pct", {0, 100})) {
        made.orphan_endgame_pct = static_cast<std::uint32_t>(*share);
    }
    // Guests cannot be counted, so a limit for each user shuts them out.
    made.guest = policy.optional_boolean("guest").value_or(!made.max_per_user.has_value());
    if (made.guest && made.max_per_user) {
        std::string more(with_max_per_user);
        state.fail(InputError{422, policy.pointer_to("guest"), "conflict", std::move(more)});
    }
    made.honour_open_holds =
        policy.optional_boolean("honour_open_holds").value_or(made.honour_open_holds);
    decode_payment_methods(policy, state, made.payment_methods);
    policy.finish();
}

void decode_currency(ObjectDecoder& body, DecodeState& state, std::string& currency) {
    auto const code = body.optional_text("currency", limits::name_bytes_max);
    if (!code) return;
    bool const is_code = code->size() == 3 &&
                         std::ranges::all_of(*code, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!is_code) state.fail(body.pointer_to("currency"), "value");
    currency = *code;
}

void decode_slug(ObjectDecoder& body, DecodeState& state, EventSpec& spec) {
    auto const id = body.optional_text("id", limits::name_bytes_max);
    spec.slug = id ? std::string{*id} : slug_from_name(spec.name);
    if (id && !is_slug(*id)) {
        std::string more(slug_pattern);
        state.fail(InputError{422, body.pointer_to("id"), "id", std::move(more)});
    }
}

std::map<std::string, std::int64_t> decode_prices(ObjectDecoder& import, DecodeState& state) {
    std::map<std::string, std::int64_t> prices;
    auto const value = import.take("prices");
    if (!value || !state.object(*value)) return prices;
    for (JsonValue const price : *value) {
        prices.emplace(price.key(), state.integer(price, {0, limits::price_max}));
    }
    return prices;
}

void decode_import(JsonValue value, DecodeState& state, EventBody& body) {
    ObjectDecoder import(value, state);
    services::ImportRequest request;
    auto const format = services::parse_plan_format(import.text("format", 64));
    if (!format) state.fail(value_error(import.pointer_to("format"), plan_formats));
    request.disambiguate = import.optional_boolean("disambiguate").value_or(false);
    request.prices = decode_prices(import, state);
    auto const plan = import.take_required("plan");
    import.finish();
    if (state.failed()) return;
    request.format = *format;
    request.plan = plan->text();
    auto imported = services::import_plan(request);
    body.report = std::move(imported.report);
    if (imported.layout) body.spec.layout = std::move(*imported.layout);
}

void decode_layout_part(ObjectDecoder& object, DecodeState& state, EventBody& body) {
    auto const import = object.take("import");
    auto const sections = object.take("sections");
    auto const categories = object.take("categories");
    if (import) {
        if (sections) state.fail(*sections, "conflict");
        if (categories) state.fail(*categories, "conflict");
    } else if (!sections) {
        state.fail(object.pointer_to("sections"), "required");
    }
    // An unknown field is told before the layout costs anything.
    object.finish();
    if (state.failed()) return;
    if (import) {
        decode_import(*import, state, body);
    } else {
        decode_sections({*sections, categories}, state, body);
    }
}

}  // namespace

bool is_clean_text(std::string_view text) noexcept {
    return std::ranges::none_of(text, [](char c) {
        auto const byte = static_cast<unsigned char>(c);
        return byte < 0x20U || byte == 0x7FU;
    });
}

std::string slug_from_name(std::string_view name) {
    std::string slug;
    for (char const c : name) {
        char const lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        bool const plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
        if (plain) slug += lower;
        if (!plain && !slug.empty() && slug.back() != '-') slug += '-';
    }
    slug.resize(std::min(slug.size(), limits::slug_bytes_max));
    while (!slug.empty() && slug.back() == '-') slug.pop_back();
    if (!slug.empty()) return slug;
    // A name without a letter or digit of ASCII; the same name gives the same id all the same.
    return fmt::format("event-{:08x}", crc32c(std::as_bytes(std::span{name})));
}

Input<EventBody> decode_event_body(JsonReader& reader, std::string_view text,
                                   EventBodyRules const& rules) {
    auto const root = reader.read_object(text, {.raw_path = "/import/plan"});
    if (!root) return root.error();
    DecodeState state;
    EventBody body;
    ObjectDecoder object(*root, state);
    auto& spec = body.spec;
    spec.name = clean_text(object, state, "name", true);
    spec.venue = clean_text(object, state, "venue", false);
    decode_slug(object, state, spec);
    decode_times(object, state, spec);
    decode_currency(object, state, spec.currency);
    // What is created is meant to be sold; a draft is asked for (API.md "Shapes").
    spec.publish = object.optional_boolean("publish").value_or(true);
    decode_policy(object, state, spec.policy, rules);
    decode_layout_part(object, state, body);
    // Nobody could ever claim such a group.
    if (spec.layout.largest_group() > spec.policy.max_per_order)
        state.fail("/policy/max_per_order", "group-too-large");
    if (state.failed()) return state.error();
    return body;
}

}  // namespace holdfast::api
