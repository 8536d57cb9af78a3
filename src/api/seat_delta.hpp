// Seat delta: what the events of a stream look like.
//
// Purpose: `id: N` and one line of JSON. Thread safety: pure. Cost: linear in what was touched, or
// in the places if the whole state is shorter.
#pragma once

#include <holdfast/engine/following.hpp>

#include <cstdint>
#include <string>

namespace holdfast::api {

/// What a follower found touched: lists of seats by their state, and the counts of sections without
/// seats. If that is longer than a state document, such a document.
[[nodiscard]] std::string seat_delta(engine::LiveEvent const& event,
                                     engine::SeatFollower const& follower, std::uint64_t number);
/// `event: resync`: take a state document, and go on from there.
[[nodiscard]] std::string resync_hint(std::uint64_t number);

}  // namespace holdfast::api
