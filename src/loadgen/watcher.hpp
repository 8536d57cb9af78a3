// Watcher: looks at the sale from outside while it runs.
//
// Purpose: refreshes the buyers' picture, takes a sample of the sums each time, prints the progress
// line, and ends a run in which nothing is sold any more.
// Thread safety: belongs to the loop's thread. Cost: two reads every 100 ms, fewer if they are
// slow.
#pragma once

#include "loadgen/market.hpp"

#include <functional>
#include <string>

namespace holdfast::loadgen {

class Watcher {
public:
    Watcher(Market& market, Picture& picture, std::function<void(std::string const&)> progress);
    Watcher(Watcher const&) = delete;
    Watcher& operator=(Watcher const&) = delete;

    void start();
    /// After a pause.
    void resume();
    [[nodiscard]] Check const& sums() const noexcept { return sums_; }

private:
    void look();
    void read(std::string target, void (Watcher::*answered)(Outcome const&));
    void saw_state(Outcome const& outcome);
    void saw_event(Outcome const& outcome);
    void watch_progress(Moment now);
    [[nodiscard]] std::string line() const;

    Market& market_;
    Picture& picture_;
    std::function<void(std::string const&)> progress_;
    Connection connection_;
    Check sums_;
    Moment look_began_{};
    Moment told_{};
    Moment sold_last_{};
    std::uint64_t sold_before_{};
    std::uint32_t stops_seen_{};
    bool parked_{};
};

}  // namespace holdfast::loadgen
