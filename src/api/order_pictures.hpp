// Order pictures: an order as the answer to a change of it showed it, so that it can be answered
// again (keyed.hpp).
//
// Purpose: an order changes again later; what may change of it is in the picture, what never does
// (ids of tickets, currency, times) is read anew. Thread safety: worker threads. Cost: a read of
// the order.
#pragma once

#include <holdfast/api/routes.hpp>
#include <holdfast/store/store.hpp>

namespace holdfast::api {

/// What the ticket says once it is for that place; any place of a section does for the section.
void show_at(Context const& context, store::TicketRow& ticket, SeatIndex seat);

[[nodiscard]] engine::ChangeAnswer picture_of(store::OrderRow const& order);

/// Answers with the order of the path as the picture shows it, or why it cannot be read now.
void answer_from(Context const& context, http::Request const& request, http::Reply& reply,
                 engine::ChangeAnswer const& picture);

}  // namespace holdfast::api
