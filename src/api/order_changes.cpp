#include "api/order_changes.hpp"

#include "api/authorization.hpp"
#include "api/empty_body.hpp"
#include "api/json_decoder.hpp"
#include "api/keyed.hpp"
#include "api/order_pictures.hpp"
#include "api/order_reads.hpp"
#include "api/problems.hpp"
#include "api/refused_seats.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <optional>

namespace holdfast::api {
namespace {

using engine::HoldName;
using http::Reply;
using http::Request;
using store::OrderRow;
using store::TicketRow;

constexpr std::size_t ticket_id_bytes_max = 64;

std::vector<HoldName> holds_of(OrderRow const& order) {
    std::vector<HoldName> holds;
    for (auto const& [event, ref] : order.holds) holds.push_back({event, ref});
    return holds;
}

void refuse(Context const& context, Request const& request, Reply& reply, OrderRow const& order,
            Refusal const& refusal) {
    RefusalDetails details;
    engine::LiveEvent const* const event = context.engine.find(order.event);
    if (event != nullptr) details.spec = &event->spec();
    write_refusal(reply, request, refusal, details);
}

/// Right after the engine's answer: whatever fails from here on, the change is made, and others may
/// be told of it.
void note(Context const& context, OrderId const& order, Lsn changed) noexcept {
    context.changed_orders->note({order, changed, context.projector.applied_lsn()});
}

/// Ends the whole order.
void cancel_all(Context& context, Request const& request, Reply& reply, OrderRow order,
                engine::Mark const* mark) {
    auto const holds = holds_of(order);
    engine::MarkedChange marked{mark, {}};
    if (mark != nullptr) {
        marked.after = picture_of(order);
        marked.after.cancelled = true;
    }
    Result<Lsn> const cancelled =
        context.engine.cancel(order.order, holds, request.received_at, marked);
    if (!cancelled) {
        refuse(context, request, reply, order, cancelled.error());
        return;
    }
    note(context, order.order, *cancelled);
    reply.lsn = *cancelled;
    order.state = store::OrderState::cancelled;
    append_order(reply.body, context, order);
}

void cancel_order(Context& context, Request const& request, Reply& reply, OrderRow order,
                  engine::Mark const* mark) {
    if (!has_no_fields(request, reply)) return;
    cancel_all(context, request, reply, std::move(order), mark);
}

/// The order's ticket that a body names; fails if it is not of this order or named before.
TicketRow* ticket_named(OrderRow& order, JsonValue value, DecodeState& state,
                        std::vector<TicketRow*>& named) {
    std::string_view const id = state.text(value, ticket_id_bytes_max);
    auto const found = std::ranges::find_if(order.tickets, [id](TicketRow const& ticket) {
        return engine::to_text(ticket.ticket) == id;
    });
    if (found == order.tickets.end()) {
        state.fail(value, "unknown-ticket");
        return nullptr;
    }
    if (std::ranges::find(named, &*found) != named.end()) state.fail(value, "duplicate");
    named.push_back(&*found);
    return &*found;
}

/// `{"tickets":["t_…"]}`; no such field: nothing is named.
std::vector<TicketRow*> decode_refund(JsonValue body, DecodeState& state, OrderRow& order) {
    std::vector<TicketRow*> named;
    ObjectDecoder fields(body, state);
    auto const tickets = fields.take("tickets");
    fields.finish();
    auto const most = static_cast<std::int64_t>(order.tickets.size());
    if (tickets && state.array(*tickets, {1, most}))
        for (JsonValue const value : *tickets)
            static_cast<void>(ticket_named(order, value, state, named));
    return named;
}

void refund_order(Context& context, Request const& request, Reply& reply, OrderRow order,
                  engine::Mark const* mark) {
    std::vector<TicketRow*> named;
    JsonReader reader;
    if (!request.body.empty()) {
        Input<JsonValue> const body = reader.read_object(request.body);
        if (!body) return write_input_error(reply, request, body.error());
        DecodeState state;
        named = decode_refund(*body, state, order);
        if (state.failed()) return write_input_error(reply, request, state.error());
    }
    if (named.empty()) return cancel_all(context, request, reply, std::move(order), mark);
    std::vector<engine::PlaceName> places;
    for (TicketRow const* const ticket : named) {
        // What was refunded before has no place any more; another may have it.
        if (!ticket->live)
            return refuse(context, request, reply, order, {.code = RefusalCode::already_released});
        places.push_back({ticket->event, ticket->seat});
    }
    auto const holds = holds_of(order);
    engine::RefundCommand command{order.order, holds, places, {mark, {}}, nullptr};
    // Which of the two it will be the engine finds out.
    OrderRow whole = order;
    whole.state = store::OrderState::cancelled;
    for (TicketRow* const ticket : named) {
        ticket->refunded = true;
        order.total -= ticket->price;
    }
    engine::ChangeAnswer after_all;
    if (mark != nullptr) {
        command.marked.after = picture_of(order);
        after_all = picture_of(whole);
        command.after_all = &after_all;
    }
    auto const refunded = context.engine.refund(command, request.received_at);
    if (!refunded) return refuse(context, request, reply, order, refunded.error());
    note(context, order.order, refunded->lsn);
    reply.lsn = refunded->lsn;
    append_order(reply.body, context, refunded->whole ? whole : order);
}

/// Tickets of one event of an order, and where they go.
struct Moves {
    struct Target {
        std::optional<SeatIndex> seat;
        SectionIndex section{};  // without a seat: any place of this one
    };
    engine::LiveEvent const* event{};
    std::vector<TicketRow*> tickets;
    std::vector<Target> to;
    std::vector<std::string_view> unknown;   // seats the event does not have
    std::vector<std::string_view> repeated;  // seats named twice
};

void decode_seat(JsonValue value, DecodeState& state, Layout const& layout, Moves& moves) {
    std::string_view const name = state.text(value, limits::name_bytes_max);
    if (state.failed()) return;
    auto const seat = layout.find_seat(name);
    if (!seat) return moves.unknown.push_back(name);
    bool const repeated =
        std::ranges::any_of(moves.to, [&](Moves::Target const& to) { return to.seat == seat; });
    if (repeated) moves.repeated.push_back(name);
    moves.to.push_back({seat, {}});
}

void decode_section(JsonValue value, DecodeState& state, Layout const& layout, Moves& moves) {
    auto const section = layout.find_section(state.text(value, JsonLimits::string_bytes_max));
    if (!section) return state.fail(value, "unknown-section");
    if (!layout.sections()[section->value()].general) state.fail(value, "not-general");
    moves.to.push_back({{}, *section});
}

void decode_move(Context const& context, JsonValue value, DecodeState& state, OrderRow& order,
                 Moves& moves) {
    ObjectDecoder fields(value, state);
    auto const ticket = fields.take_required("ticket");
    auto const seat = fields.take("to");
    auto const section = fields.take("section");
    fields.finish();
    if (seat.has_value() == section.has_value()) state.fail(value, "one-of-to-section");
    if (state.failed()) return;
    TicketRow const* const found = ticket_named(order, *ticket, state, moves.tickets);
    if (found == nullptr) return;
    engine::LiveEvent const* const event = context.engine.find(found->event);
    HOLDFAST_ASSERT(event != nullptr);  // a start with tickets of another is refused
    if (moves.event == nullptr) moves.event = event;
    if (moves.event != event) {
        state.fail(*ticket, "other-event");
        return;
    }
    if (seat) {
        decode_seat(*seat, state, event->spec().layout, moves);
    } else {
        decode_section(*section, state, event->spec().layout, moves);
    }
}

/// `{"seats":[{"ticket":"t_…","to":"A-1-7"},{"ticket":"t_…","section":"GA"}]}`. False: the answer
/// is written.
bool decode_moves(Context const& context, Request const& request, Reply& reply, JsonReader& reader,
                  OrderRow& order, Moves& moves) {
    Input<JsonValue> const body = reader.read_object(request.body);
    if (!body) {
        write_input_error(reply, request, body.error());
        return false;
    }
    DecodeState state;
    ObjectDecoder fields(*body, state);
    auto const seats = fields.take_required("seats");
    fields.finish();
    auto const most = static_cast<std::int64_t>(order.tickets.size());
    if (!state.failed() && state.array(*seats, {1, most}))
        for (JsonValue const value : *seats) decode_move(context, value, state, order, moves);
    if (state.failed()) {
        write_input_error(reply, request, state.error());
    } else if (!moves.unknown.empty()) {
        write_seat_problem(reply, request, "unknown-seat", moves.unknown);
    } else if (!moves.repeated.empty()) {
        write_seat_problem(reply, request, "duplicate-seat", moves.repeated);
    } else {
        return true;
    }
    return false;
}

/// As of a claim of the seats that tickets are to go to; the own ones of the tickets that move are
/// no obstacle. Answers whether the same request may succeed later.
bool refused_targets(Moves const& moves, Refusal const& refusal, TimePoint now,
                     std::vector<RefusedSeat>& refused) {
    engine::ClaimLine line;
    line.kind = engine::ClaimLine::Kind::seats;
    for (Moves::Target const& to : moves.to)
        if (to.seat) line.seats.push_back(*to.seat);
    std::vector<SeatIndex> own;
    for (TicketRow const* const ticket : moves.tickets) own.push_back(ticket->seat);
    std::ranges::sort(own);
    return list_refused(*moves.event, {&line, 1}, own, refusal, now, refused);
}

void reseat_order(Context& context, Request const& request, Reply& reply, OrderRow order,
                  engine::Mark const* mark) {
    JsonReader reader;
    Moves moves;
    if (!decode_moves(context, request, reply, reader, order, moves)) return;
    std::vector<engine::ReseatFact::Move> to_seats;
    std::vector<engine::ReseatCommand::ToSection> to_sections;
    for (std::size_t i = 0; i < moves.tickets.size(); ++i) {
        TicketRow const& ticket = *moves.tickets[i];
        if (!ticket.live)
            return refuse(context, request, reply, order, {.code = RefusalCode::already_released});
        if (moves.to[i].seat) {
            to_seats.push_back({ticket.seat, *moves.to[i].seat});
        } else {
            to_sections.push_back({ticket.seat, moves.to[i].section});
        }
    }
    auto const holds = holds_of(order);
    EventSpec const& spec = moves.event->spec();
    Layout const& layout = spec.layout;
    OrderRow after = order;
    for (std::size_t i = 0; i < moves.tickets.size(); ++i) {
        auto const& [seat, section] = moves.to[i];
        TicketRow& ticket =
            after.tickets[static_cast<std::size_t>(moves.tickets[i] - order.tickets.data())];
        show_at(context, ticket, seat.value_or(layout.sections()[section.value()].first));
    }
    engine::ReseatCommand command{order.order, holds, spec.id, to_seats, to_sections, {mark, {}}};
    if (mark != nullptr) command.marked.after = picture_of(after);
    auto const done = context.engine.reseat(command, request.received_at);
    if (!done) {
        RefusalDetails details;
        details.spec = &spec;
        Refusal const& refusal = done.error();
        std::vector<RefusedSeat> refused;
        if (refusal.code == RefusalCode::seats_unavailable) {
            details.retryable = refused_targets(moves, refusal, request.received_at, refused);
            details.refused = refused;
        }
        if (refusal.code == RefusalCode::sold_out)
            details.section = layout.sections()[layout.section_of(refusal.seat).value()].id;
        write_refusal(reply, request, refusal, details);
        return;
    }
    note(context, order.order, *done);
    // If every ticket stays and there is no key, the answer is what was read: durable already.
    reply.lsn = *done;
    append_order(reply.body, context, after);
}

using Change = void (*)(Context&, Request const&, Reply&, OrderRow, engine::Mark const*);

/// Staff's, and one at a time for an order. A cancellation needs no tickets of changes that have no
/// answer yet: the engine knows what is left. Of answered ones it does, for its own answer.
void change_order(Context& context, Request const& request, Reply& reply, bool needs_tickets,
                  Change change) {
    if (!admit_operator(request, reply, context.admin_token)) return;
    Keyed keyed(context, request, reply);
    if (auto const* const first = keyed.again<engine::ChangeAnswer>())
        return answer_from(context, request, reply, *first);
    if (keyed.answered()) return;
    OrdersInHand::Taken taken;
    if (auto const id = engine::parse_order_id(request.parameters[0])) {
        taken = context.orders_in_hand->take(*id);
        if (taken == nullptr)
            return write_refusal(reply, request, Refusal{.code = RefusalCode::busy});
    }
    auto order = find_order(context, request, reply, needs_tickets);
    if (!order) return;
    change(context, request, reply, std::move(*order), keyed.mark());
}

}  // namespace

void add_order_change_routes(std::vector<http::Route>& routes, Context& context) {
    using http::Method;
    using http::RunsOn;
    auto const with = [&context](bool needs_tickets, Change change) {
        return [&context, needs_tickets, change](Request const& request, Reply& reply) {
            change_order(context, request, reply, needs_tickets, change);
        };
    };
    routes.push_back({Method::post, "/v1/orders/{order}/cancel", RunsOn::worker,
                      with(false, cancel_order), "Cancel an order and free its places (staff)",
                      limits::body_bytes_max});
    routes.push_back(
        {Method::post, "/v1/orders/{order}/refund", RunsOn::worker, with(true, refund_order),
         "Refund some tickets of an order, or all of it (staff)", limits::body_bytes_max});
    routes.push_back({Method::post, "/v1/orders/{order}/reseat", RunsOn::worker,
                      with(true, reseat_order), "Move tickets to other seats (staff)",
                      limits::body_bytes_max});
}

}  // namespace holdfast::api
