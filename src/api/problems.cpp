#include "api/problems.hpp"

#include "api/json_writer.hpp"
#include "api/timestamp.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/engine/server_key.hpp>
#include <holdfast/http/problem.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace holdfast::api {
namespace {

constexpr std::size_t echoed_bytes_max = 64;

struct Row {
    RefusalCode code;
    unsigned status;
    std::string_view slug;
    std::string_view title;
    std::string_view detail;
    bool retryable;
    unsigned retry_after_s;
};

// `retryable` only where the same request, unchanged, can succeed later. A sold-out sale is an open
// one: places come back when holds end and orders are cancelled, and the kept verdict of the engine
// does not know whether any are held. Of named seats the caller has looked (RefusalDetails).
constexpr std::array rows{
    Row{RefusalCode::not_found, 404, "not-found", "Not found",
        "There is no such thing, or it is not yours.", false, 0},
    Row{RefusalCode::unauthenticated, 401, "unauthenticated", "Credentials are needed",
        "The request carries no credentials that are valid here.", false, 0},
    Row{RefusalCode::forbidden, 403, "forbidden", "Not allowed",
        "These credentials do not allow this.", false, 0},
    Row{RefusalCode::sale_not_open, 403, "sale-not-open", "The sale is not open", "", true, 0},
    Row{RefusalCode::sale_closed, 403, "sale-closed", "The sale is closed", "", false, 0},
    Row{RefusalCode::seats_unavailable, 409, "seats-unavailable", "Seats are not available",
        "Nothing was taken.", false, 0},
    Row{RefusalCode::inseparable_group, 422, "inseparable-group",
        "These seats are sold together only", "Nothing was changed.", false, 0},
    Row{RefusalCode::orphan_seat, 409, "orphan-seat", "A single seat would be left over",
        "Nothing was taken; the alternatives leave none.", false, 0},
    Row{RefusalCode::sold_out, 409, "sold-out", "Not enough places are left", "Nothing was taken.",
        true, 0},
    Row{RefusalCode::best_available_not_found, 404, "best-available-not-found",
        "No such block of seats is free", "Enough places are free, but they do not fit.", false, 0},
    Row{RefusalCode::user_limit, 409, "user-limit", "Over the limit for one buyer", "", false, 0},
    Row{RefusalCode::hold_budget, 429, "hold-budget", "Held too much without buying",
        "Nothing was taken.", false, 0},
    Row{RefusalCode::extension_refused, 409, "extension-refused", "The hold cannot be extended", "",
        false, 0},
    Row{RefusalCode::hold_expired, 410, "hold-expired", "The hold has ended",
        "It has expired, or its order was cancelled or refunded; its seats are free again.", false,
        0},
    Row{RefusalCode::already_confirmed, 409, "already-confirmed", "The hold is an order already",
        "", false, 0},
    Row{RefusalCode::already_released, 409, "already-released", "It was given back already", "",
        false, 0},
    Row{RefusalCode::already_exists, 409, "already-exists", "The id is in use", "", false, 0},
    Row{RefusalCode::illegal_transition, 409, "illegal-transition", "Not possible in this state",
        "", false, 0},
    Row{RefusalCode::in_flight, 409, "in-flight", "The first request with this key is under way",
        "Ask again in a moment for its answer.", true, 1},
    Row{RefusalCode::idempotency_mismatch, 422, "idempotency-mismatch",
        "The key belongs to another request",
        "A new request needs a new Idempotency-Key; nothing was done.", false, 0},
    Row{RefusalCode::busy, 503, "busy", "Busy", "Too many requests want the same thing; try again.",
        true, 1},
    Row{RefusalCode::overloaded, 503, "overloaded", "Overloaded",
        "The server takes no more work at the moment; nothing happened.", true, 1},
    Row{RefusalCode::read_only, 503, "read-only", "The server is read-only",
        "The journal cannot be written; nothing happened.", true, 5},
    Row{RefusalCode::durability_lost, 503, "durability-lost", "The result is unknown",
        "The journal failed while this was written; it may have happened or not.", true, 0},
};

// The table is indexed by the code: in order and complete.
constexpr bool rows_in_order() {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (static_cast<std::size_t>(rows[i].code) != i) return false;
    }
    return rows.size() == static_cast<std::size_t>(RefusalCode::durability_lost) + 1;
}
static_assert(rows_in_order());

