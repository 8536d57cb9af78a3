#include "api/refused_seats.hpp"

#include <algorithm>

namespace holdfast::api {

bool list_refused(engine::LiveEvent const& event, std::span<engine::ClaimLine const> lines,
                  std::span<SeatIndex const> kept, Refusal const& refusal, TimePoint now,
                  std::vector<RefusedSeat>& refused) {
    using engine::ClaimLine;
    refused.clear();
    bool some_held = false;
    bool none_for_good = true;
    for (ClaimLine const& line : lines) {
        for (SeatIndex const seat : line.seats) {
            if (std::ranges::binary_search(kept, seat)) continue;
            SeatReason const reason =
                seat == refusal.seat ? refusal.seat_reason : event.reason(seat, now);
            if (reason == SeatReason::none) continue;
            refused.push_back({seat, reason});
            some_held = some_held || reason == SeatReason::held;
            if (line.kind == ClaimLine::Kind::seats && reason != SeatReason::held)
                none_for_good = false;
        }
    }
    return some_held && none_for_good;
}

}  // namespace holdfast::api
