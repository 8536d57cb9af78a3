// Patience: how a verb, or a read, that meets another one on the same hold waits for it.
//
// Purpose: the other has appended its record and has not shown it in its places yet, which takes
//   microseconds unless its thread does not run. First this lets others run; then it sleeps, in
//   pieces, up to EngineOptions::turn_wait in all, and then the answer is `busy`.
// Thread safety: a value of its thread. Invariants: no clock is read.
// Cost: an io thread sleeps, too, with all its connections: a few milliseconds for one look, in the
//   rare moment when the thread that it waits for has lost its processor. A verb has one, however
//   often and for whatever it waits.
#pragma once

#include <holdfast/base/clock.hpp>

#include <chrono>

namespace holdfast::engine {

class Patience {
public:
    explicit Patience(Milliseconds longest) noexcept
        : waits_left_(yields + static_cast<int>(longest / nap)) {}
    /// Waits a moment; false: it has waited long enough.
    [[nodiscard]] bool lasts();

private:
    static constexpr int yields = 16;
    static constexpr std::chrono::microseconds nap{250};

    int waits_left_;
    int yielded_{};
};

}  // namespace holdfast::engine