std::string_view detail_of(ReadOnlyReason reason, std::string_view usual) {
    switch (reason) {
        case ReadOnlyReason::none:
            break;
        case ReadOnlyReason::space:
            return "The disk of the journal has no room for more; nothing happened. It goes on "
                   "when "
                   "there is some.";
        case ReadOnlyReason::journal_full:
            return "The journal is as large as it may be, as nothing of it can be deleted; nothing "
                   "happened.";
        case ReadOnlyReason::journal_failed:
            return "Writing the journal has failed, until the server is restarted; nothing "
                   "happened.";
        case ReadOnlyReason::catalogue:
            return "The catalogue of events cannot be written. Once it can, a repeat with the same "
                   "key tells whether this event was made.";
    }
    return usual;
}

std::string_view to_text(SeatReason reason) {
    switch (reason) {
        case SeatReason::none:
            break;
        case SeatReason::held:
            return "held";
        case SeatReason::sold:
            return "sold";
        case SeatReason::blocked:
            return "blocked";
        case SeatReason::not_for_sale:
            return "not-for-sale";
        case SeatReason::cooling_down:
            return "cooling-down";
    }
    // A seat that was taken and is free again by the time it is described.
    return "held";
}

std::string_view to_text(LimitKind limit) {
    switch (limit) {
        case LimitKind::order:
            return "order";
        case LimitKind::places:
            return "places";
        case LimitKind::open_holds:
            return "open-holds";
    }
    return "places";
}

/// A refusal says "unknown" as no_deadline, or leaves its time as it was made.
bool unknown(TimePoint at) {
    return at == no_deadline || at == TimePoint{};
}

/// Extras go on in an object that has members already.
void append_member(std::string& out, std::string_view name) {
    out.append(",\"").append(name).append("\":");
}
void append_time_member(std::string& out, std::string_view name, TimePoint at,
                        std::int32_t offset = 0) {
    append_member(out, name);
    append_time(out, at, offset);
}
void append_number(std::string& out, std::string_view name, std::int64_t number) {
    append_member(out, name);
    append_integer(out, number);
}

void append_refused(std::string& out, Refusal const& refusal, RefusalDetails const& details) {
    RefusedSeat const own{refusal.seat, refusal.seat_reason};
    std::span<RefusedSeat const> refused = details.refused;
    if (refused.empty()) refused = {&own, 1};
    append_member(out, "refused");
    out += '[';
    for (auto const& [seat, reason] : refused) {
        if (details.spec == nullptr) break;
        append_separator(out);
        Layout const& layout = details.spec->layout;
        bool const labelled = seat.value() < layout.labelled_count();
        out += labelled ? "{\"seat\":" : "{\"section\":";
        http::append_json_string(out, labelled
                                          ? layout.name_of(seat)
                                          : layout.sections()[layout.section_of(seat).value()].id);
        out.append(",\"reason\":\"").append(to_text(reason)).append("\"}");
    }
    out += ']';
    if (details.refused_count > refused.size())
        append_number(out, "refused_count", static_cast<std::int64_t>(details.refused_count));
}

void append_seats(std::string& out, std::span<SeatIndex const> seats,
                  RefusalDetails const& details) {
    out += '[';
    for (SeatIndex const seat : seats) {
        std::string_view const name =
            details.spec != nullptr ? details.spec->layout.name_of(seat) : std::string_view{};
        if (name.empty()) continue;  // a general place
        append_separator(out);
        http::append_json_string(out, name);
    }
    out += ']';
}

void append_group(std::string& out, Refusal const& refusal, RefusalDetails const& details) {
    std::vector<SeatIndex> seats;
    if (details.spec != nullptr) {
        SeatGroup const group = details.spec->layout.group_of(refusal.seat);
        for (std::uint32_t i = 0; i < group.count; ++i) seats.emplace_back(group.first.value() + i);
    }
    append_member(out, "seats");
    append_seats(out, seats, details);
}

