// Benchmark of many open streams of seat changes on one io thread.
//
// `holdfast serve` runs as a child with one io thread, and this program opens its streams (10,000,
// with --smoke 50), each on a connection of its own. Then:
//   memory     resident bytes of the server for each open stream, beyond the server before;
//   rounds     one claim at a time; from its answer to the delta at the first and at the last
//              stream, and the server's processor time until then.
// Usage: bench_streams [--smoke] [--json] [--streams N]. Needs N descriptors here and in the server
// (ulimit -n). Client and server share the machine, so the last delta also waits for the client.

#include "bench/command_line.hpp"
#include "loadgen/child_server.hpp"
#include "loadgen/host.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace holdfast;
using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;
using Millis = std::chrono::duration<double, std::milli>;

constexpr char const* token = "token-of-the-stream-bench";
constexpr auto patience = 60s;

/// The one child of this process.
class Observed {
public:
    Observed() {
        auto const self = std::to_string(::getpid());
        std::ifstream("/proc/self/task/" + self + "/children") >> pid_;
        if (pid_.empty()) throw std::runtime_error("no child to look at");
    }
    [[nodiscard]] std::uint64_t resident_bytes() const {
        std::ifstream status("/proc/" + pid_ + "/status");
        std::uint64_t kib = 0;
        for (std::string word; status >> word;)
            if (word == "VmRSS:") status >> kib;
        return kib * 1'024;
    }
    /// Of all its threads.
    [[nodiscard]] Millis processor_time() const {
        std::ifstream stat("/proc/" + pid_ + "/stat");
        std::string line;
        std::getline(stat, line);
        line.erase(0, line.rfind(')') + 2);  // from the state on
        std::uint64_t ticks = 0;
        std::size_t at = 0;
        for (int field = 0; field < 13; ++field) {
            std::size_t const end = line.find(' ', at);
            if (field >= 11) ticks += std::stoull(line.substr(at, end - at));
            at = end + 1;
        }
        return Millis(1'000.0 * static_cast<double>(ticks) /
                      static_cast<double>(::sysconf(_SC_CLK_TCK)));
    }

private:
    std::string pid_;
};

/// All streams, read by one thread.
class Watchers {
public:
    explicit Watchers(std::uint16_t port) : port_(port), set_(::epoll_create1(EPOLL_CLOEXEC)) {}
    ~Watchers() {
        for (int const socket : sockets_) ::close(socket);
        ::close(set_);
    }
    Watchers(Watchers const&) = delete;
    Watchers& operator=(Watchers const&) = delete;

