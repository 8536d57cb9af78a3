// Market: what all simulated buyers share.
//
// Purpose: one place for the state of the running sale; buyers write facts into it, the sale reads
// them. Thread safety: belongs to the loop's thread.
#pragma once

#include "loadgen/checks.hpp"
#include "loadgen/client.hpp"
#include "loadgen/ledger.hpp"
#include "loadgen/picture.hpp"
#include "loadgen/wire.hpp"

#include <holdfast/base/histogram.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::loadgen {

/// How the server behaved towards the buyers.
struct Conduct {
    Histogram claim_us, confirm_us, release_us;     // of successes and refusals alike
    std::map<std::string, std::uint64_t> refusals;  // "claim seats-unavailable" -> how often
    std::uint64_t requests{};
    std::uint64_t claims{}, releases{}, late_payments{};
    std::uint64_t answers_lost{};
    Check answers{.name = "answers-as-promised",
                  .promise =
                      "no answer breaks the API, no live hold is refused, no expired hold "
                      "is sold"};

    /// A refusal the API provides for.
    void refuse(std::string_view verb, std::string const& code) {
        answers.look(true);
        ++refusals[std::string(verb) + " " + code];
    }
};

/// The server cannot do it now, and has not; the same request may succeed a moment later.
[[nodiscard]] inline bool try_again(std::string_view code) noexcept {
    return code == "busy" || code == "overloaded" || code == "rate-limited";
}

/// It may have happened or not, as if the answer was lost; a repeat tells.
[[nodiscard]] inline bool result_unknown(std::string_view code) noexcept {
    return code == "timeout" || code == "durability-lost";
}

/// From here on the server takes no change, so the sale cannot go on.
[[nodiscard]] inline bool ends_the_sale(std::string_view code) noexcept {
    return code == "read-only" || code == "durability-lost";
}

/// What a claim of places that were on the map may be told.
[[nodiscard]] inline bool claim_may_be_refused(std::string_view code) noexcept {
    return code == "seats-unavailable" || code == "sold-out" || code == "orphan-seat" ||
           code == "best-available-not-found" || try_again(code);
}

struct Market {
    Loop& loop;
    Venue const& venue;
    Picture const& picture;
    Url url;
    std::string event;
    Milliseconds hold_ttl;
    Ledger ledger;
    Conduct conduct;
    std::uint32_t stops{};  // abrupt stops so far; the server's address is new after each
    bool paused{};          // nobody sends
    bool over{};            // nobody claims
    bool none_abandoned{};  // a hold is given back instead
    std::uint32_t open_requests{};
    std::uint32_t resting{};        // buyers that have nothing left to do
    std::function<void()> changed;  // an order was made, a request ended while paused, a rest
    std::function<void(std::string)> fail;  // the run cannot go on
};

/// A read that could not be answered; the same one may be a moment later.
[[nodiscard]] inline bool read_again(Reply const& reply) {
    if (reply.status != 503 && reply.status != 429) return false;
    auto const code = read_problem(reply.body).code;
    return try_again(code) || code == "timeout";
}

/// No answer for so long is a stalled server and ends the run.
inline constexpr Milliseconds request_timeout{10'000};

}  // namespace holdfast::loadgen
