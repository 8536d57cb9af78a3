// Backstage: everything behind the routes on a real path: journal on disk, projector, store.
#pragma once

#include "api/holds.hpp"
#include "api/json_reader.hpp"
#include "api/orders.hpp"
#include "tests/api/sample_event.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/journal/journal.hpp>
#include <holdfast/journal/recovery.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

namespace holdfast::test {

inline constexpr TimePoint noon =
    TimePoint{std::chrono::sys_days{std::chrono::year{2027} / 5 / 1}} + std::chrono::hours{12};

struct NoonClock final : Clock {
    [[nodiscard]] TimePoint now() const noexcept override { return noon; }
};

struct NothingToReplay final : journal::RecordSink {
    bool record(journal::RecordView const&) override { return true; }
};

/// Wakes the projector when a group is on disk.
struct Waker final : journal::DurableListener {
    void durable_advanced() noexcept override {
        if (projector != nullptr) projector->notify();
    }
    engine::Projector* projector{};
};

/// Everything behind the routes, as app/server puts it together, without sockets.
class Backstage {
public:
    explicit Backstage(EventSpec spec = sample_event()) : key(engine::ServerKey::Secret{}) {
        NothingToReplay nothing;
        auto recovered = journal::recover(folder, disk, std::nullopt, nothing);
        REQUIRE(recovered.has_value());
        journal::Options options;
        options.data = folder;
        options.segment_bytes = 1U << 20;
        options.free_bytes_min = 0;
        auto opened = journal::Journal::open(options, disk, clock, recovered->tail, waker);
        REQUIRE(opened.has_value());
        journal = std::move(*opened);
        auto made = store::Store::open(folder / "store.db", recovered->tail.store_id);
        REQUIRE(made.has_value());
        store = std::move(*made);
        engine = std::make_unique<engine::Engine>(*journal, engine::EngineOptions{});
        projector =
            std::make_unique<engine::Projector>(*store, *journal, disk, folder, *engine, key);
        waker.projector = projector.get();
        store_thread = std::thread([this] { projector->run(); });
        setup = std::make_unique<services::EventSetup>(*engine, *projector,
                                                       [](auto const&) { return false; });
        REQUIRE(setup->create(std::move(spec)).has_value());
        context.reset(new api::Context{*engine,
                                       *projector,
                                       key,
                                       *journal,
                                       *setup,
                                       clock,
                                       folder / "store.db",
                                       "staff",
                                       {},
                                       {}});
        api::add_hold_routes(routes, *context);
        api::add_order_routes(routes, *context);
        router = std::make_unique<http::Router>(routes);
    }
    ~Backstage() {
        journal->close();
        projector->stop();
        store_thread.join();
        waker.projector = nullptr;
        journal.reset();
    }
    Backstage(Backstage const&) = delete;
    Backstage& operator=(Backstage const&) = delete;

    http::Reply send(http::Method method, std::string const& path, std::string const& body,
                     std::string const& authorization) {
        http::Request request;
        request.method = method;
        request.path = path;
        std::array<http::Field, 1> const fields{http::Field{"Authorization", authorization}};
        request.fields = std::span(fields).first(authorization.empty() ? 0 : 1);
        request.body = body;
        request.received_at = noon;
        http::Reply reply;
        auto const match = router->match(request);
        REQUIRE(match.route != nullptr);
        match.route->handler(request, reply);
        // As a session does: nobody hears of what is not on disk.
        CHECK(journal->wait_durable(reply.lsn));
        return reply;
    }

    TempFolder folder_of_test;
    std::filesystem::path folder{folder_of_test.path()};
    engine::ServerKey key;
    NoonClock clock;
    journal::PosixDisk disk;
    Waker waker;
    std::unique_ptr<journal::Journal> journal;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<engine::Engine> engine;
    std::unique_ptr<engine::Projector> projector;
    std::unique_ptr<services::EventSetup> setup;
    std::unique_ptr<api::Context> context;
    std::vector<http::Route> routes;
    std::unique_ptr<http::Router> router;
    std::thread store_thread;
};

inline std::string member(http::Reply const& reply, std::string_view name) {
    api::JsonReader reader;
    auto const root = reader.read_object(reply.body);
    REQUIRE(root.has_value());
    auto const value = root->find(name);
    return value ? std::string(value->text()) : "";
}

}  // namespace holdfast::test
