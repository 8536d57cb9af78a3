#include "app/server.hpp"

#include "app/background_work.hpp"
#include "app/demo.hpp"
#include "app/exit_codes.hpp"
#include "app/file_limit.hpp"
#include "app/journal_gate.hpp"
#include "app/keeper.hpp"
#include "app/online_backups.hpp"
#include "app/restart_grace.hpp"
#include "app/tls_files.hpp"
#include "app/worker_pool.hpp"

#include <holdfast/api/event_maps.hpp>
#include <holdfast/api/in_flight.hpp>
#include <holdfast/api/overload.hpp>
#include <holdfast/api/rate_limits.hpp>
#include <holdfast/api/routes.hpp>
#include <holdfast/api/seat_streams.hpp>
#include <holdfast/base/log.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/engine/engine.hpp>
#include <holdfast/engine/projector.hpp>
#include <holdfast/http/server.hpp>
#include <holdfast/journal/journal.hpp>
#include <holdfast/services/event_setup.hpp>

#include <algorithm>
#include <optional>
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::app {
namespace {

using journal::Failure;

/// The admin listener only has to finish what it writes.
constexpr Milliseconds admin_grace{500};
/// From the beginning of the stop, when it was told to end.
constexpr Milliseconds backup_patience{3'000};

unsigned io_threads(Config const& config) {
    if (config.io_threads != 0) return config.io_threads;
    return std::clamp(std::thread::hardware_concurrency(), 1U, 48U);
}

http::ServerOptions public_options(Config const& config) {
    return {.listen = config.listen,
            .threads = io_threads(config),
            .connections_max = config.connections_max,
            .connections_per_address_max = config.connections_per_address_max,
            .half_read_heads_per_address_max = config.half_read_heads_per_address_max,
            .limit_loopback = config.limit_loopback,
            .head_timeout = config.head_timeout,
            .body_timeout = config.body_timeout,
            .idle_timeout = config.idle_timeout,
            .write_timeout = config.write_timeout,
            .handler_timeout = config.handler_timeout,
            .connection_life = config.connection_life,
            .stream_heartbeat = config.stream_heartbeat,
            .tls = nullptr,  // the public listener's only
            .handshake_timeout = config.handshake_timeout,
            .hsts_max_age_s = config.hsts_max_age_s,
            .hosts = *http::HostNames::parse(config.hosts),
            .proxies = {*http::parse_ranges(config.trusted),
                        *http::parse_client_named_by(config.named_by)},
            .cross_origin = {*http::parse_origins(config.origins), config.cors_max_age_s}};
}

http::ServerOptions admin_options(Config const& config) {
    http::ServerOptions options = public_options(config);
    options.listen = config.admin_listen;
    options.threads = 1;
    options.connections_max = admin_connections(config.connections_max);
    options.hosts = {};  // it is asked by whatever address it has
    options.proxies = {};
    options.cross_origin = {};
    return options;
}

journal::Options journal_options(Config const& config, DataFolder const& folder) {
    journal::Options options;
    options.data = folder.path();
    options.segment_bytes = config.segment_bytes;
    options.free_bytes_min = config.free_bytes_min;
    options.journal_bytes_max = config.journal_bytes_max;
    return options;
}

std::map<EventId, std::uint32_t> places_of(engine::Engine const& engine) {
    std::map<EventId, std::uint32_t> places;
    for (engine::LiveEvent const* event : engine.events())
        places[event->spec().id] = event->spec().layout.place_count();
    return places;
}

}  // namespace

using Events = std::map<EventId, engine::RestoredEvent>;

/// Members are made from the top to the bottom and destroyed the other way round.
struct Server::State {
    State(Options const& options, RestoredState restored)
        : config(options.config),
          folder(options.folder),
          disk(options.disk),
          demo(options.demo),
          identity(options.identity),
          store(std::move(restored.store)),
          key(std::move(restored.key)),
          clock(restored.journal.tail.last_wall),
          first_segment(restored.journal.tail.first_segment) {}
    ~State() { stop(); }

    std::optional<Failure> open_journal(journal::Tail const& tail,
                                        std::optional<journal::FirstRecord> const& first);
    std::optional<Failure> put_back(std::vector<EventSpec> catalogue, Events events,
                                    std::vector<engine::MarkEntry> marks);
    [[nodiscard]] Lsn tell_journal(engine::LiveEvent const& event);
    /// Raises the deadlines; what of it must be on disk before all else.
    [[nodiscard]] std::optional<journal::FirstRecord> give_grace(Events& events) const;
    void start_threads();
    void prepare_reads(engine::LiveEvent const& event) { maps->make(event, clock.now()); }
    void open_demo();
    void listen(std::string admin_token);
    [[nodiscard]] std::shared_ptr<api::SeatStreams> make_streams();
    void stop();

    Config config;
    DataFolder const& folder;
    journal::Disk& disk;
    bool demo;
    std::shared_ptr<http::TlsIdentity const> identity;
    bool stopped{};
    bool hangs{};
    std::unique_ptr<store::Store> store;
    engine::ServerKey key;
    RunningClock clock;
    std::uint64_t first_segment;  // that the journal was recovered from
    Published<bool> draining{false};
    JournalGate gate;
    std::unique_ptr<journal::Journal> journal;
    std::optional<engine::Engine> engine;
    std::optional<engine::Projector> projector;
    std::thread store_thread;
    std::optional<OnlineBackups> backups;
    std::optional<Keeper> keeper;
    std::optional<RepeatingThread> expiry;
    std::shared_ptr<api::EventMaps> maps{std::make_shared<api::EventMaps>()};
    std::optional<WorkerPool> workers;
    std::optional<services::EventSetup> event_setup;
    std::optional<api::Context> context;
    std::optional<http::Server> public_server;
    std::optional<http::Server> admin_server;
    std::optional<RepeatingThread> stream_thread;
};

std::optional<Failure> Server::State::open_journal(
    journal::Tail const& tail, std::optional<journal::FirstRecord> const& first) {
    auto opened =
        journal::Journal::open(journal_options(config, folder), disk, clock, tail, gate, first);
    if (!opened) return opened.error();
    journal = std::move(*opened);
    gate.attach(*journal);
    return {};
}

std::optional<journal::FirstRecord> Server::State::give_grace(Events& events) const {
    TimePoint const until = clock.now() + config.restart_grace;
    bool const grace = config.restart_grace.count() > 0 && raise_deadlines(events, until);
    if (!grace) return {};
    // Before any of these deadlines is told to anybody.
    return journal::FirstRecord{journal::RecordType::clock, engine::fact_version,
                                engine::encode(engine::ClockFact{until})};
}

std::optional<Failure> Server::State::put_back(std::vector<EventSpec> catalogue, Events events,
                                               std::vector<engine::MarkEntry> marks) {
    std::uint64_t const first_generation = engine::first_generation(clock.now());
    if (auto const why = why_names_may_repeat(first_generation, events); !why.empty())
        log::warn("tokens of before a restored backup may fit holds made from now on",
                  {{"why", why}});
    engine.emplace(*journal, engine::EngineOptions{
                                 .hold_ttl_min = config.ttl_min,
                                 .first_generation = first_generation,
                                 .marks = {config.marks_bytes_max, config.refusals_bytes_max}});
    Lsn told = no_lsn;
    for (EventSpec& spec : catalogue) {
        EventId const id = spec.id;
        std::string const slug = spec.slug;
        auto* const event = engine->add(std::make_shared<EventSpec const>(std::move(spec)));
        if (event == nullptr) {
            return Failure{exit_inconsistent, folder.store_file().string() + ": the event " + slug +
                                                  " stands twice in the catalogue, or there are "
                                                  "more events than this program can hold"};
        }
        engine->build(*event, events[id]);
        if (!events[id].life) told = std::max(told, tell_journal(*event));
    }
    // Before anybody is told of these events.
    if (told != no_lsn && !journal->wait_durable(told))
        log::warn("the journal failed before it knew all events", {});
    engine->marks().restore(std::move(marks));
    return {};
}

/// no_lsn: it takes no record now; the next start tells it.
Lsn Server::State::tell_journal(engine::LiveEvent const& event) {
    auto const lsn = engine->tell(event);
    if (!lsn)
        log::warn("the journal does not know an event, and takes no record of it now",
                  {{"event", event.spec().slug}});
    return lsn ? *lsn : no_lsn;
}

void Server::State::start_threads() {
    projector.emplace(*store, *journal, disk, folder.path(), *engine, key);
    gate.attach(*projector);
    store_thread = std::thread([this] {
        pthread_setname_np(pthread_self(), "store");
        projector->run();
    });
    backups.emplace(OnlineBackups::Parts{
        .projector = *projector,
        .journal = *journal,
        .disk = disk,
        .clock = clock,
        .data = folder.path(),
        .bytes_left = bytes_left_by_backups(config.free_bytes_min, config.segment_bytes),
        .pause_deletions = [this] { return keeper->try_pause(); }});
    keeper.emplace(*projector, *journal,
                   engine::Compaction(
                       folder.path(), disk, config.segment_bytes, first_segment,
                       [this] { return places_of(*engine); }, config.marks_bytes_max),
                   journal_options(config, folder));
    expiry.emplace("expiry", expiry_pause, expiry_work(*engine, clock));
    workers.emplace(config.workers, limits::worker_queue_max);
    event_setup.emplace(
        *engine, *projector,
        [this](std::function<void()> job) { return workers->submit(std::move(job)); },
        [this](engine::LiveEvent const& event) { prepare_reads(event); });
}

void Server::State::open_demo() {
    if (!demo || engine->find(demo_slug) != nullptr) return;
    // "Queue full" makes the setup build the seats in place, so that they exist before `ready`.
    services::EventSetup in_place(
        *engine, *projector, [](std::function<void()> const&) { return false; },
        [this](engine::LiveEvent const& event) { prepare_reads(event); });
    auto const event = in_place.create(demo_event(clock.now()));
    if (!event) throw std::runtime_error("the demo event cannot be made; see the log");
}

std::shared_ptr<api::SeatStreams> Server::State::make_streams() {
    auto const sequence = api::Sequence::begun(clock.now(), journal->appended_lsn());
    auto streams = std::make_shared<api::SeatStreams>(
        *journal, sequence,
        api::SeatStreams::Bounds{config.streams_max, config.streams_per_network_max,
                                 config.limit_loopback});
    streams->announce_with([this] {
        public_server->announce();
        admin_server->announce();
    });
    return streams;
}

void Server::State::listen(std::string admin_token) {
    context.emplace(api::Context{
        .engine = *engine,
        .projector = *projector,
        .key = key,
        .journal = *journal,
        .event_setup = *event_setup,
        .clock = clock,
        .store_file = folder.store_file(),
        .admin_token = std::move(admin_token),
        .public_counts = [this] { return public_server->counts(); },
        .draining = [this] { return draining.get(); },
        .hold_ttl_min = config.ttl_min,
        .backups = &*backups,
        .rates = std::make_shared<api::RateLimits>(
            api::RateLimits::Rates{config.reads_per_network_s, config.writes_per_network_s}),
        .holder_rates = std::make_shared<api::RateLimits>(
            api::RateLimits::Rates{config.reads_per_hold_s, config.writes_per_hold_s}),
        .in_flight = std::make_shared<api::InFlight>(config.in_flight_per_principal_max),
        .overload = std::make_shared<api::Overload>(
            api::OverloadLadder::Bounds{Milliseconds{config.overload_wait_ms},
                                        limits::worker_queue_max},
            [this] {
                return api::OverloadLadder::Signals{public_server->io_wait(), workers->waiting()};
            }),
        .limit_loopback = config.limit_loopback,
        .streams = make_streams(),
        .maps = maps,
        .changed_orders = std::make_shared<api::ChangedOrders>(journal->appended_lsn()),
    });
    http::ServerOptions front = public_options(config);
    front.tls = identity;
    public_server.emplace(
        front,
        http::Router(api::public_routes(*context), api::unserved_admission(*context),
                     api::fault_admission(*context)),
        gate, *workers, clock);
    admin_server.emplace(admin_options(config), http::Router(api::admin_routes(*context)), gate,
                         *workers, clock);
    gate.attach_public(*public_server);
    gate.attach_admin(*admin_server);
    public_server->start();
    admin_server->start();
    stream_thread.emplace("streams", stream_pause, stream_work(*context->streams, *maps, clock));
    // Not before it listens: who claims need not wait for maps, and who asks for one has it made.
    make_maps(engine->events(), *maps, clock,
              [this](std::function<void()> job) { return workers->submit(std::move(job)); });
}

void Server::State::stop() {
    if (std::exchange(stopped, true)) return;
    auto const began = std::chrono::steady_clock::now();
    auto const left_of = [began](Milliseconds limit) {
        auto const passed = std::chrono::steady_clock::now() - began;
        return std::max(Milliseconds{0}, std::chrono::ceil<Milliseconds>(limit - passed));
    };
    draining.set(true);
    if (projector) projector->skip_check();
    if (backups) backups->abandon();
    if (public_server) public_server->stop(config.drain_timeout);
    if (admin_server) admin_server->stop(admin_grace);
    if (stream_thread) stream_thread->stop();
    if (event_setup) event_setup->stop();
    if (workers) workers->stop();
    if (expiry) expiry->stop();
    if (keeper) keeper->stop();
    if (journal) journal->close();
    if (projector) projector->stop(std::min(left_of(stop_limit), engine::Projector::stop_patience));
    if (store_thread.joinable()) store_thread.join();
    // Last, so that a target that hangs keeps nothing from its end. No backup waits for the keeper.
    if (backups) hangs = !backups->finish(left_of(backup_patience));
}

ResultOf<std::unique_ptr<Server>, Failure> Server::start(Options const& options,
                                                         RestoredState restored) {
    std::string token = options.config.token;
    if (token.empty()) {
        auto made = options.folder.load_or_make_token();
        if (!made) return made.error();
        token = std::move(*made);
    }
    journal::Tail const tail = restored.journal.tail;
    auto catalogue = std::move(restored.catalogue);
    auto events = std::move(restored.events);
    auto marks = std::move(restored.marks);
    auto state = std::make_unique<State>(options, std::move(restored));
    auto const first = state->give_grace(events);
    if (auto failure = state->open_journal(tail, first)) return *failure;
    if (auto failure = state->put_back(std::move(catalogue), std::move(events), std::move(marks)))
        return *failure;
    state->start_threads();
    state->open_demo();
    state->listen(std::move(token));
    return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

std::string Server::ready_line() const {
    std::string const scheme = state_->identity == nullptr ? "http://" : "https://";
    return "ready " + scheme + state_->public_server->address() + " admin " + admin_url();
}

void Server::load_identity_again() {
    if (state_->identity == nullptr) return;
    auto const loaded = load_identity(state_->config);
    if (!loaded) {
        log::error("certificate not loaded, the old one stays", {{"why", loaded.error().message}});
        return;
    }
    state_->identity = *loaded;
    state_->public_server->set_identity(*loaded);
    log::info("certificate loaded", {{"ends", (*loaded)->ends()}});
}

std::string Server::admin_url() const {
    return "http://" + state_->admin_server->address();
}

bool Server::hangs() const {
    return state_->hangs;
}

bool Server::journal_failed() const {
    return state_->journal->mode() == journal::Mode::failed;
}

int Server::stop() {
    state_->stop();
    return journal_failed() ? exit_temporary : exit_ok;
}

}  // namespace holdfast::app
