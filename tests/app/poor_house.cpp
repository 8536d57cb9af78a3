#include "tests/app/poor_house.hpp"

#include "tests/app/poor_text.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

namespace holdfast::app::test {
namespace {

constexpr std::string_view house_event =
    R"({"id":"demo","name":"Demo","publish":true,"currency":"EUR",
        "policy":{"hold_ttl_s":3600,"hold_max_life_s":7200,"max_extensions":5},
        "categories":[{"key":"vip","name":"VIP","price":12000},
                      {"key":"std","name":"Standard","price":4500}],
        "sections":[
          {"id":"A","name":"Stalls","category":"vip",
           "rows":[{"label":"1","seats":10},{"label":"2","seats":10}]},
          {"id":"B","name":"Circle","category":"std","rows":[{"label":"1","seats":10}]},
          {"id":"GA","name":"Floor","category":"std","capacity":50}]})";

Config house_config(std::filesystem::path const& data) {
    Config config;
    config.listen = config.admin_listen = "127.0.0.1:0";
    config.io_threads = 1;
    config.workers = 1;
    config.data = data;
    config.segment_bytes = 1U << 16;
    config.free_bytes_min = 0;
    config.limit_loopback = true;
    config.connections_per_address_max = 1'000;
    config.reads_per_network_s = config.writes_per_network_s = 100'000;
    config.overload_wait_ms = 0;  // a slow machine is no overload
    config.trusted = "127.0.0.1";
    config.named_by = "x-forwarded-for";
    config.origins = "https://shop.example";
    config.restart_grace = Milliseconds{0};
    config.ttl_min = Milliseconds{1'000};
    config.token = PoorHouse::token;
    return config;
}

}  // namespace

std::string text_of(Asked const& asked) {
    std::string text = asked.method + " " + asked.target + " HTTP/1.1\r\nHost: t.example\r\n";
    if (!asked.authorization.empty()) text += "Authorization: " + asked.authorization + "\r\n";
    text += asked.more;
    if (!asked.body.empty())
        text += "Content-Type: application/json\r\nContent-Length: " +
                std::to_string(asked.body.size()) + "\r\n";
    return text + "\r\n" + asked.body;
}

PoorHouse::PoorHouse(std::shared_ptr<http::TlsIdentity const> identity) {
    disk_ = std::make_unique<journal::test::MemoryDisk>();
    open();
    furnish();
    end();
    keep();
    identity_ = std::move(identity);
}

PoorHouse::~PoorHouse() {
    end();
}

void PoorHouse::open() {
    auto folder = DataFolder::open(data_);
    if (!folder) throw std::runtime_error(folder.error().message);
    folder_.emplace(std::move(*folder));
    kernels_.emplace(*disk_);
    auto restored = restore_state(*folder_, *kernels_);
    if (!restored) throw std::runtime_error(restored.error().message);
    Config const config = house_config(data_);
    auto server =
        Server::start({config, *folder_, *kernels_, false, identity_}, std::move(*restored));
    if (!server) throw std::runtime_error(server.error().message);
    server_ = std::move(*server);
    std::string const ready = server_->ready_line();
    std::size_t const at = ready.find("//") + 2;
    address_ = ready.substr(at, ready.find(' ', at) - at);
    admin_address_ = server_->admin_url().substr(std::string_view{"http://"}.size());
}

void PoorHouse::end() {
    if (server_ && server_->stop() != 0) throw std::runtime_error("the journal has failed");
    server_.reset();
    folder_.reset();
}

void PoorHouse::keep() {
    kept_ = disk_->copy();
    auto const store = data_ / "store.db";
    std::filesystem::copy_file(store, folder_of_test_.path() / "kept.db",
                               std::filesystem::copy_options::overwrite_existing);
}

void PoorHouse::grow() {
    constexpr unsigned enough = 8;
    end();
    // Deleted is what this is for, but not yet.
    engine::test::fail_allocation_of({"keeper"}, 1, true);
    open();
    while (!has_segment(enough)) {
        auto const held =
            must(201, {"POST", "/v1/events/demo/holds", R"({"section":"GA","quantity":1})"});
        static_cast<void>(must(204, {"DELETE",
                                     "/v1/holds/" + member(held.body, "hold"),
                                     {},
                                     "Hold " + member(held.body, "token")}));
    }
    static_cast<void>(must(200, {"GET", "/v1/orders/" + order, {}, staff()}));
    end();
    engine::test::end_of_failing();
    keep();
}

