// Turn: what the handlers append while it lives goes to the disk as one group.
//
// Purpose: one request to the journal for all that a step of an io thread has run.
// Thread safety: its io thread. Invariants: never one within another. Cost: of a turn that appended
// nothing, two virtual calls.
#pragma once

#include <holdfast/http/server.hpp>

namespace holdfast::http {

class Turn {
public:
    explicit Turn(CommitGate& gate) noexcept : gate_(gate) { gate_.begin_turn(); }
    ~Turn() { gate_.end_turn(); }
    Turn(Turn const&) = delete;
    Turn& operator=(Turn const&) = delete;

private:
    CommitGate& gate_;
};

}  // namespace holdfast::http
