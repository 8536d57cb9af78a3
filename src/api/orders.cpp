// POST /v1/orders: holds become an order.
#include "api/orders.hpp"

#include "api/authorization.hpp"
#include "api/json_writer.hpp"
#include "api/keyed.hpp"
#include "api/order_decoder.hpp"
#include "api/order_lists.hpp"
#include "api/problems.hpp"
#include "api/read_point.hpp"

#include <holdfast/http/problem.hpp>

#include <optional>

namespace holdfast::api {
namespace {

using engine::HoldName;
using engine::LiveEvent;
using http::Reply;
using http::Request;
using Scheme = Credentials::Scheme;

/// A hold of the order with what the tickets need: its places as they are read, and then as they
/// were sold, for it may have been exchanged in between.
struct Part {
    LiveEvent const* event{};
    std::vector<SeatIndex> seats;
};

struct Wanted {
    std::vector<HoldName> holds;
    std::vector<Part> parts;
};

/// The body, and credentials for every hold of it; else the answer is written.
bool decode(Context const& context, Request const& request, Reply& reply, JsonReader& reader,
            OrderBody& order) {
    Credentials const credentials = credentials_of(request);
    bool const staff = is_operator(credentials, context.admin_token);
    if (!staff && credentials.scheme != Scheme::none && credentials.scheme != Scheme::hold) {
        write_unauthenticated(reply, request, "Hold");
        return false;
    }
    Input<JsonValue> const body = reader.read_object(request.body);
    if (!body) {
        write_input_error(reply, request, body.error());
        return false;
    }
    DecodeState state;
    decode_order(*body, state, order);
    if (credentials.scheme == Scheme::none && !order.has_tokens) {
        write_unauthenticated(reply, request, "Hold");
        return false;
    }
    if (state.failed()) write_input_error(reply, request, state.error());
    return !state.failed();
}

/// A hold that is missing, malformed or proved by the wrong token is 404 alike; one without any
/// token is 401.
bool find_holds(Context const& context, Request const& request, Reply& reply,
                OrderBody const& order, Wanted& wanted) {
    Credentials const credentials = credentials_of(request);
    bool const staff = is_operator(credentials, context.admin_token);
    for (OrderBody::Hold const& hold : order.holds) {
        bool const proved = staff || !hold.token.empty() || credentials.scheme == Scheme::hold;
        if (!proved) {
            write_unauthenticated(reply, request, "Hold");
            return false;
        }
    }
    for (OrderBody::Hold const& hold : order.holds) {
        std::string_view const token = hold.token.empty() ? credentials.token : hold.token;
        auto const name = context.key.parse_hold_id(hold.id);
        bool const fits = name && (staff || context.key.token_fits(*name, token));
        LiveEvent const* const event = fits ? context.engine.find(name->event) : nullptr;
        if (event == nullptr) {
            write_not_found(reply, request);
            return false;
        }
        wanted.holds.push_back(*name);
        wanted.parts.push_back({event, {}});
    }
    return true;
}

/// The token that proved the first hold: whoever has it is the same buyer.
std::string_view proof_of(Request const& request, OrderBody const& order) {
    std::string_view const own = order.holds.front().token;
    return own.empty() ? credentials_of(request).token : own;
}

std::optional<InputError> rules_of_events(std::span<Part const> parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        EventSpec const& spec = parts[i].event->spec();
        if (!spec.policy.payment_methods.none) {
            return InputError{422, "/payment/method", "not-accepted"};
        }
        if (spec.currency != parts.front().event->spec().currency) {
            return InputError{422, "/holds/" + std::to_string(i), "other-currency"};
        }
    }
    return std::nullopt;
}

void append_tickets(std::string& out, Context const& context, OrderId const& order,
                    std::span<Part const> parts) {
    append_name(out, "tickets");
    out += '[';
    for (Part const& part : parts) {
        EventSpec const& spec = part.event->spec();
        for (SeatIndex const seat : part.seats) {
            append_separator(out);
            out += "{\"ticket\":";
            append_plain(out, engine::to_text(context.key.ticket_id(order, spec.id, seat)));
            if (part.event != parts.front().event) {
                append_name(out, "event");
                append_plain(out, spec.slug);
            }
            std::string_view const name = spec.layout.name_of(seat);
            append_name(out, name.empty() ? "section" : "seat");
            auto const section = spec.layout.section_of(seat).value();
            http::append_json_string(out, name.empty() ? spec.layout.sections()[section].id : name);
            out += '}';
        }
    }
    out += ']';
}

void refuse_order(Context const& context, Request const& request, Reply& reply,
                  Refusal const& refusal, std::span<Part const> parts, std::size_t decisive = 0) {
    RefusalDetails details;
    details.spec = &parts[decisive].event->spec();
    // Without a time the engine had no look at the hold, and the seats are not its seats.
    if (refusal.code == RefusalCode::hold_expired && refusal.at != TimePoint{})
        details.seats = parts[decisive].seats;
    if (refusal.code == RefusalCode::user_limit) {
        std::uint64_t have = 0;
        for (Part const& part : parts) have += part.seats.size();
        details.have = have;
    }
    write_refusal(reply, request, refusal, details);
    wait_for_order(context, refusal, reply);
}

/// 201, also when it is answered again. `parts`: of each hold, as they were sold.
void answer_order(Context const& context, Reply& reply, OrderId const& order, TimePoint created_at,
                  std::int64_t total, std::span<Part const> parts) {
    EventSpec const& spec = parts.front().event->spec();
    std::string const id = engine::to_text(order);
    reply.status = 201;
    reply.headers.append("Location: /v1/orders/").append(id).append("\r\n");
    std::string& out = reply.body;
    out += '{';
    append_name(out, "order");
    append_plain(out, id);
    append_name(out, "state");
    append_plain(out, "confirmed");
    append_name(out, "event");
    append_plain(out, spec.slug);
    append_tickets(out, context, order, parts);
    append_name(out, "total");
    append_integer(out, total);
    append_name(out, "currency");
    http::append_json_string(out, spec.currency);
    append_name(out, "created_at");
    append_time(out, created_at);
    append_name(out, "payment");
    out += "{\"method\":\"none\"}}";
}

void order_again(Context const& context, Request const& request, Reply& reply,
                 engine::OrderAnswer const& first) {
    std::vector<Part> parts;
    for (auto const& part : first.parts) {
        LiveEvent const* const event = context.engine.find(part.event);
        if (event == nullptr) return write_not_found(reply, request);
        parts.push_back({event, part.seats});
    }
    answer_order(context, reply, first.order, first.created_at, first.total, parts);
}

void create_order(Context& context, Request const& request, Reply& reply) {
    thread_local JsonReader reader;
    OrderBody body;
    Wanted wanted;
    if (!decode(context, request, reply, reader, body)) return;
    if (!find_holds(context, request, reply, body, wanted)) return;
    Keyed keyed(context, request, reply, proof_of(request, body));
    if (auto const* const first = keyed.again<engine::OrderAnswer>())
        return order_again(context, request, reply, *first);
    if (keyed.answered()) return;
    if (auto const error = rules_of_events(wanted.parts)) {
        write_input_error(reply, request, *error);
        return;
    }
    TimePoint const now = request.received_at;
    for (std::size_t i = 0; i < wanted.holds.size(); ++i) {
        // What cannot be read cannot be confirmed either: reading ends what is past its deadline.
        auto const hold = context.engine.read(wanted.holds[i], now, wanted.parts[i].seats);
        if (!hold) return refuse_order(context, request, reply, hold.error(), wanted.parts, i);
    }
    engine::ConfirmCommand command;
    command.order = engine::make_order_id();
    command.holds = wanted.holds;
    command.method = body.method;
    command.mark = keyed.mark();
    Result<engine::PlacedOrder> const placed = context.engine.confirm(command, now);
    if (!placed) {
        refuse_order(context, request, reply, placed.error(), wanted.parts);
        return;
    }
    reply.lsn = placed->lsn;  // first: whatever fails from here on, it has happened
    for (std::size_t i = 0; i < wanted.parts.size(); ++i) wanted.parts[i].seats = placed->seats[i];
    answer_order(context, reply, command.order, placed->created_at, placed->total, wanted.parts);
}

}  // namespace

void add_order_routes(std::vector<http::Route>& routes, Context& context) {
    routes.push_back({http::Method::post, "/v1/orders", http::RunsOn::io,
                      [&context](Request const& request, Reply& reply) {
                          create_order(context, request, reply);
                      },
                      "Make one order of one or more holds", limits::body_bytes_max});
    routes.back().unlimited = true;
    add_order_list_routes(routes, context);
}

}  // namespace holdfast::api
