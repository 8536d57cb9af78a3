// The event routes over a real engine, catalogue and projector; the journal's disk is in memory.
#pragma once

#include "api/events.hpp"
#include "api/query_names.hpp"
#include "tests/api/answer_check.hpp"
#include "tests/engine/projector_world.hpp"

#include <holdfast/api/seat_streams.hpp>
#include <holdfast/http/router.hpp>

#include <array>
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::api::test {

struct Answer {
    unsigned status{};
    std::string type;
    std::string body;
    std::string headers;
    bool by_worker{};  // an io thread would have handed it on

    [[nodiscard]] boost::json::value json() const {
        INFO(body);
        boost::json::error_code error;
        auto value = boost::json::parse(body, error);
        REQUIRE(!error);
        return value;
    }
    [[nodiscard]] std::string header(std::string const& name) const {
        auto const start = headers.find(name + ": ");
        if (start == std::string::npos) return {};
        auto const value = start + name.size() + 2;
        return headers.substr(value, headers.find("\r\n", value) - value);
    }
    [[nodiscard]] std::string code() const {
        return std::string{json().as_object().at("code").as_string()};
    }
};

struct Call {
    http::Method method{http::Method::get};
    std::string target;
    std::string body;
    std::string authorization;
    std::string if_none_match;
    std::vector<http::Field> more{};
};

class EventStage {
public:
    static constexpr std::string_view token = "staff-token";
    static std::string staff() { return "Bearer " + std::string{token}; }

    EventStage()
        : journal(open_journal()),
          store(samples::open_store(folder.file())),
          engine(*journal, {}),
          setup_projector(
              std::in_place, *store, *journal, disk, [this](EventId id) { return find_spec(id); },
              key, listener),
          setup(
              engine, setup_projector->projector,
              [this](std::function<void()> job) {
                  jobs.push_back(std::move(job));
                  return true;
              },
              [this](engine::LiveEvent const& event) { maps->make(event, now); }),
          context{engine,
                  setup_projector->projector,
                  key,
                  *journal,
                  setup,
                  clock,
                  folder.file(),
                  std::string{token},
                  {},
                  {},
                  limits::hold_ttl_lowest},
          router(routes(context)) {}

    ~EventStage() {
        setup_projector.reset();
        store.reset();
        journal->close();
    }

    Answer send(Call const& call) {
        std::vector<http::Field> fields = call.more;
        if (!call.authorization.empty()) fields.push_back({"Authorization", call.authorization});
        if (!call.if_none_match.empty()) fields.push_back({"If-None-Match", call.if_none_match});
        http::Request request;
        request.method = call.method;
        auto const target = std::string_view{call.target};
        auto const query = target.find('?');
        request.path = target.substr(0, query);
        if (query != std::string_view::npos) request.query = target.substr(query + 1);
        request.fields = fields;
        request.body = call.body;
        request.received_at = now;
        request.request_id = "r-1";
        auto const match = router.match(request);
        INFO(call.target);
        REQUIRE(match.route != nullptr);
        http::Route const& route = *match.route;
        bool const at_hand = route.at_hand != nullptr && route.at_hand(request);
        http::Reply reply;
        reply.reset();
        route.handler(request, reply);
        std::string body{reply.content()};
        holdfast::test::check_answer(http::to_string(call.method), route.pattern,
                                     {reply.status, reply.content_type, body, reply.headers});
        return {reply.status, std::string{reply.content_type}, std::move(body), reply.headers,
                route.runs_on == http::RunsOn::worker && !at_hand};
    }
    Answer get(std::string target, std::string authorization = {}) {
        Call call;
        call.target = std::move(target);
        call.authorization = std::move(authorization);
        return send(call);
    }
    Answer get_unless(std::string target, std::string tag) {
        Call call;
        call.target = std::move(target);
        call.if_none_match = std::move(tag);
        return send(call);
    }
    Answer create(std::string body, std::string query = {}) {
        return send({http::Method::post, "/v1/events" + query, std::move(body), staff(), {}});
    }
    /// Creates an event and builds its seats.
    void open(std::string const& body) {
        auto const answer = create(body);
        INFO(answer.body);
        REQUIRE(answer.status == 202);
        run_jobs();
    }
    void run_jobs() {
        for (auto const& job : std::exchange(jobs, {})) job();
    }
    engine::HoldView claim(std::string_view event, std::vector<SeatIndex> seats) {
        engine::ClaimLine line;
        line.kind = engine::ClaimLine::Kind::seats;
        line.seats = std::move(seats);
        engine::ClaimCommand command;
        command.event = engine.find(event);
        command.lines = {&line, 1};
        command.staff = true;  // which seats are taken is up to the test, not to the orphan rule
        std::vector<SeatIndex> taken;
        auto const hold = engine.claim(command, now, taken);
        REQUIRE(hold.has_value());
        return *hold;
    }

    TimePoint now{Milliseconds{1'800'000'000'000}};
    journal::test::MemoryDisk disk;
    journal::test::StillClock clock;
    engine::test::NotifyingListener listener;
    samples::TempFolder folder;
    engine::ServerKey key{engine::ServerKey::Secret{1, 2, 3}};
    std::unique_ptr<journal::Journal> journal;
    std::unique_ptr<store::Store> store;
    engine::Engine engine;
    std::optional<engine::test::RunningProjector> setup_projector;
    std::vector<std::function<void()>> jobs;
    std::shared_ptr<EventMaps> maps{std::make_shared<EventMaps>()};
    services::EventSetup setup;
    Context context;
    http::Router router;

private:
    std::unique_ptr<journal::Journal> open_journal() {
        engine::test::AcceptingSink sink;
        auto const recovered = journal::recover("data", disk, {}, sink);
        if (!recovered) throw std::runtime_error{recovered.error().message};
        auto opened = journal::Journal::open(journal::test::small_options("data"), disk, clock,
                                             recovered->tail, listener);
        if (!opened) throw std::runtime_error{opened.error().message};
        return *std::move(opened);
    }
    EventSpec const* find_spec(EventId id) const {
        auto const* const event = engine.find(id);
        return event == nullptr ? nullptr : &event->spec();
    }
    std::vector<http::Route> routes(Context& made_of) const {
        made_of.streams =
            std::make_shared<SeatStreams>(made_of.journal, Sequence{}, SeatStreams::Bounds{});
        made_of.maps = maps;
        std::vector<http::Route> made;
        add_event_routes(made, made_of);
        check_query_names(made);
        return made;
    }
};

}  // namespace holdfast::api::test
