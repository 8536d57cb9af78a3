#include "api/order_pictures.hpp"

#include "api/order_reads.hpp"
#include "api/problems.hpp"

namespace holdfast::api {

void show_at(Context const& context, store::TicketRow& ticket, SeatIndex seat) {
    Layout const& layout = context.engine.find(ticket.event)->spec().layout;
    ticket.seat = seat;
    ticket.seat_name = layout.name_of(seat);
    ticket.section = layout.sections()[layout.section_of(seat).value()].id;
}

engine::ChangeAnswer picture_of(store::OrderRow const& order) {
    engine::ChangeAnswer picture;
    picture.order = order.order;
    picture.cancelled = order.state == store::OrderState::cancelled;
    picture.total = order.total;
    for (store::TicketRow const& ticket : order.tickets)
        picture.tickets.push_back({ticket.seat, ticket.refunded});
    return picture;
}

namespace {

/// Whether the store has the tickets that the picture was made of; one that was made anew from
/// what is left may not.
bool fits(Context const& context, store::OrderRow const& order,
          engine::ChangeAnswer const& picture) {
    if (order.tickets.size() != picture.tickets.size()) return false;
    for (std::size_t i = 0; i < order.tickets.size(); ++i) {
        engine::LiveEvent const* const event = context.engine.find(order.tickets[i].event);
        if (event == nullptr) return false;
        if (picture.tickets[i].seat.value() >= event->spec().layout.place_count()) return false;
    }
    return true;
}

}  // namespace

void answer_from(Context const& context, http::Request const& request, http::Reply& reply,
                 engine::ChangeAnswer const& picture) {
    auto order = find_order(context, request, reply, true);
    if (!order) return;
    if (!fits(context, *order, picture)) return write_not_found(reply, request);
    order->state = picture.cancelled ? store::OrderState::cancelled : store::OrderState::confirmed;
    order->total = picture.total;
    for (std::size_t i = 0; i < picture.tickets.size(); ++i) {
        show_at(context, order->tickets[i], picture.tickets[i].seat);
        order->tickets[i].refunded = picture.tickets[i].refunded;
    }
    append_order(reply.body, context, *order);
}

}  // namespace holdfast::api
