#include "api/holds.hpp"

#include "api/admission.hpp"
#include "api/authorization.hpp"
#include "api/claim_body.hpp"
#include "api/exchanges.hpp"
#include "api/hold_access.hpp"
#include "api/hold_document.hpp"
#include "api/keyed.hpp"
#include "api/problems.hpp"
#include "api/read_point.hpp"
#include "api/refused_seats.hpp"

#include <holdfast/api/overload.hpp>

#include <algorithm>
#include <optional>

namespace holdfast::api {
namespace {

using engine::ClaimLine;
using engine::HoldName;
using engine::HoldView;
using engine::LiveEvent;
using http::Reply;
using http::Request;
using namespace std::string_view_literals;

/// Whether a request without a hold's token may claim. Nobody can log in yet, so an event that
/// limits what an account has, or takes no guests, is for staff, who may claim for an account or
/// for nobody. Writes the answer if not.
bool admit_claimer(Context const& context, Request const& request, Reply& reply,
                   LiveEvent const& event) {
    EventPolicy const& policy = event.spec().policy;
    if (policy.guest && !policy.max_per_user) return true;
    if (is_operator(credentials_of(request), context.admin_token)) return true;
    write_unauthenticated(reply, request, "Bearer",
                          "This event takes no guests: staff claims, for an account or nobody.");
    return false;
}

/// Bad credentials are no credentials, also where none are needed.
bool credentials_readable(Context const& context, Request const& request, Reply& reply) {
    Credentials const credentials = credentials_of(request);
    using Scheme = Credentials::Scheme;
    bool const good = credentials.scheme == Scheme::none || credentials.scheme == Scheme::hold ||
                      is_operator(credentials, context.admin_token);
    if (!good) write_unauthenticated(reply, request, "Bearer");
    return good;
}

void refuse_claim(Request const& request, Reply& reply, LiveEvent const& event,
                  Refusal const& refusal, ClaimScratch& mine) {
    RefusalDetails details;
    details.spec = &event.spec();
    details.section = mine.decoder.section_of_line(refusal.line);
    if (refusal.code == RefusalCode::seats_unavailable) {
        details.retryable = list_refused(event, mine.decoder.lines(), {}, refusal,
                                         request.received_at, mine.refused);
        details.refused = mine.refused;
    }
    if (refusal.code == RefusalCode::orphan_seat) {
        details.orphans = mine.orphans.orphans;
        details.alternatives = mine.orphans.alternatives;
    }
    write_refusal(reply, request, refusal, details);
}

/// What a partial claim asked for and did not get, in its order; null if it was none. `mine` has
/// its lines.
std::vector<SeatIndex> const* left_out_of(ClaimScratch& mine, std::span<SeatIndex const> seats) {
    if (!mine.decoder.partial()) return nullptr;
    mine.left_out.clear();
    for (ClaimLine const& line : mine.decoder.lines()) {
        if (line.kind != ClaimLine::Kind::seats) continue;
        for (SeatIndex const seat : line.seats)
            if (!std::ranges::binary_search(seats, seat)) mine.left_out.push_back(seat);
    }
    return &mine.left_out;
}

/// 201, also when it is answered again. `left_out`: null, or of a partial claim.
void answer_claim(Context const& context, Request const& request, Reply& reply,
                  HoldView const& hold, std::span<SeatIndex const> seats,
                  std::vector<SeatIndex> const* left_out) {
    reply.lsn = hold.lsn;
    LiveEvent const& event = *context.engine.find(hold.name.event);
    engine::HoldTexts const texts = context.key.texts(hold.name);
    reply.status = 201;
    reply.headers.append("Location: /v1/holds/"sv).append(texts.id()).append("\r\n"sv);
    append_hold(reply.body, {event.spec(), hold, seats, request.received_at, texts.id(),
                             texts.token(), left_out});
}

/// False: the answer is written.
bool decode_claim(Request const& request, Reply& reply, EventSpec const& spec, ClaimScratch& mine) {
    return mine.decoder.decode_plain(request.body, spec) ||
           decode_seats(request, reply, spec, mine.reader, mine.decoder);
}

/// What the first answer left out, read from the same body once more; null also if today's rules
/// refuse that body: the claim succeeded all the same.
std::vector<SeatIndex> const* left_out_before(Request const& request, EventSpec const& spec,
                                              std::span<SeatIndex const> seats,
                                              ClaimScratch& mine) {
    Reply not_sent;
    return decode_claim(request, not_sent, spec, mine) ? left_out_of(mine, seats) : nullptr;
}

void create_hold(Context& context, Request const& request, Reply& reply) {
    if (!credentials_readable(context, request, reply)) return;
    TimePoint const now = request.received_at;
    LiveEvent* const event = context.engine.find(request.parameters[0]);
    if (event == nullptr || event->state(now) == EventState::draft) {
        write_not_found(reply, request);
        return;
    }
    if (!admit_claimer(context, request, reply, *event)) return;
    ClaimScratch& mine = claim_scratch();
    Keyed keyed(context, request, reply, Keyed::unproved);
    if (auto const* const first = keyed.again<engine::HoldAnswer>()) {
        auto const shown = shown_again(context, request, reply, *first);
        if (!shown) return;
        auto const* const left_out = left_out_before(request, event->spec(), first->seats, mine);
        answer_claim(context, request, reply, *shown, first->seats, left_out);
        return;
    }
    if (keyed.answered()) return;
    if (!decode_claim(request, reply, event->spec(), mine)) return;
    unsigned const shed_from = mine.decoder.preview() ? OverloadLadder::searches : 0;
    if (refuse_if_overloaded(request, reply, context, shed_from)) return;
    bool const staff = is_operator(credentials_of(request), context.admin_token);
    if (mine.decoder.account() != 0 && !staff) {
        // Until accounts prove themselves only staff may say for whom a claim is.
        write_refusal(reply, request, Refusal{.code = RefusalCode::forbidden});
        return;
    }

    engine::ClaimCommand command;
    command.holder = mine.decoder.account();
    command.event = event;
    command.lines = mine.decoder.lines();
    command.preview = mine.decoder.preview();
    command.staff = staff;
    command.partial = mine.decoder.partial();
    command.orphans = &mine.orphans;
    command.mark = keyed.mark();
    if (command.preview) keyed.keep_nothing();
    Result<HoldView> const hold = context.engine.claim(command, now, mine.seats);
    if (!hold) {
        refuse_claim(request, reply, *event, hold.error(), mine);
        return;
    }
    if (command.preview) {
        append_hold(reply.body,
                    {event->spec(), *hold, mine.seats, now, {}, {}, left_out_of(mine, mine.seats)});
        return;
    }
    reply.lsn = hold->lsn;  // first: whatever fails from here on, it has happened
    answer_claim(context, request, reply, *hold, mine.seats, left_out_of(mine, mine.seats));
}

void refuse_hold(Context const& context, Request const& request, Reply& reply, HoldName const& hold,
                 Refusal const& refusal) {
    RefusalDetails details;
    LiveEvent const* const event = context.engine.find(hold.event);
    if (event != nullptr) details.spec = &event->spec();
    // Without a time the engine had no look at the hold, and the seats are not its seats.
    bool const seen = refusal.code == RefusalCode::hold_expired && refusal.at != TimePoint{};
    if (seen) details.seats = claim_scratch().seats;
    write_refusal(reply, request, refusal, details);
    wait_for_order(context, refusal, reply);
}

void answer_hold(Context const& context, Request const& request, Reply& reply, HoldView const& hold,
                 std::span<SeatIndex const> seats) {
    LiveEvent const& event = *context.engine.find(hold.name.event);
    std::string const id = context.key.hold_id(hold.name);
    append_hold(reply.body, {event.spec(), hold, seats, request.received_at, id, {}});
}

void read_hold(Context& context, Request const& request, Reply& reply) {
    auto const name = admit_holder(context, request, reply);
    if (!name) return;
    std::vector<SeatIndex>& seats = claim_scratch().seats;
    seats.clear();
    Result<HoldView> const hold = context.engine.read(*name, request.received_at, seats);
    if (!hold) {
        refuse_hold(context, request, reply, *name, hold.error());
        return;
    }
    reply.lsn = read_point(context);
    answer_hold(context, request, reply, *hold, seats);
}

void release_hold(Context& context, Request const& request, Reply& reply) {
    auto const name = admit_holder(context, request, reply);
    if (!name) return;
    Keyed keyed(context, request, reply);
    if (keyed.again<engine::EndAnswer>() != nullptr) {
        reply.status = 204;
        return;
    }
    if (keyed.answered()) return;
    Result<Lsn> const ended = context.engine.release(*name, request.received_at, keyed.mark());
    if (!ended) {
        refuse_hold(context, request, reply, *name, ended.error());
        return;
    }
    reply.status = 204;
    // Ended before: that END may still be on its way to the disk.
    reply.lsn = *ended != no_lsn ? *ended : read_point(context);
}

void extend_hold(Context& context, Request const& request, Reply& reply) {
    auto const name = admit_holder(context, request, reply);
    if (!name) return;
    Keyed keyed(context, request, reply);
    if (auto const* const first = keyed.again<engine::HoldAnswer>()) {
        auto const shown = shown_again(context, request, reply, *first);
        if (shown) answer_hold(context, request, reply, *shown, first->seats);
        return;
    }
    if (keyed.answered()) return;
    ClaimScratch& mine = claim_scratch();
    Input<JsonValue> const body = mine.reader.read_object(request.body);
    if (!body) {
        write_input_error(reply, request, body.error());
        return;
    }
    constexpr std::int64_t seconds_max = std::chrono::seconds{limits::hold_life_highest}.count();
    DecodeState state;
    ObjectDecoder fields(*body, state);
    std::chrono::seconds const by{fields.integer("seconds", {1, seconds_max})};
    fields.finish();
    if (state.failed()) {
        write_input_error(reply, request, state.error());
        return;
    }
    mine.seats.clear();
    Result<HoldView> const hold =
        context.engine.extend(*name, by, request.received_at, mine.seats, keyed.mark());
    if (!hold) {
        refuse_hold(context, request, reply, *name, hold.error());
        return;
    }
    // It may have asked for less than is left: nothing is new then.
    reply.lsn = hold->lsn != no_lsn ? hold->lsn : read_point(context);
    answer_hold(context, request, reply, *hold, mine.seats);
}

}  // namespace

void add_hold_routes(std::vector<http::Route>& routes, Context& context) {
    using http::Method;
    using http::RunsOn;
    auto const with = [&context](auto handler) {
        return [&context, handler](Request const& request, Reply& reply) {
            handler(context, request, reply);
        };
    };
    routes.push_back({Method::post, "/v1/events/{event}/holds", RunsOn::io, with(create_hold),
                      "Claim places: named seats, candidates, best available or a section",
                      limits::body_bytes_max});
    routes.back().shed_from = OverloadLadder::top;
    routes.push_back({Method::get, "/v1/holds/{hold}", RunsOn::io, with(read_hold),
                      "Read a hold (its token)", 0});
    routes.push_back({Method::del, "/v1/holds/{hold}", RunsOn::io, with(release_hold),
                      "Give a hold back (its token); 204 also if it has ended", 0});
    routes.back().unlimited = true;
    routes.push_back({Method::post, "/v1/holds/{hold}/extend", RunsOn::io, with(extend_hold),
                      "Extend a hold by {\"seconds\"} (its token)", limits::body_bytes_max});
    add_exchange_routes(routes, context);
}

}  // namespace holdfast::api
