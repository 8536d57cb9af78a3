// Routes: the one table of paths, and what their handlers need.
//
// Purpose: the translation between HTTP + JSON and the engine's verbs; nothing else knows both.
// Thread safety: routes() at start; the handlers run on io threads or workers as the table says.
// Invariants: a handler never answers 500; a success of a mutation sets reply.lsn.
#pragma once

#include <holdfast/api/backups.hpp>
#include <holdfast/api/changed_orders.hpp>
#include <holdfast/api/event_maps.hpp>
#include <holdfast/api/orders_in_hand.hpp>
#include <holdfast/base/clock.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/engine/engine.hpp>
#include <holdfast/engine/projector.hpp>
#include <holdfast/engine/server_key.hpp>
#include <holdfast/http/router.hpp>
#include <holdfast/http/server.hpp>
#include <holdfast/services/event_setup.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::api {

class InFlight;
class Overload;
class RateLimits;
class SeatStreams;

/// References live as long as the server; owned by app/server.
struct Context {
    engine::Engine& engine;
    engine::Projector& projector;
    engine::ServerKey const& key;
    journal::Journal& journal;
    services::EventSetup& event_setup;
    Clock const& clock;
    std::filesystem::path store_file;                    // for Readers, one per worker thread
    std::string admin_token;                             // the operator's
    std::function<http::ServerCounts()> public_counts;   // set before the servers start
    std::function<bool()> draining;                      // true from SIGTERM on: /readyz 503
    Milliseconds hold_ttl_min{limits::hold_ttl_lowest};  // config key hold.ttl_min_s
    std::shared_ptr<OrdersInHand> orders_in_hand{std::make_shared<OrdersInHand>()};
    Backups* backups{};  // null: the admin listener has no routes for them
    // Of the public listener; null: none.
    std::shared_ptr<RateLimits> rates{};         // of networks
    std::shared_ptr<RateLimits> holder_rates{};  // of who has a hold's token
    std::shared_ptr<InFlight> in_flight{};
    std::shared_ptr<Overload> overload{};
    bool limit_loopback{};                   // limits by address and network hold for loopback too
    std::shared_ptr<SeatStreams> streams{};  // null: there are no live changes
    std::shared_ptr<EventMaps> maps{std::make_shared<EventMaps>()};
    std::shared_ptr<ChangedOrders> changed_orders{std::make_shared<ChangedOrders>()};
    Milliseconds store_patience{2'000};  // how long reads of orders wait for the store
};

[[nodiscard]] std::vector<http::Route> public_routes(Context& context);
/// What the public listener's router asks before it answers what reaches no handler: a read.
[[nodiscard]] http::Admission unserved_admission(Context const& context);
/// And before it answers a fault of the client that ends the connection: a read, too.
[[nodiscard]] http::Admission fault_admission(Context const& context);
/// The admin listener: the public ones, /metrics and backups.
[[nodiscard]] std::vector<http::Route> admin_routes(Context& context);

}  // namespace holdfast::api
