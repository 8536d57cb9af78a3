#include "api/blocks.hpp"

#include "api/authorization.hpp"
#include "api/block_decoder.hpp"
#include "api/claim_body.hpp"
#include "api/hold_document.hpp"
#include "api/json_writer.hpp"
#include "api/keyed.hpp"
#include "api/paging.hpp"
#include "api/problems.hpp"
#include "api/read_point.hpp"

#include <holdfast/api/overload.hpp>

namespace holdfast::api {
namespace {

using engine::HoldView;
using engine::LiveEvent;
using http::Reply;
using http::Request;

/// The event of the path, for staff; null: the answer is written.
LiveEvent* admit(Context const& context, Request const& request, Reply& reply) {
    if (!admit_operator(request, reply, context.admin_token)) return nullptr;
    LiveEvent* const event = context.engine.find(request.parameters[0]);
    if (event == nullptr) write_not_found(reply, request);
    return event;
}

/// Places without names would be told apart by nothing: one stands for those behind it.
bool says_the_same(Layout const& layout, RefusedSeat const& a, RefusedSeat const& b) {
    std::uint32_t const labelled = layout.labelled_count();
    return a.seat.value() >= labelled && b.seat.value() >= labelled && a.reason == b.reason &&
           layout.section_of(a.seat) == layout.section_of(b.seat);
}

void refuse_block(Request const& request, Reply& reply, LiveEvent const& event,
                  BlockDecoder const& decoder, Refusal const& refusal) {
    RefusalDetails details;
    details.spec = &event.spec();
    std::vector<RefusedSeat> refused;
    bool only_held = true;
    if (refusal.code == RefusalCode::seats_unavailable) {
        for (SeatIndex const place : decoder.places()) {
            SeatReason const reason = place == refusal.seat
                                          ? refusal.seat_reason
                                          : event.reason(place, request.received_at);
            if (reason == SeatReason::none) continue;
            only_held = only_held && reason == SeatReason::held;
            RefusedSeat const found{place, reason};
            if (!refused.empty() && says_the_same(event.spec().layout, refused.back(), found))
                continue;
            ++details.refused_count;
            if (refused.size() < limits::names_listed_max) refused.push_back(found);
        }
        details.refused = refused;
        details.retryable = only_held;
    }
    auto const command = decoder.command();
    if (command.quantity > 0)
        details.section = event.spec().layout.sections()[command.section.value()].id;
    write_refusal(reply, request, refusal, details);
}

/// 201, also when it is answered again.
void answer_block(Context const& context, Request const& request, Reply& reply,
                  HoldView const& hold, std::span<SeatIndex const> seats) {
    reply.lsn = hold.lsn;  // first: whatever fails from here on, it has happened
    EventSpec const& spec = context.engine.find(hold.name.event)->spec();
    std::string const id = context.key.hold_id(hold.name);
    reply.status = 201;
    reply.add_header("Location", "/v1/holds/" + id);
    append_hold(reply.body, {spec, hold, seats, request.received_at, id, {}});
}

void create_block(Context& context, Request const& request, Reply& reply) {
    LiveEvent* const event = admit(context, request, reply);
    if (event == nullptr) return;
    Keyed keyed(context, request, reply);
    if (auto const* const first = keyed.again<engine::HoldAnswer>()) {
        auto const shown = shown_again(context, request, reply, *first);
        if (shown) answer_block(context, request, reply, *shown, first->seats);
        return;
    }
    if (keyed.answered()) return;
    JsonReader reader;
    BlockDecoder decoder;
    TimePoint const earliest_end = request.received_at + context.hold_ttl_min;
    if (!decode_seats(request, reply, event->spec(), reader, decoder, earliest_end)) return;
    engine::BlockCommand command = decoder.command();
    command.event = event;
    command.mark = keyed.mark();
    std::vector<SeatIndex> seats;
    Result<HoldView> const hold = context.engine.block(command, request.received_at, seats);
    if (!hold) return refuse_block(request, reply, *event, decoder, hold.error());
    answer_block(context, request, reply, *hold, seats);
}

void append_item(std::string& out, Context const& context, engine::BlockItem const& item) {
    append_separator(out);
    out += '{';
    append_name(out, "hold");
    append_plain(out, context.key.hold_id(item.name));
    append_name(out, "kind");
    append_plain(out, to_text(item.kind));
    append_name(out, "places");
    append_integer(out, item.places);
    append_name(out, "created_at");
    append_time(out, item.created_at);
    append_name(out, "expires_at");
    append_time(out, item.expires_at);
    out += '}';
}

/// The cursor names the slot after which to go on, whether its block is still there or not.
constexpr unsigned slot_bits = HoldRef::slot_bits;

void list_blocks(Context& context, Request const& request, Reply& reply) {
    LiveEvent* const event = admit(context, request, reply);
    if (event == nullptr) return;
    auto const limit = page_limit(request);
    if (!limit) return write_bad_limit(request, reply);
    SlotIndex after{};
    if (auto const cursor = request.query_value("after"); !cursor.empty()) {
        auto const place = open_cursor(context.key, Paged::blocks, cursor);
        if (!place || *place >> slot_bits != event->spec().id.value())
            return write_bad_cursor(request, reply);
        after = SlotIndex{static_cast<std::uint32_t>(*place & ((1U << slot_bits) - 1))};
    }
    auto const page = context.engine.blocks(*event, request.received_at, after, *limit);
    reply.lsn = read_point(context);
    std::string& out = reply.body;
    out += "{\"items\":[";
    for (engine::BlockItem const& item : page.items) append_item(out, context, item);
    out += ']';
    if (page.more) {
        append_name(out, "next");
        auto const& last = page.items.back().name;
        append_plain(out, seal_cursor(context.key, Paged::blocks,
                                      std::uint64_t{last.event.value()} << slot_bits |
                                          last.ref.slot().value()));
    }
    out += '}';
}

void delete_block(Context& context, Request const& request, Reply& reply) {
    if (!admit_operator(request, reply, context.admin_token)) return;
    auto const name = context.key.parse_hold_id(request.parameters[0]);
    if (!name) return write_not_found(reply, request);
    Keyed keyed(context, request, reply);
    if (keyed.again<engine::EndAnswer>() != nullptr) {
        reply.status = 204;
        return;
    }
    if (keyed.answered()) return;
    Result<Lsn> const ended = context.engine.unblock(*name, request.received_at, keyed.mark());
    if (!ended) return write_refusal(reply, request, ended.error());
    reply.status = 204;
    // Ended before: that END may still be on its way to the disk.
    reply.lsn = *ended != no_lsn ? *ended : read_point(context);
}

}  // namespace

void add_block_routes(std::vector<http::Route>& routes, Context& context) {
    using http::Method;
    using http::RunsOn;
    auto const with = [&context](auto handler) {
        return [&context, handler](Request const& request, Reply& reply) {
            handler(context, request, reply);
        };
    };
    // On a worker: 10,000 places take longer than a buyer's request should wait.
    routes.push_back({Method::post, "/v1/events/{event}/blocks", RunsOn::worker, with(create_block),
                      "Keep places from sale (staff)", limits::block_body_bytes_max});
    routes.back().shed_from = OverloadLadder::top;
    routes.back().large_body_admission = operator_only(context.admin_token);
    routes.push_back({Method::get, "/v1/events/{event}/blocks", RunsOn::worker, with(list_blocks),
                      "List the blocks of an event (staff)", 0, page_query_names()});
    routes.back().shed_from = OverloadLadder::searches;
    routes.push_back({Method::del, "/v1/blocks/{hold}", RunsOn::worker, with(delete_block),
                      "Give the places of a block back; 204 also if it has ended (staff)", 0});
}

}  // namespace holdfast::api
