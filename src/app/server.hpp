// Server: the composition root. Every thread of `holdfast serve` has its owner here.
//
// Purpose: starts the parts in one stated order and stops them in another:
//   start  (the caller has taken the addresses, see serve.cpp)
//          journal, engine with its events and holds, store thread, keeper, expiry thread, workers,
//          setup of events, public listener, admin listener, streams;
//   stop   draining, public listener, admin listener, streams, setup of events, workers, expiry
//          thread, keeper, journal (CLEAN seal), store thread, backup.
// Thread safety: made and stopped by the main thread. Invariants: nothing listens before recovery
// and the restart grace are durable; nothing that the journal thread may call goes before it ends.
// Cost: at start only.
#pragma once

#include "app/restored_state.hpp"

#include <holdfast/app/config.hpp>
#include <holdfast/http/tls.hpp>

#include <memory>
#include <string>

namespace holdfast::app {

class Server {
public:
    /// Of a whole stop (P15), with something left for what cannot wait.
    static constexpr Milliseconds stop_limit{9'500};

    struct Options {
        Config const& config;
        DataFolder const& folder;
        journal::Disk& disk;
        bool demo{};
        std::shared_ptr<http::TlsIdentity const> identity;  // null: plain HTTP
    };
    /// Throws std::system_error if an address cannot be bound.
    [[nodiscard]] static ResultOf<std::unique_ptr<Server>, journal::Failure> start(
        Options const& options, RestoredState restored);
    ~Server();
    Server(Server const&) = delete;
    Server& operator=(Server const&) = delete;

    /// `ready http://… admin http://…`
    [[nodiscard]] std::string ready_line() const;
    [[nodiscard]] std::string admin_url() const;
    /// A write or sync of the journal failed: nothing is acknowledged until a restart.
    [[nodiscard]] bool journal_failed() const;
    /// The public listener's new connections get the files that [tls] names as they are now; if
    /// these are no good, the log says so and the old ones stay.
    void load_identity_again();
    /// Lets requests in flight finish and seals the journal; once. The exit code.
    [[nodiscard]] int stop();
    /// After stop(): a thread that hangs in the target of a backup still uses this. All is done,
    /// and the process can only be left without destroying anything.
    [[nodiscard]] bool hangs() const;

private:
    struct State;
    explicit Server(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace holdfast::app
