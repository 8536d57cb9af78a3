#include "app/clock_watch.hpp"

#include <holdfast/base/log.hpp>

namespace holdfast::app {

std::optional<Milliseconds> ClockWatch::look(TimePoint now) {
    if (looked_ && now - *looked_ < interval) return {};
    bool const is_start = !looked_;
    looked_ = now;
    Milliseconds const ahead = clock_.wall_ahead();
    if (std::chrono::abs(ahead - told_) <= worth_a_word) return {};
    told_ = ahead;
    // At a start the time is that of the journal if that is later: the clock was ahead once.
    log::warn(is_start ? "the wall clock is behind the newest time in the journal; times go on "
                         "from that"
                       : "the wall clock was set; deadlines and times go on as before until a "
                         "restart",
              {{"wall_ahead_ms", ahead.count()}});
    return ahead;
}

}  // namespace holdfast::app