    void open(std::size_t count) {
        std::string const request =
            "GET /v1/events/bench/stream HTTP/1.1\r\nHost: bench.example\r\n\r\n";
        while (sockets_.size() < count) {
            int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            sockaddr_in address{};
            address.sin_family = AF_INET;
            address.sin_port = htons(port_);
            address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            if (socket < 0 ||
                ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
                ::send(socket, request.data(), request.size(), MSG_NOSIGNAL) < 0)
                throw std::runtime_error("a stream cannot be opened; see ulimit -n");
            epoll_event event{};
            event.events = EPOLLIN | EPOLLET;
            event.data.u64 = sockets_.size();
            sockets_.push_back(socket);
            counts_.push_back(0);
            ::epoll_ctl(set_, EPOLL_CTL_ADD, socket, &event);
            if (sockets_.size() % 100 == 0) static_cast<void>(read(0ms));
        }
    }
    struct Arrivals {
        SteadyClock::time_point first, last;
    };
    /// Until every stream has had so many events that have data.
    Arrivals wait_for(std::uint32_t events) {
        Arrivals arrivals{};
        auto const end = SteadyClock::now() + patience;
        auto const before = received_;
        while (std::ranges::any_of(counts_, [=](auto count) { return count < events; })) {
            if (SteadyClock::now() > end) throw std::runtime_error("a stream got nothing");
            if (!read(100ms)) continue;
            arrivals.last = SteadyClock::now();
            if (arrivals.first == SteadyClock::time_point{} && received_ > before)
                arrivals.first = arrivals.last;
        }
        return arrivals;
    }

private:
    bool read(std::chrono::milliseconds limit) {
        std::array<epoll_event, 256> events;
        int const count = ::epoll_wait(set_, events.data(), static_cast<int>(events.size()),
                                       static_cast<int>(limit.count()));
        for (int i = 0; i < count; ++i) {
            std::size_t const index = events[static_cast<std::size_t>(i)].data.u64;
            std::array<char, 16'384> bytes;
            ssize_t const got = ::recv(sockets_[index], bytes.data(), bytes.size(), MSG_DONTWAIT);
            if (got == 0) throw std::runtime_error("a stream ended");
            std::string_view text(bytes.data(),
                                  static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
            for (auto at = text.find("data: "); at != text.npos; at = text.find("data: ", at + 1)) {
                ++counts_[index];
                ++received_;
            }
        }
        return count > 0;
    }

    std::uint16_t port_;
    int set_;
    std::vector<int> sockets_;
    std::vector<std::uint32_t> counts_;
    std::uint64_t received_{};
};

loadgen::Reply ask(std::string const& url, std::string const& target, std::string const& body) {
    loadgen::Query query{"POST", target, {{"content-type", "application/json"}}, body};
    query.fields.emplace_back("authorization", std::string("Bearer ") + token);
    auto reply = loadgen::fetch(url, query);
    if (!reply || reply->status >= 300) throw std::runtime_error(target + " was refused");
    return *std::move(reply);
}

void wait_until_open(std::string const& url) {
    auto const end = SteadyClock::now() + patience;
    while (SteadyClock::now() < end) {
        auto const event = loadgen::fetch(url, {"GET", "/v1/events/bench", {}, ""});
        if (event && event->body.find("\"state\":\"open\"") != std::string::npos) return;
    }
    throw std::runtime_error("the event does not open");
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

void print(bool json, char const* name, std::vector<double> const& values) {
    std::printf(
        json ? ",\"%s\":{\"median\":%.2f,\"worst\":%.2f}" : "%-44s median %9.2f   worst %9.2f\n",
        name, median(values), std::ranges::max(values));
}

void run(std::size_t streams, int rounds, bool json) {
    if (!loadgen::allow_open_files(streams + 100))
        throw std::runtime_error("not enough file descriptors; see ulimit -n");
    test::TempFolder const folder;
    loadgen::ChildServer server(
        {.executable = HOLDFAST_EXECUTABLE,
         .data = folder.path() / "data",
         .log = folder.path() / "log",
         .environment = {"HOLDFAST_LOG_LEVEL=warn", "HOLDFAST_SERVER_IO_THREADS=1",
                         "HOLDFAST_HTTP_STREAMS_MAX=" + std::to_string(streams),
                         "HOLDFAST_HTTP_CONNECTIONS_MAX=1000",
                         "HOLDFAST_HTTP_STREAM_HEARTBEAT_S=3600",
                         std::string("HOLDFAST_ADMIN_TOKEN=") + token}});
    auto const started = server.start();
    if (!started) throw std::runtime_error("the server does not start");
    std::string const url = "http://127.0.0.1:" + std::to_string(started->port);
    ask(url, "/v1/events",
        R"({"id":"bench","name":"Bench","publish":true,"sections":[{"id":"A","rows":[)"
        R"({"label":"1","seats":500},{"label":"2","seats":500}]}]})");
    wait_until_open(url);
    Observed const observed;
    auto const empty = observed.resident_bytes();
    Watchers watchers(started->port);
    auto const begin = SteadyClock::now();
    watchers.open(streams);
    static_cast<void>(watchers.wait_for(1));  // the hint
    double const opening = Millis(SteadyClock::now() - begin).count();
    auto const bytes = static_cast<double>(observed.resident_bytes() - empty);
    std::printf(json ? "{\"streams\":%zu,\"opening_ms\":%.0f,\"bytes_a_stream\":%.0f"
                     : "%zu streams opened in %.0f ms, %.0f resident bytes each\n",
                streams, opening, bytes / static_cast<double>(streams));
    std::vector<double> first;
    std::vector<double> fan_out;
    std::vector<double> processor;
    for (int round = 0; round < rounds; ++round) {
        Millis const before = observed.processor_time();
        ask(url, "/v1/events/bench/holds", R"({"best":{"quantity":2}})");
        auto const answered = SteadyClock::now();
        auto const arrivals = watchers.wait_for(2 + static_cast<std::uint32_t>(round));
        first.push_back(Millis(arrivals.first - answered).count());
        fan_out.push_back(Millis(arrivals.last - arrivals.first).count());
        processor.push_back((observed.processor_time() - before).count());
    }
    print(json, "answer_to_first_delta_ms", first);
    print(json, "first_to_last_delta_ms", fan_out);
    print(json, "processor_time_ms", processor);
    if (json) std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t streams = 10'000;
    int rounds = 15;
    bool json = false;
    CLI::App app("Many open streams of seat changes.", "bench_streams");
    auto const be_small = [&] {
        streams = 50;
        rounds = 2;
    };
    app.add_flag_callback("--smoke", be_small, "Small");
    app.add_flag("--json", json, "JSON lines");
    app.add_option("--streams", streams, "How many");
    if (auto const code = bench::ending_of_parse(app, argc, argv)) return *code;
#ifndef __OPTIMIZE__
    std::fprintf(stderr, "warning: not an optimized build, the figures mean nothing\n");
#endif
    try {
        run(streams, rounds, json);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "bench_streams: %s\n", error.what());
        return 1;
    }
    return 0;
}
