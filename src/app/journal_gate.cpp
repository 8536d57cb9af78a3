#include "app/journal_gate.hpp"

#include <holdfast/base/log.hpp>

namespace holdfast::app {

void JournalGate::durable_advanced() noexcept {
    // The journal's first groups may come before its owner has attached anything.
    if (auto* const projector = projector_.get()) projector->notify();
    if (auto* const server = public_.get()) server->wake();
    if (auto* const server = admin_.get()) server->wake();
    auto const* const journal = journal_.get();
    if (journal == nullptr || failure_told_ || journal->mode() != journal::Mode::failed) return;
    failure_told_ = true;
    log::error("the journal failed: read-only until restart, nothing more is acknowledged");
}

}  // namespace holdfast::app
