#include "api/exchanges.hpp"

#include "api/authorization.hpp"
#include "api/claim_body.hpp"
#include "api/hold_access.hpp"
#include "api/hold_document.hpp"
#include "api/keyed.hpp"
#include "api/problems.hpp"
#include "api/read_point.hpp"
#include "api/refused_seats.hpp"

namespace holdfast::api {
namespace {

using engine::HoldView;
using engine::LiveEvent;
using http::Reply;
using http::Request;

/// A place to give back that the hold does not have.
void write_not_in_hold(Request const& request, Reply& reply, EventSpec const& spec,
                       SeatIndex seat) {
    Layout const& layout = spec.layout;
    std::string_view name = layout.name_of(seat);
    if (name.empty()) name = layout.sections()[layout.section_of(seat).value()].id;
    write_seat_problem(reply, request, "unknown-seat", {&name, 1},
                       "There is no such place in this hold.");
}

void refuse(Request const& request, Reply& reply, LiveEvent const& event, Refusal const& refusal,
            ClaimScratch& mine) {
    RefusalDetails details;
    details.spec = &event.spec();
    details.section = mine.decoder.section_of_line(refusal.line);
    if (refusal.code == RefusalCode::seats_unavailable) {
        if (refusal.seat_reason == SeatReason::none)
            return write_not_in_hold(request, reply, event.spec(), refusal.seat);
        details.retryable = list_refused(event, mine.decoder.lines(), mine.seats, refusal,
                                         request.received_at, mine.refused);
        details.refused = mine.refused;
    }
    if (refusal.code == RefusalCode::orphan_seat) {
        details.orphans = mine.orphans.orphans;
        details.alternatives = mine.orphans.alternatives;
    }
    // Without a time the engine had no look at the hold, and the seats are not its seats.
    if (refusal.code == RefusalCode::hold_expired && refusal.at != TimePoint{})
        details.seats = mine.seats;
    write_refusal(reply, request, refusal, details);
}

void answer_exchange(Context const& context, Request const& request, Reply& reply,
                     HoldView const& hold, std::span<SeatIndex const> seats) {
    EventSpec const& spec = context.engine.find(hold.name.event)->spec();
    std::string const id = context.key.hold_id(hold.name);
    append_hold(reply.body, {spec, hold, seats, request.received_at, id, {}});
}

void change_seats(Context& context, Request const& request, Reply& reply, bool gives_back) {
    auto const name = admit_holder(context, request, reply);
    if (!name) return;
    LiveEvent const* const event = context.engine.find(name->event);
    if (event == nullptr) {
        write_not_found(reply, request);
        return;
    }
    Keyed keyed(context, request, reply);
    if (keyed.is_again<engine::EndAnswer>()) {  // all of it was given back
        reply.status = 204;
        return;
    }
    if (auto const* const first = keyed.again<engine::HoldAnswer>()) {
        auto const shown = shown_again(context, request, reply, *first);
        if (shown) answer_exchange(context, request, reply, *shown, first->seats);
        return;
    }
    if (keyed.answered()) return;
    ClaimScratch& mine = claim_scratch();
    if (!decode_seats(request, reply, event->spec(), mine.reader, mine.decoder, ClaimBody::list))
        return;
    engine::ExchangeCommand command;
    command.hold = *name;
    command.lines = mine.decoder.lines();
    command.gives_back = gives_back;
    command.staff = is_operator(credentials_of(request), context.admin_token);
    command.orphans = &mine.orphans;
    command.mark = keyed.mark();
    mine.seats.clear();
    Result<HoldView> const hold = context.engine.exchange(command, request.received_at, mine.seats);
    if (!hold) {
        refuse(request, reply, *event, hold.error(), mine);
        wait_for_order(context, hold.error(), reply);
        return;
    }
    // Nothing may have changed: then it is a read.
    reply.lsn = hold->lsn != no_lsn ? hold->lsn : read_point(context);
    if (mine.seats.empty()) {  // all of it was given back
        reply.status = 204;
        return;
    }
    answer_exchange(context, request, reply, *hold, mine.seats);
}

}  // namespace

void add_exchange_routes(std::vector<http::Route>& routes, Context& context) {
    auto const with = [&context](bool gives_back) {
        return [&context, gives_back](Request const& request, Reply& reply) {
            change_seats(context, request, reply, gives_back);
        };
    };
    routes.push_back({http::Method::put, "/v1/holds/{hold}/seats", http::RunsOn::io, with(false),
                      "Exchange: the hold's new whole set (its token)", limits::body_bytes_max});
    routes.push_back({http::Method::post, "/v1/holds/{hold}/release", http::RunsOn::io, with(true),
                      "Give a part of a hold back (its token)", limits::body_bytes_max});
    routes.back().unlimited = true;
}

}  // namespace holdfast::api