bool PoorHouse::has_segment(unsigned number) const {
    std::string const digits = std::to_string(number);
    std::string const name = std::string(16 - digits.size(), '0') + digits + ".hfj";
    return disk_->has(data_ / "journal" / name);
}

void PoorHouse::begin() {
    end();
    disk_ = kept_->copy();
    for (char const* const name : {"store.db", "store.db-wal", "store.db-shm"})
        std::filesystem::remove(data_ / name);
    std::filesystem::copy_file(folder_of_test_.path() / "kept.db", data_ / "store.db");
    open();
}

void PoorHouse::restart() {
    end();
    open();
}

live::Answer PoorHouse::ask(Asked const& asked) const {
    live::Client client = connect_admin();
    if (!client.send(text_of(asked))) return {};
    return client.answer(asked.method == "HEAD");
}

live::Answer PoorHouse::must(unsigned status, Asked const& asked) const {
    auto answer = ask(asked);
    if (answer.status != status)
        throw std::runtime_error(asked.target + ": " + std::to_string(answer.status) + answer.body);
    return answer;
}

void PoorHouse::furnish() {
    static_cast<void>(must(202, {"POST", "/v1/events", std::string{house_event}, staff()}));
    auto const deadline = std::chrono::steady_clock::now() + live::deadline;
    while (member(ask({"GET", "/v1/events/demo"}).body, "state") != "open") {
        if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("no seats");
        std::this_thread::yield();
    }
    static_cast<void>(must(202, {"POST", "/v1/events",
                                 R"({"id":"later","name":"Later","publish":false,
                  "sections":[{"id":"GA","capacity":5}]})",
                                 staff()}));
    auto const claim = [this](std::string const& body) {
        return must(201, {"POST", "/v1/events/demo/holds", body}).body;
    };
    auto const mine =
        claim(R"({"lines":[{"seats":["A-1-1","A-1-2"]},{"section":"GA","quantity":2}]})");
    hold = member(mine, "hold");
    hold_token = member(mine, "token");
    auto const others = claim(R"({"seats":["A-2-5","A-2-6"]})");
    other_hold = member(others, "hold");
    other_hold_token = member(others, "token");
    auto const sold = claim(R"({"seats":["A-2-1","A-2-2"]})");
    auto const made =
        must(201, {"POST", "/v1/orders",
                   R"({"holds":[")" + member(sold, "hold") + R"("],"payment":{"method":"none"}})",
                   "Hold " + member(sold, "token")});
    order = member(made.body, "order");
    for (std::size_t at = 0; (at = made.body.find("\"ticket\"", at)) != std::string::npos; ++at)
        tickets.push_back(member(std::string_view{made.body}.substr(at), "ticket"));
    block = member(
        must(201, {"POST", "/v1/events/demo/blocks", R"({"seats":["B-1-1","B-1-2"]})", staff()})
            .body,
        "hold");
    static_cast<void>(must(200, {"GET", "/v1/orders/" + order, {}, staff()}));
}

std::string PoorHouse::settled_state() const {
    auto const deadline = std::chrono::steady_clock::now() + live::deadline;
    for (;;) {
        std::string all = state();
        bool const settled = all.find("\"preparing\"") == std::string::npos;
        if (settled || std::chrono::steady_clock::now() > deadline) return all;
    }
}

std::string PoorHouse::state() const {
    std::string all;
    Asked const asked[] = {{"GET", "/v1/events", {}, staff()},
                           {"GET", "/v1/events/demo/state", {}, {}},
                           {"GET", "/v1/events/demo/blocks", {}, staff()},
                           {"GET", "/v1/holds/" + hold, {}, staff()},
                           {"GET", "/v1/holds/" + other_hold, {}, staff()},
                           {"GET", "/v1/orders", {}, staff()},
                           {"GET", "/v1/orders/" + order, {}, staff()}};
    for (Asked const& each : asked) {
        auto const answer = ask(each);
        // What has ended is told otherwise after a restart.
        std::string const body = answer.status == 200 ? lasting(answer.body) : "gone";
        all += each.target + " " + (answer.status == 0 ? "no answer" : body) + "\n";
    }
    return all;
}

bool PoorHouse::has_no_connections() const {
    auto const deadline = std::chrono::steady_clock::now() + live::deadline;
    while (std::chrono::steady_clock::now() < deadline) {
        auto const metrics = ask({"GET", "/metrics", {}, staff()}).body;
        if (metrics.find("holdfast_http_connections_open 0\n") != std::string::npos) return true;
    }
    return false;
}

}  // namespace holdfast::app::test
