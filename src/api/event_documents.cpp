#include "api/event_documents.hpp"

#include "api/event_members.hpp"
#include "api/json_writer.hpp"

#include <holdfast/http/problem.hpp>

namespace holdfast::api {
namespace {

void append_time_member(std::string& out, std::string_view name,
                        std::optional<ZonedTime> const& time) {
    append_name(out, name);
    if (time) {
        append_time(out, time->at, time->offset_minutes);
    } else {
        out += "null";
    }
}

std::int64_t in_seconds(Milliseconds time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

void append_limit(std::string& out, std::string_view name, std::optional<std::uint32_t> limit) {
    append_name(out, name);
    if (limit) {
        append_integer(out, *limit);
    } else {
        out += "null";
    }
}

void append_policy(std::string& out, EventPolicy const& policy) {
    append_name(out, "policy");
    out += '{';
    append_integer_member(out, "hold_ttl_s", in_seconds(policy.hold_ttl));
    append_integer_member(out, "hold_max_life_s", in_seconds(policy.hold_max_life));
    append_integer_member(out, "max_extensions", policy.max_extensions);
    append_integer_member(out, "max_per_order", policy.max_per_order);
    append_limit(out, "max_per_user", policy.max_per_user);
    append_limit(out, "max_open_holds_per_user", policy.max_open_holds_per_user);
    append_limit(out, "hold_seconds_budget", policy.hold_seconds_budget);
    append_integer_member(out, "rehold_cooldown_s", policy.rehold_cooldown.count());
    append_text_member(out, "orphan_rule", to_string(policy.orphan_rule));
    append_integer_member(out, "orphan_endgame_pct", policy.orphan_endgame_pct);
    append_bool_member(out, "guest", policy.guest);
    append_bool_member(out, "honour_open_holds", policy.honour_open_holds);
    // An event of an older store may allow only methods that no order is taken by.
    out += policy.payment_methods.none ? ",\"payment_methods\":[\"none\"]}"
                                       : ",\"payment_methods\":[]}";
}

void append_summary_members(std::string& out, engine::LiveEvent const& event, TimePoint now) {
    auto const& spec = event.spec();
    append_text_member(out, "id", spec.slug);
    append_text_member(out, "event", spec.slug);
    append_text_member(out, "name", spec.name);
    append_text_member(out, "venue", spec.venue);
    append_text_member(out, "state", to_string(event.state(now)));
    append_text_member(out, "time_zone", spec.time_zone);
    append_time_member(out, "starts_at", spec.starts_at);
    append_text_member(out, "currency", spec.currency);
    append_name(out, "sale");
    out += '{';
    append_time_member(out, "opens_at", spec.opens_at);
    append_time_member(out, "closes_at", spec.closes_at);
    out += '}';
    append_integer_member(out, "capacity", spec.layout.place_count());
}

void append_counts(std::string& out, engine::SectionCount const& count) {
    append_integer_member(out, "free", count.free);
    append_integer_member(out, "held", count.held);
    append_integer_member(out, "sold", count.sold);
    append_integer_member(out, "blocked", count.blocked);
}

void append_base64(std::string& out, std::vector<std::uint8_t> const& bytes) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        auto const left = bytes.size() - i;
        std::uint32_t const triple = std::uint32_t{bytes[i]} << 16U |
                                     (left > 1 ? std::uint32_t{bytes[i + 1]} << 8U : 0U) |
                                     (left > 2 ? std::uint32_t{bytes[i + 2]} : 0U);
        out += alphabet[triple >> 18U];
        out += alphabet[triple >> 12U & 63U];
        out += left > 1 ? alphabet[triple >> 6U & 63U] : '=';
        out += left > 2 ? alphabet[triple & 63U] : '=';
    }
}

void append_lint_items(std::string& out, std::string_view name,
                       std::vector<services::LintItem> const& items) {
    append_name(out, name);
    out += '[';
    for (auto const& item : items) {
        append_separator(out);
        out += '{';
        append_text_member(out, "code", item.code);
        append_text_member(out, "where", item.where);
        append_text_member(out, "detail", item.detail);
        out += '}';
    }
    out += ']';
}

}  // namespace

void append_event_summary(std::string& out, engine::LiveEvent const& event, TimePoint now) {
    out += '{';
    append_summary_members(out, event, now);
    out += '}';
}

std::string event_document(engine::LiveEvent const& event, TimePoint now) {
    auto const& layout = event.spec().layout;
    std::string out{"{"};
    append_summary_members(out, event, now);
    append_policy(out, event.spec().policy);
    append_categories(out, layout);
    append_name(out, "availability");
    out += '[';
    for (auto const& count : event.availability(now)) {
        append_separator(out);
        out += '{';
        append_text_member(out, "section", layout.sections()[count.section.value()].id);
        append_integer_member(out, "capacity", count.capacity);
        append_counts(out, count);
        out += '}';
    }
    out += "]}";
    return out;
}

void append_general(std::string& out, engine::LiveEvent const& event,
                    std::vector<engine::SectionCount> const& counts) {
    append_name(out, "general");
    out += '[';
    for (auto const& count : counts) {
        append_separator(out);
        out += '{';
        append_text_member(out, "section",
                           event.spec().layout.sections()[count.section.value()].id);
        append_counts(out, count);
        out += '}';
    }
    out += ']';
}

std::string state_document(engine::LiveEvent const& event, engine::SeatStates const& states,
                           std::uint64_t number) {
    std::string out{"{"};
    append_integer_member(out, "seq", static_cast<std::int64_t>(number));
    append_name(out, "seats");
    out += '"';
    append_base64(out, states.seats);
    out += '"';
    append_general(out, event, states.general);
    out += '}';
    return out;
}

void append_lint_report(std::string& out, services::LintReport const& report) {
    out += '{';
    append_lint_items(out, "errors", report.errors);
    append_lint_items(out, "warnings", report.warnings);
    append_integer_member(out, "error_count", static_cast<std::int64_t>(report.error_count));
    append_integer_member(out, "warning_count", static_cast<std::int64_t>(report.warning_count));
    append_name(out, "counts");
    out += '{';
    append_integer_member(out, "sections", report.sections);
    append_integer_member(out, "rows", report.rows);
    append_integer_member(out, "seats", report.seats);
    append_integer_member(out, "general_places", report.general_places);
    append_integer_member(out, "categories", report.categories);
    out += "}}";
}

}  // namespace holdfast::api
