// Rush: what the benches of one crowded event share: a server of their own, the event, connections.
//
// Thread safety: one thread.
#pragma once

#include "loadgen/child_server.hpp"

#include <holdfast/loadgen/fetch.hpp>

#include <arpa/inet.h>
#include <chrono>
#include <filesystem>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace holdfast::bench {

struct ScratchFolder {
    explicit ScratchFolder(std::filesystem::path const& below) {
        std::string text = (below / "holdfast-rush-XXXXXX").string();
        if (::mkdtemp(text.data()) == nullptr) throw std::runtime_error("no folder in " + text);
        path = text;
    }
    ~ScratchFolder() {
        std::error_code ignored;  // a folder that stays is no wrong result
        std::filesystem::remove_all(path, ignored);
    }
    ScratchFolder(ScratchFolder const&) = delete;
    ScratchFolder& operator=(ScratchFolder const&) = delete;
    std::filesystem::path path;
};

inline void run_on(unsigned core) {
    if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    (void)::sched_setaffinity(0, sizeof set, &set);  // unpinned it measures a little worse
}

/// A blocking connection; throws std::runtime_error.
inline int connect_to(loadgen::Url const& server) {
    int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int const on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port);
    ::inet_pton(AF_INET, server.host.c_str(), &address.sin_addr);
    if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        throw std::runtime_error("connect");
    return socket;
}

/// One general-admission place.
inline std::string claim_request(std::string const& event) {
    return "POST /v1/events/" + event +
           "/holds HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n"
           "Content-Length: 29\r\n\r\n{\"section\":\"GA\",\"quantity\":1}";
}

/// A server on core 0 with one io thread, and the event `rush`; from then on the caller is on
/// core 1.
class Rush {
public:
    /// `settings`: more of its environment. Throws std::runtime_error.
    Rush(std::filesystem::path const& below, std::vector<std::string> settings,
         int places = 200'000)
        : folder_(below), server_(options(std::move(settings))) {
        run_on(0);
        auto const url = server_.start();
        run_on(1);
        if (!url) throw std::runtime_error(url.error().text);
        url_ = *url;
        open_event(places);
    }
    [[nodiscard]] loadgen::Url const& url() const noexcept { return url_; }
    [[nodiscard]] loadgen::ChildServer& server() noexcept { return server_; }

private:
    static constexpr char const* token = "token-of-the-rush-bench";

    [[nodiscard]] loadgen::ChildServer::Options options(std::vector<std::string> settings) const {
        settings.insert(settings.end(),
                        {std::string("HOLDFAST_ADMIN_TOKEN=") + token,
                         "HOLDFAST_SERVER_IO_THREADS=1", "HOLDFAST_LOG_LEVEL=error"});
        return {.executable = HOLDFAST_EXECUTABLE,
                .data = folder_.path / "data",
                .log = folder_.path / "log",
                .environment = std::move(settings)};
    }

    void open_event(int places) const {
        std::string const address = loadgen::to_text(url_);
        loadgen::Query query{.method = "POST", .target = "/v1/events", .fields = {}, .body = {}};
        query.fields = {{"Authorization", std::string("Bearer ") + token},
                        {"Content-Type", "application/json"}};
        query.body = R"({"id":"rush","name":"Rush","publish":true,
            "categories":[{"key":"std","name":"Standard","price":4500}],
            "sections":[{"id":"GA","name":"Floor","category":"std","capacity":)" +
                     std::to_string(places) + "}]}";
        auto const made = loadgen::fetch(address, query);
        if (!made || made->status != 202) throw std::runtime_error("the event was not made");
        auto const end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
        while (std::chrono::steady_clock::now() < end) {
            loadgen::Query const look{
                .method = "GET", .target = "/v1/events/rush", .fields = {}, .body = {}};
            auto const event = loadgen::fetch(address, look);
            if (event && loadgen::text_of(event->body, "state") == "open") return;
        }
        throw std::runtime_error("the event did not open");
    }

    ScratchFolder folder_;
    loadgen::ChildServer server_;
    loadgen::Url url_;
};

}  // namespace holdfast::bench
