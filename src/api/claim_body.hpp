// Claim body: reads the body of a request that names seats, or writes why it cannot.
//
// Purpose: claims, exchanges and blocks answer the same mistakes alike.
// Thread safety: claim_scratch() is each thread's own; the rest is pure.
// Cost: that of reading the body. What a thread keeps spares a claim its allocations.
#pragma once

#include "api/claim_decoder.hpp"
#include "api/json_reader.hpp"
#include "api/problems.hpp"

#include <vector>

namespace holdfast::api {

/// What a thread keeps from request to request. A handler runs to its end before the next one of
/// its thread starts.
struct ClaimScratch {
    JsonReader reader;
    ClaimDecoder decoder;
    std::vector<SeatIndex> seats;
    std::vector<RefusedSeat> refused;
    std::vector<SeatIndex> left_out;
    engine::OrphanReport orphans;
};

[[nodiscard]] inline ClaimScratch& claim_scratch() {
    thread_local ClaimScratch mine;
    return mine;
}

/// False: the answer is written. `reader` keeps the body that the decoder's results point into.
/// `more` is what the decoder wants to know besides body and event.
template <class Decoder, class... More>
[[nodiscard]] bool decode_seats(http::Request const& request, http::Reply& reply,
                                EventSpec const& spec, JsonReader& reader, Decoder& decoder,
                                More const&... more) {
    Input<JsonValue> const body = reader.read_object(request.body);
    if (!body) {
        write_input_error(reply, request, body.error());
        return false;
    }
    switch (decoder.decode(*body, spec, more...)) {
        case SeatsVerdict::good:
            return true;
        case SeatsVerdict::input_error:
            write_input_error(reply, request, decoder.error());
            break;
        case SeatsVerdict::unknown_seats:
            write_seat_problem(reply, request, "unknown-seat", decoder.offenders());
            break;
        case SeatsVerdict::duplicate_seats:
            write_seat_problem(reply, request, "duplicate-seat", decoder.offenders());
            break;
        case SeatsVerdict::inseparable:
            write_seat_problem(reply, request, "inseparable-group", decoder.offenders());
            break;
    }
    return false;
}

}  // namespace holdfast::api