void append_orphans(std::string& out, RefusalDetails const& details) {
    append_member(out, "orphans");
    append_seats(out, details.orphans, details);
    append_member(out, "alternatives");
    out += '[';
    for (std::vector<SeatIndex> const& seats : details.alternatives) {
        append_separator(out);
        append_seats(out, seats, details);
    }
    out += ']';
}

void append_sale_times(std::string& out, Refusal const& refusal, RefusalDetails const& details,
                       TimePoint now) {
    bool const opening = refusal.code == RefusalCode::sale_not_open;
    std::optional<ZonedTime> zoned;
    if (details.spec != nullptr) zoned = opening ? details.spec->opens_at : details.spec->closes_at;
    std::int32_t const offset = zoned ? zoned->offset_minutes : 0;
    append_time_member(out, opening ? "opens_at" : "closed_at", refusal.at, offset);
    if (!opening) return;
    if (unknown(refusal.at)) {
        append_member(out, "opens_in_s");
        out += "null";
    } else {
        append_number(out, "opens_in_s", static_cast<std::uint64_t>(seconds_left(refusal.at, now)));
    }
}

std::string_view transition_text(std::uint8_t state) {
    if (state <= held_as_base) return to_string(static_cast<EventState>(state));
    switch (static_cast<HeldAs>(state - held_as_base)) {
        case HeldAs::held:
            return "held";
        case HeldAs::sold:
            return "sold";
        case HeldAs::blocked:
            break;
    }
    return "blocked";
}

void append_transition(std::string& out, Refusal const& refusal) {
    append_member(out, "from");
    http::append_json_string(out, transition_text(refusal.from));
    append_member(out, "to");
    http::append_json_string(out, transition_text(refusal.to));
}

/// `reason` budget: all of it is spent. cool-down: of one seat, which is free for others.
void append_budget(std::string& out, Refusal const& refusal, RefusalDetails const& details) {
    append_member(out, "reason");
    if (refusal.seat_reason == SeatReason::cooling_down) {
        out += "\"cool-down\"";
        append_refused(out, refusal, details);
    } else {
        out += "\"budget\"";
        append_number(out, "budget_s", refusal.number);
    }
}

std::string extras_of(Refusal const& refusal, RefusalDetails const& details, TimePoint now) {
    std::string out;
    switch (refusal.code) {
        case RefusalCode::sale_not_open:
        case RefusalCode::sale_closed:
            append_sale_times(out, refusal, details, now);
            break;
        case RefusalCode::seats_unavailable:
            append_refused(out, refusal, details);
            break;
        case RefusalCode::inseparable_group:
            append_group(out, refusal, details);
            break;
        case RefusalCode::orphan_seat:
            append_orphans(out, details);
            break;
        case RefusalCode::sold_out:
            append_member(out, "section");
            if (details.section.empty()) {
                out += "null";
            } else {
                http::append_json_string(out, details.section);
            }
            append_number(out, "left", refusal.number);
            break;
        case RefusalCode::best_available_not_found:
            append_number(out, "largest_block", refusal.number);
            break;
        case RefusalCode::user_limit:
            append_number(out, "limit", refusal.number);
            append_number(out, "have",
                          static_cast<std::int64_t>(details.have.value_or(refusal.have)));
            append_member(out, "of");
            http::append_json_string(out, to_text(refusal.limit));
            break;
        case RefusalCode::hold_budget:
            append_budget(out, refusal, details);
            break;
        case RefusalCode::extension_refused:
            append_member(out, "reason");
            out += refusal.extension_reason == ExtensionReason::max_life ? "\"max-life\""
                                                                         : "\"used-up\"";
            break;
        case RefusalCode::hold_expired:
            // A hold that was ended before leaves no trace of when, nor of its seats.
            if (unknown(refusal.at)) break;
            append_time_member(out, "expired_at", refusal.at);
            append_member(out, "seats");
            append_seats(out, details.seats, details);
            break;
        case RefusalCode::already_confirmed:
            append_member(out, "order");
            http::append_json_string(out, engine::to_text(refusal.order));
            break;
        case RefusalCode::illegal_transition:
            append_transition(out, refusal);
            break;
        default:
            break;
    }
    return out;
}

