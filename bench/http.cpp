// A server with one constant answer: the ceiling of the http module.
//
//   bench_http [--listen ADDR:PORT] [--threads N] [--seconds S] [--lsn]
//   wrk -t1 -c64 -d8s http://127.0.0.1:18080/
//
// --lsn: every answer depends on a record that another thread makes durable at once, as the
// journal would with an infinitely fast disk. --smoke: starts, answers one request, stops.
#include "bench/command_line.hpp"

#include <holdfast/base/clock.hpp>
#include <holdfast/base/published.hpp>
#include <holdfast/http/server.hpp>

#include <arpa/inet.h>
#include <chrono>
#include <iostream>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace holdfast;
using namespace holdfast::http;

class InstantGate final : public CommitGate {
public:
    [[nodiscard]] Lsn durable_lsn() const noexcept override { return durable.get(); }
    [[nodiscard]] bool failed() const noexcept override { return false; }
    Published<Lsn> durable;
};

class NoWorkers final : public Workers {
public:
    [[nodiscard]] bool submit(std::function<void()>) override { return false; }
};

struct Arguments {
    std::string listen{"127.0.0.1:18080"};
    unsigned threads{1};
    int seconds{600};
    bool lsn{};
    bool smoke{};
};

std::optional<int> parse(Arguments& out, int count, char** words) {
    CLI::App app("A server with one constant answer.", "bench_http");
    auto const be_small = [&out] {
        out.smoke = true;
        out.listen = "127.0.0.1:0";
    };
    app.add_flag_callback("--smoke", be_small, "Starts, answers one request, stops");
    app.add_option("--listen", out.listen, "Address and port");
    app.add_option("--threads", out.threads, "Of io")->check(CLI::PositiveNumber);
    app.add_option("--seconds", out.seconds, "How long")->check(CLI::PositiveNumber);
    app.add_flag("--lsn", out.lsn, "Every answer waits for another thread");
    return bench::ending_of_parse(app, count, words);
}

Router one_route(Published<Lsn>& appended, bool with_lsn) {
    std::vector<Route> routes;
    auto answer = [&appended, with_lsn](Request const&, Reply& reply) {
        reply.status = 201;
        reply.body.append(R"({"id":"h_0123456789abcdef","seats":["A-1-7","A-1-8"]})");
        if (!with_lsn) return;
        reply.lsn = Lsn{appended.get().value() + 1};
        appended.set(reply.lsn);
    };
    routes.push_back(Route{Method::get, "/", RunsOn::io, answer, {}, 0});
    routes.push_back(Route{Method::post, "/", RunsOn::io, answer, {}, limits::body_bytes_max});
    return Router{std::move(routes)};
}

bool answers(std::string const& address) {
    std::size_t const colon = address.rfind(':');
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(colon + 1))));
    ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &peer.sin_addr);
    int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::string_view const request = "GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";
    std::string answer;
    if (::connect(fd, reinterpret_cast<sockaddr*>(&peer), sizeof peer) == 0 &&
        ::send(fd, request.data(), request.size(), 0) > 0) {
        char bytes[4'096];
        for (ssize_t got = 1; got > 0;) {
            got = ::recv(fd, bytes, sizeof bytes, 0);
            if (got > 0) answer.append(bytes, static_cast<std::size_t>(got));
        }
    }
    ::close(fd);
    return answer.starts_with("HTTP/1.1 201 Created\r\n");
}

}  // namespace

int main(int count, char** words) {
    Arguments arguments;
    if (auto const code = parse(arguments, count, words)) return *code;
    InstantGate gate;
    NoWorkers workers;
    RunningClock const clock{TimePoint{}};
    Published<Lsn> appended;
    ServerOptions options;
    options.listen = arguments.listen;
    options.threads = arguments.lsn ? 1 : arguments.threads;
    Server server{options, one_route(appended, arguments.lsn), gate, workers, clock};
    server.start();
    std::cout << "listening at " << server.address() << std::endl;
    Published<bool> stop{false};
    std::thread journal{[&] {
        while (arguments.lsn && !stop.get()) {
            Lsn const last = appended.get();
            if (last == gate.durable.get()) {
                std::this_thread::yield();
                continue;
            }
            gate.durable.set(last);
            server.wake();
        }
    }};
    bool good = true;
    if (arguments.smoke) {
        good = answers(server.address());
    } else {
        std::this_thread::sleep_for(std::chrono::seconds{arguments.seconds});
    }
    server.stop(Milliseconds{1'000});
    stop.set(true);
    journal.join();
    ServerCounts const counts = server.counts();
    std::cout << counts.requests << " requests in " << counts.batches << " batches\n";
    return good ? 0 : 1;
}
