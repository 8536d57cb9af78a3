#include "tests/api/stage.hpp"

#include "api/events.hpp"
#include "api/json_reader.hpp"
#include "api/query_names.hpp"
#include "api/reference.hpp"
#include "tests/api/answer_check.hpp"

#include <holdfast/api/seat_streams.hpp>

#include <array>

namespace holdfast::test {
namespace {

using std::chrono::sys_days;
using std::chrono::year;

/// The store says it knows all up to here, so no read waits for a projector that does not run.
constexpr Lsn applied_at_start{1'000'000};

std::unique_ptr<store::Store> make_store(std::filesystem::path const& file) {
    auto store = store::Store::open(file, {});
    REQUIRE(store.has_value());
    REQUIRE((*store)->begin().has_value());
    REQUIRE((*store)->commit(applied_at_start, 0).has_value());
    return std::move(*store);
}

engine::ServerKey::Secret fixed_secret() {
    engine::ServerKey::Secret secret{};
    secret.fill(7);
    return secret;
}

}  // namespace

struct Stage::StageClock final : Clock {
    explicit StageClock(Stage const& owner) : stage(owner) {}
    [[nodiscard]] TimePoint now() const noexcept override { return stage.now; }
    Stage const& stage;
};

Stage::Stage(EventSpec spec)
    : now(TimePoint{sys_days{year{2027} / 5 / 1}} + std::chrono::hours{12}),
      engine(std::make_unique<engine::Engine>(journal, engine::EngineOptions{})),
      key(std::make_unique<engine::ServerKey>(fixed_secret())),
      store_(make_store(folder_.path() / "store.db")),
      projector_(std::make_unique<engine::Projector>(*store_, journal, disk_, folder_.path(),
                                                     *engine, *key)),
      setup_(std::make_unique<services::EventSetup>(*engine, *projector_,
                                                    [](auto const&) { return false; })),
      clock_(std::make_unique<StageClock>(*this)),
      next_lsn_(applied_at_start.value()) {
    context.reset(new api::Context{*engine,
                                   *projector_,
                                   *key,
                                   journal,
                                   *setup_,
                                   *clock_,
                                   folder_.path() / "store.db",
                                   std::string(admin_token),
                                   {},
                                   {}});
    context->streams =
        std::make_shared<api::SeatStreams>(journal, api::Sequence{}, api::SeatStreams::Bounds{});
    std::vector<http::Route> routes;
    api::add_event_step_routes(routes, *context);
    api::add_hold_routes(routes, *context);
    api::add_block_routes(routes, *context);
    api::add_order_routes(routes, *context);
    api::add_health_routes(routes, *context);
    api::add_reference_routes(routes);
    api::add_metrics_route(routes, *context);
    api::add_index_route(routes);
    api::check_query_names(routes);
    router_.emplace(std::move(routes));
    event = &add_event(std::move(spec));
}

Stage::~Stage() {
    router_.reset();
    projector_.reset();
    store_.reset();
}

engine::LiveEvent& Stage::add_event(EventSpec spec) {
    engine::LiveEvent& added = add_unbuilt(std::move(spec));
    engine->build(added, {});
    return added;
}

engine::LiveEvent& Stage::add_unbuilt(EventSpec spec) {
    // The catalogue first, as the server does it: it gives the id.
    auto const id = store_->insert_event(spec);
    REQUIRE(id.has_value());
    REQUIRE(id->has_value());
    spec.id = **id;
    auto* const added = engine->add(std::make_shared<EventSpec const>(std::move(spec)));
    REQUIRE(added != nullptr);
    return *added;
}

Stage::Answer Stage::send_keyed(std::optional<std::string> const& idempotency_key,
                                http::Method method, std::string const& target,
                                std::string const& body, std::string const& authorization) {
    http::Request request;
    request.method = method;
    std::size_t const query = std::min(target.find('?'), target.size());
    request.path = std::string_view(target).substr(0, query);
    if (query < target.size()) request.query = std::string_view(target).substr(query + 1);
    std::array<http::Field, 2> const fields{http::Field{"Host", "t.example"},
                                            http::Field{"authorization", authorization}};
    request.fields = std::span(fields).first(authorization.empty() ? 1 : 2);
    request.body = body;
    request.idempotency_key = idempotency_key;
    request.received_at = now;
    request.request_id = "r-1";
    auto const match = router_->match(request);
    Answer answer;
    answer.status = match.status;
    if (match.route == nullptr) return answer;
    http::Reply reply;
    match.route->handler(request, reply);
    // What a session asserts before it writes a success of a mutation.
    CHECK(reply.lsn <= journal.appended_lsn());
    CHECK(reply.status < 600);
    bool const problem = reply.content_type == "application/problem+json";
    CHECK(problem == (reply.status >= 400));
    // A refusal waits for the disk only if it names what may not be there yet.
    if (problem && reply.status != 409) CHECK(reply.lsn == no_lsn);
    CHECK(reply.status != 500);
    check_answer(http::to_string(method), match.route->pattern,
                 {reply.status, reply.content_type, reply.content(), reply.headers});
    return {reply.status, std::string(reply.content()), reply.headers,
            std::string(reply.content_type), reply.lsn};
}

std::string Stage::Answer::operator[](std::string_view key) const {
    api::JsonReader reader;
    auto const root = reader.read_object(body);
    if (!root) return "not JSON: " + body;
    auto const member = root->find(key);
    if (!member) return "";
    if (member->is(api::JsonKind::string)) return std::string(member->text());
    if (member->is(api::JsonKind::integer)) return std::to_string(member->integer());
    if (member->is(api::JsonKind::boolean)) return member->boolean() ? "true" : "false";
    if (member->is(api::JsonKind::null)) return "null";
    // Lists of strings, and of objects as their strings and numbers, in order.
    std::string out;
    for (auto const item : *member) {
        if (!out.empty()) out += ' ';
        if (item.is(api::JsonKind::string)) out += item.text();
        std::string parts;
        for (auto const part : item) {
            if (!parts.empty()) parts += ':';
            parts += part.is(api::JsonKind::integer) ? std::to_string(part.integer())
                                                     : std::string(part.text());
        }
        out += parts;
    }
    return out;
}

std::string Stage::Answer::error() const {
    api::JsonReader reader;
    auto const root = reader.read_object(body);
    auto const errors = root ? root->find("errors") : std::nullopt;
    if (!errors || errors->size() == 0) return "";
    auto const first = *errors->begin();
    std::string const pointer{first.find("pointer")->text()};
    std::string const code{first.find("code")->text()};
    return pointer.empty() ? code : pointer + " " + code;
}

std::string Stage::Answer::header(std::string_view name) const {
    std::string const start = std::string(name) + ": ";
    std::size_t const at = headers.find(start);
    if (at == std::string::npos) return "";
    std::size_t const from = at + start.size();
    return headers.substr(from, headers.find("\r\n", from) - from);
}

void Stage::record_order(std::string const& order, std::vector<std::string> const& holds) {
    store::OrderRow row;
    row.order = *engine::parse_order_id(order);
    row.payment_method = "none";
    row.currency = "EUR";
    row.created_at = now;
    row.lsn = Lsn{++next_lsn_};
    std::vector<SeatIndex> seats;
    for (std::string const& id : holds) {
        auto const name = key->parse_hold_id(id);
        REQUIRE(name.has_value());
        row.holds.emplace_back(name->event, name->ref);
        row.event = row.holds.front().first;
        auto const view = engine->read(*name, now, seats);
        REQUIRE(view.has_value());
        row.total += view->total;
        Layout const& layout = engine->find(name->event)->spec().layout;
        for (SeatIndex const seat : seats) {
            auto const section = layout.section_of(seat).value();
            row.tickets.push_back({key->ticket_id(row.order, name->event, seat), name->event, seat,
                                   std::string(layout.name_of(seat)), layout.sections()[section].id,
                                   layout.price_of(seat)});
        }
    }
    REQUIRE(store_->begin().has_value());
    REQUIRE(store_->apply_order(row).has_value());
    REQUIRE(store_->commit(row.lsn, 0).has_value());
}

bool Stage::seat_is_free(std::string_view name) {
    auto const seat = event->spec().layout.find_seat(name);
    REQUIRE(seat.has_value());
    return event->place(*seat, now) == engine::PlaceState::free;
}

}  // namespace holdfast::test
