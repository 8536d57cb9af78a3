// Journal gate: the journal as http sees it, and the journal's news as the others hear them.
//
// Purpose: joins two siblings that may not know each other. Thread safety: durable_advanced on the
// journal thread; durable_lsn and failed on the io threads; the rest by the owner. Invariants: who
// was named to an attach outlives the journal thread. Cost: a few loads.
#pragma once

#include <holdfast/base/published.hpp>
#include <holdfast/engine/projector.hpp>
#include <holdfast/http/server.hpp>
#include <holdfast/journal/journal.hpp>

#include <array>

namespace holdfast::app {

class JournalGate final : public journal::DurableListener, public http::CommitGate {
public:
    void attach(journal::Journal& journal) noexcept { journal_.set(&journal); }
    void attach(engine::Projector& projector) noexcept { projector_.set(&projector); }
    void attach_public(http::Server& server) noexcept { public_.set(&server); }
    void attach_admin(http::Server& server) noexcept { admin_.set(&server); }

    [[nodiscard]] Lsn durable_lsn() const noexcept override {
        return journal_.get()->durable_lsn();
    }
    [[nodiscard]] bool failed() const noexcept override {
        return journal_.get()->mode() == journal::Mode::failed;
    }
    void begin_turn() noexcept override { journal_.get()->begin_turn(); }
    void end_turn() noexcept override { journal_.get()->end_turn(); }
    void durable_advanced() noexcept override;

private:
    Published<journal::Journal*> journal_{nullptr};
    Published<engine::Projector*> projector_{nullptr};
    Published<http::Server*> public_{nullptr};
    Published<http::Server*> admin_{nullptr};
    bool failure_told_{};  // journal thread only
};

}  // namespace holdfast::app
