#include "api/order_reads.hpp"

#include "api/json_writer.hpp"
#include "api/problems.hpp"

#include <holdfast/base/log.hpp>
#include <holdfast/http/problem.hpp>

#include <algorithm>
#include <memory>

namespace holdfast::api {
namespace {

/// This thread's connection to `file`, opened at its first use and again after an error.
struct Connection {
    std::filesystem::path file;
    std::unique_ptr<store::Reader> reader;
};

Refusal unreadable(store::StoreError const& error) {
    log::error("the store cannot be read",
               {{"sqlite_code", error.code}, {"reason", std::string_view(error.message)}});
    return Refusal{.code = RefusalCode::overloaded};
}

/// Runs `query` on this thread's connection.
template <class Answer, class Query>
Result<Answer> ask(Context const& context, Query query) {
    thread_local Connection mine;
    // One that was closed for a store that was read anew is none.
    bool const is_mine = mine.reader != nullptr && mine.file == context.store_file;
    if (!is_mine || !mine.reader->is_open()) {
        auto opened = store::Reader::open(context.store_file);
        if (!opened) return unreadable(opened.error());
        mine = {context.store_file, std::move(*opened)};
    }
    // A connection is not used again after an error, nor after an exception.
    auto reader = std::move(mine.reader);
    auto answer = query(*reader);
    if (!answer) return unreadable(answer.error());
    mine.reader = std::move(reader);
    return std::move(*answer);
}

std::string_view to_text(store::OrderState state) {
    return state == store::OrderState::cancelled ? "cancelled" : "confirmed";
}

void append_event(std::string& out, Context const& context, EventId event) {
    append_name(out, "event");
    engine::LiveEvent const* const live = context.engine.find(event);
    append_plain(out, live != nullptr ? std::string_view(live->spec().slug) : std::string_view{});
}

void append_ticket(std::string& out, Context const& context, store::TicketRow const& ticket,
                   EventId event_of_order) {
    out += "{\"ticket\":";
    append_plain(out, engine::to_text(ticket.ticket));
    if (ticket.event != event_of_order) append_event(out, context, ticket.event);
    bool const general = ticket.seat_name.empty();
    append_name(out, general ? "section" : "seat");
    http::append_json_string(out, general ? ticket.section : ticket.seat_name);
    if (ticket.refunded) out += ",\"state\":\"refunded\"";
    out += '}';
}

/// Of an order that is not there, may not be read, or is there as it was before a change.
/// `current`: all that was acknowledged was looked at, as of before the read, and the store has not
/// lost any of it meanwhile.
void refuse_missing(http::Request const& request, http::Reply& reply,
                    Result<std::optional<store::OrderRow>> const& order, bool current) {
    if (!order) return write_refusal(reply, request, order.error());
    if (current) return write_not_found(reply, request);
    // It may have been made after what the store knows.
    write_refusal(reply, request, Refusal{.code = RefusalCode::overloaded});
}

/// Until all that was appended is in the store. False: not within the limit.
bool catch_up_to_change(Context const& context) {
    Lsn const seen = context.journal.appended_lsn();
    bool const durable = context.journal.wait_durable_for(seen, context.store_patience);
    // A failed journal takes no change, as will be said.
    if (!durable && context.journal.mode() != journal::Mode::failed) return false;
    return context.projector.wait_applied(std::min(seen, context.journal.durable_lsn()),
                                          context.store_patience);
}

}  // namespace

bool catch_up(Context const& context) {
    // All that was acknowledged is durable; a read need not wait for a disk that may hang.
    return context.projector.wait_applied(context.journal.durable_lsn(), context.store_patience);
}

Result<std::optional<store::OrderRow>> read_order(Context const& context, OrderId const& order) {
    return ask<std::optional<store::OrderRow>>(
        context, [&order](store::Reader& reader) { return reader.order(order); });
}

Result<store::Reader::OrderPage> read_orders(Context const& context, Lsn before,
                                             std::uint32_t limit) {
    return ask<store::Reader::OrderPage>(
        context, [before, limit](store::Reader& reader) { return reader.orders(before, limit); });
}

std::optional<store::OrderRow> find_order(Context const& context, http::Request const& request,
                                          http::Reply& reply, bool needs_tickets) {
    auto const id = engine::parse_order_id(request.parameters[0]);
    if (!id) {
        write_not_found(reply, request);
        return std::nullopt;
    }
    std::uint64_t const gone_back = context.projector.times_gone_back();
    bool const current = catch_up_to_change(context);
    // The answer, also what is kept of it under a key, is made of this row.
    bool const old =
        !current && context.changed_orders->may_be_newer(*id, context.projector.applied_lsn());
    auto order = read_order(context, *id);
    bool const steady = gone_back == context.projector.times_gone_back();
    if (steady && order && *order && !old && (current || !needs_tickets)) return std::move(**order);
    refuse_missing(request, reply, order, steady && current);
    return std::nullopt;
}

std::optional<store::OrderRow> read_order_for(Context const& context, http::Request const& request,
                                              http::Reply& reply, OrderGuard const& may_read) {
    auto const id = engine::parse_order_id(request.parameters[0]);
    if (!id) {
        write_not_found(reply, request);
        return std::nullopt;
    }
    std::uint64_t const gone_back = context.projector.times_gone_back();
    bool current = context.projector.applied_lsn() >= context.journal.durable_lsn();
    bool old = false;
    auto order = read_order(context, *id);
    bool const another = order && *order && !may_read(**order);
    if (order && !another && !current) {
        current = catch_up(context);
        // Asked before the row is read: what is noted later was answered later, too.
        old =
            !current && context.changed_orders->may_be_newer(*id, context.projector.applied_lsn());
        order = read_order(context, *id);
    }
    bool const steady = gone_back == context.projector.times_gone_back();
    if (steady && order && *order && may_read(**order) && !old) return std::move(**order);
    refuse_missing(request, reply, order, (steady && current) || another);
    return std::nullopt;
}

void append_order(std::string& out, Context const& context, store::OrderRow const& order) {
    out += '{';
    append_name(out, "order");
    append_plain(out, engine::to_text(order.order));
    append_name(out, "state");
    append_plain(out, to_text(order.state));
    append_event(out, context, order.event);
    append_name(out, "tickets");
    out += '[';
    for (store::TicketRow const& ticket : order.tickets) {
        append_separator(out);
        append_ticket(out, context, ticket, order.event);
    }
    out += ']';
    append_name(out, "total");
    append_integer(out, order.total);
    append_name(out, "currency");
    http::append_json_string(out, order.currency);
    append_name(out, "created_at");
    append_time(out, order.created_at);
    append_name(out, "payment");
    out += "{\"method\":";
    http::append_json_string(out, order.payment_method);
    out += "}}";
}

}  // namespace holdfast::api
