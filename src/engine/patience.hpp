// Patience: how a verb, or a read, that meets another one on the same hold waits for it.
//
// Purpose: the other has appended its record and has not shown it in its places yet, which takes
//   microseconds unless its thread does not run. First this lets others run; then it sleeps, in
//   pieces, up to EngineOptions::turn_wait in all, and then the answer is `busy`.
// Thread safety: a value of its thread. Invariants: no clock is read.
// Cost: an io thread sleeps, too, with all its connections: a few milliseconds for one look, in the
//   rare moment when the thread that it waits for has lost its processor. A claim of an account at
//   its limit may look several times.
#pragma once

#include <holdfast/base/clock.hpp>

namespace holdfast::engine {

class Patience {
public:
    explicit Patience(Milliseconds longest) noexcept;
    /// Waits a moment; false: it has waited long enough.
    [[nodiscard]] bool lasts();

private:
    int waits_left_;
    int yielded_{};
};

}  // namespace holdfast::engine