void append_error(std::string& out, std::string_view pointer, std::string_view code,
                  std::string_view more) {
    append_separator(out);
    out += "{\"pointer\":";
    http::append_json_string(out, pointer);
    out.append(",\"code\":\"").append(code).append("\"").append(more).append("}");
}

std::string errors_text(InputError const& error) {
    std::string out;
    append_member(out, "errors");
    out += '[';
    append_error(out, error.pointer, error.code, error.more);
    if (!error.unknown.empty()) append_error(out, error.unknown, "unknown-field", {});
    out += ']';
    return out;
}

http::Problem problem_of(Row const& row) {
    http::Problem problem;
    problem.status = row.status;
    problem.slug = row.slug;
    problem.title = row.title;
    problem.detail = row.detail;
    return problem;
}

}  // namespace

std::optional<RefusalCode> code_named(std::string_view slug) noexcept {
    auto const row = std::ranges::find(rows, slug, &Row::slug);
    if (row == rows.end()) return std::nullopt;
    return row->code;
}

void write_refusal_again(http::Reply& reply, http::Request const& request, RefusalCode code,
                         std::string_view members) {
    http::Problem problem = problem_of(rows[static_cast<std::size_t>(code)]);
    problem.extras = members;
    http::write_problem(reply, request, problem);
}

void write_refusal(http::Reply& reply, http::Request const& request, Refusal const& refusal,
                   RefusalDetails const& details) {
    auto const number = static_cast<std::size_t>(refusal.code);
    HOLDFAST_ASSERT(number < rows.size());
    Row const& row = rows[number];
    std::string const extras = extras_of(refusal, details, request.received_at);
    http::Problem problem = problem_of(row);
    problem.retryable = row.retryable || details.retryable;
    problem.extras = extras;
    problem.retry_after_s = row.retry_after_s;
    if (refusal.code == RefusalCode::read_only)
        problem.detail = detail_of(refusal.read_only_reason, row.detail);
    if (refusal.code == RefusalCode::hold_budget) {
        auto const left = std::max<std::int64_t>(1, seconds_left(refusal.at, request.received_at));
        problem.retry_after_s = static_cast<unsigned>(left);
        problem.retryable = refusal.seat_reason == SeatReason::cooling_down;
    }
    http::write_problem(reply, request, problem);
}

void write_input_error(http::Reply& reply, http::Request const& request, InputError const& error) {
    std::string const extras = errors_text(error);
    http::Problem problem;
    problem.status = error.status;
    problem.slug = error.status == 400 ? "malformed" : "validation";
    problem.title = error.status == 400 ? "Malformed request" : "A value is not valid";
    problem.extras = extras;
    http::write_problem(reply, request, problem);
}

void write_not_found(http::Reply& reply, http::Request const& request) {
    write_refusal(reply, request, Refusal{.code = RefusalCode::not_found});
}

void write_unauthenticated(http::Reply& reply, http::Request const& request,
                           std::string_view scheme, std::string_view detail) {
    auto problem = problem_of(rows[static_cast<std::size_t>(RefusalCode::unauthenticated)]);
    if (!detail.empty()) problem.detail = detail;
    http::write_problem(reply, request, problem);
    reply.add_header("WWW-Authenticate", scheme);
}

void write_seat_problem(http::Reply& reply, http::Request const& request, std::string_view slug,
                        std::span<std::string_view const> names, std::string_view detail) {
    std::string extras;
    append_member(extras, "seats");
    extras += '[';
    for (std::string_view const name : names) {
        append_separator(extras);
        http::append_json_string(extras, name.substr(0, echoed_bytes_max));
    }
    extras += ']';
    http::Problem problem;
    problem.status = 422;
    problem.slug = slug;
    problem.title = slug == "unknown-seat"     ? "No such seat here"
                    : slug == "duplicate-seat" ? "A seat is named twice"
                                               : "These seats are sold together only";
    problem.detail = detail;
    problem.extras = extras;
    http::write_problem(reply, request, problem);
}

}  // namespace holdfast::api
