// Actor: who plays one scripted scenario against a server that may be killed at any of its calls.
//
// Purpose: each request is remembered before it is sent and its answer after, so that the next life
//   can be held to what was acknowledged, and be asked again for what was not.
// Thread safety: one thread.
#pragma once

#include "loadgen/client.hpp"
#include "tests/support/buyer.hpp"
#include "tests/support/server_process.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

/// Thrown out of a scenario: the server is gone.
struct Gone {};

/// A request of staff about no hold.
struct StaffRequest {
    std::string method;
    std::string target;
    std::string body;
    unsigned success{};
    std::string look;  // where its effect shows
    /// Of the body of that look, and of the answer: it has happened.
    std::function<bool(std::string const&, std::string const&)> stands;

    std::string key{};
    bool answered{};
    [[nodiscard]] loadgen::Query query() const;
};

class Actor {
public:
    /// `number`: of this play among all on one data folder. `pairs`: of seats that were asked for.
    Actor(ServerProcess& server, std::filesystem::path folder, long number, int& pairs);

    // Holds are named by their place in known().
    std::size_t claim();
    std::size_t claim(std::string const& body);
    std::size_t sold();
    void take(std::size_t hold, Step step);
    [[nodiscard]] Known const& known(std::size_t hold) const { return known_.at(hold); }
    /// The claim of a hold again, by its key.
    void repeat(std::size_t hold);
    /// Two seats that nobody asked for by name before, as members of a list.
    [[nodiscard]] std::string seats();

    /// The answer. The last request of a scenario must show in its look.
    std::string staff(StaffRequest request);
    /// An event of the scenario's own, not published.
    void make_event();
    void wait_for(std::string const& state);
    /// A step in the life of that event, and its state then.
    void step(std::string const& verb, std::string const& state);
    /// On sale.
    void open_event();
    /// Of a seat of that event; its id.
    std::string block();
    void unblock(std::string const& id);
    void back_up();
    void stop();

    [[nodiscard]] std::vector<Known> const& all_known() const noexcept { return known_; }
    [[nodiscard]] std::optional<KeyedClaim> const& pending() const noexcept { return pending_; }
    [[nodiscard]] std::vector<StaffRequest> const& asked() const noexcept { return asked_; }
    [[nodiscard]] std::optional<std::filesystem::path> const& backup() const { return backup_; }
    /// The exit code, if the scenario has stopped the server.
    [[nodiscard]] std::optional<int> exit_code() const noexcept { return exit_code_; }

private:
    loadgen::Reply ask(loadgen::Query const& query);
    [[nodiscard]] std::string next_key();

    ServerProcess& server_;
    loadgen::Session session_;
    std::filesystem::path folder_;
    std::string name_;
    std::string event_;  // the path of its own event
    int& pairs_;
    int keys_{};
    std::vector<Known> known_;
    std::optional<KeyedClaim> pending_;
    std::vector<StaffRequest> asked_;
    std::optional<std::filesystem::path> backup_;
    std::optional<int> exit_code_;
};

}  // namespace holdfast::test
