// More connections than descriptors (RELIABILITY.md 4.2, row 24): the sale goes on for who is
// connected, accepting never spins, and all is well once the crowd is gone.
#include "tests/e2e/audited.hpp"
#include "tests/http/live.hpp"
#include "tests/support/shoppers.hpp"
#include "tests/support/temp_folder.hpp"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

constexpr rlim_t descriptors = 1'024;
constexpr std::size_t kept_open = 1'100;

/// A connection that is asked for and not waited for.
class Knock {
public:
    explicit Knock(sockaddr_in const& address)
        : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        linger const gone{1, 0};  // nothing of it is left in this kernel when it is closed
        ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &gone, sizeof gone);
        auto const* const to = reinterpret_cast<sockaddr const*>(&address);
        asked_ = ::connect(fd_, to, sizeof address) == 0 || errno == EINPROGRESS;
    }
    ~Knock() {
        if (fd_ >= 0) ::close(fd_);
    }
    Knock(Knock&& other) noexcept : fd_(std::exchange(other.fd_, -1)), asked_(other.asked_) {}
    Knock& operator=(Knock&&) = delete;

    [[nodiscard]] bool asked() const noexcept { return asked_; }
    [[nodiscard]] int fd() const noexcept { return fd_; }

private:
    int fd_;
    bool asked_{};
};

sockaddr_in address_of(std::string const& url) {
    auto const colon = url.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoul(url.substr(colon + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// Some of them have been answered: by nothing but 503, as they have asked nothing.
bool some_hear_503(std::vector<Knock> const& knocks) {
    std::vector<pollfd> waits;
    for (Knock const& knock : knocks) waits.push_back({knock.fd(), POLLIN, 0});
    auto const deadline = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < deadline) {
        ::poll(waits.data(), waits.size(), 1'000);
        for (pollfd const& wait : waits) {
            char bytes[16]{};
            bool const readable = (wait.revents & POLLIN) != 0;
            if (readable && ::recv(wait.fd, bytes, sizeof bytes - 1, MSG_DONTWAIT) > 0)
                return std::string(bytes).starts_with("HTTP/1.1 503");
        }
    }
    return false;
}

long resident_kib(pid_t pid) {
    std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
    long pages = 0;
    statm >> pages >> pages;
    return pages * (::sysconf(_SC_PAGESIZE) / 1'024);
}

long long metric(std::string const& text, std::string const& name) {
    auto const at = text.find("\n" + name + " ");
    return at == text.npos ? -1 : std::strtoll(text.c_str() + at + name.size() + 2, nullptr, 10);
}

/// A server whose connections stay open, with an open event.
std::unique_ptr<ServerProcess> start_roomy(TempFolder const& folder,
                                           std::uint64_t descriptors_max) {
    auto server = std::make_unique<ServerProcess>(
        ServerProcess::Options{.data = folder.path() / "data",
                               .flags = {},
                               .variables = {{"HOLDFAST_STORAGE_SEGMENT_BYTES", "131072"},
                                             {"HOLDFAST_HTTP_IDLE_TIMEOUT_S", "3600"},
                                             {"HOLDFAST_LOG_LEVEL", "error"}},
                               .descriptors = descriptors_max});
    make_show(server->url());
    return server;
}

/// Somebody who came before the crowd, and buys.
class EarlyBuyer {
public:
    explicit EarlyBuyer(std::string const& url)
        : client_(url.substr(std::string_view("http://").size())) {}
    void claim() {
        // A key makes the record larger, so that segments change.
        REQUIRE(client_.send(live::post(
            "/v1/events/show/holds", R"({"best":{"quantity":1}})",
            "Idempotency-Key: " + std::string(200, 'k') + std::to_string(++claims_) + "\r\n")));
        auto const answer = client_.answer();
        CAPTURE(claims_, answer.body);
        REQUIRE(answer.status == 201);
    }
    [[nodiscard]] std::size_t claims() const noexcept { return claims_; }

private:
    live::Client client_;
    std::size_t claims_{};
};

struct Stampede {
    std::size_t attempts{};
    std::size_t not_taken{};  // by this kernel
    long more_kib{};          // of the server
    std::chrono::duration<double> took{};
};

/// A crowd that stays and one that knocks and goes away; `meanwhile` is called now and then. All
/// are gone at the end, and the server answers again.
Stampede stampede(ServerProcess& server, std::function<void()> const& meanwhile) {
    Stampede result;
    result.attempts =
        static_cast<std::size_t>(cycles_of_run("HOLDFAST_CONNECTIONS", 10'000, 100'000));
    auto const began = std::chrono::steady_clock::now();
    long const kib = resident_kib(server.child().pid());
    auto const address = address_of(server.url());
    std::vector<Knock> crowd;
    while (crowd.size() < kept_open) crowd.emplace_back(address);
    REQUIRE(some_hear_503(crowd));
    for (std::size_t attempt = 0; attempt < result.attempts; ++attempt) {
        if (!Knock(address).asked()) ++result.not_taken;
        if (attempt % 20 == 0) meanwhile();
    }
    result.more_kib = resident_kib(server.child().pid()) - kib;
    crowd.clear();
    CHECK(call(server.url(), "GET", "/healthz").status == 200);
    result.took = std::chrono::steady_clock::now() - began;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(result.more_kib < 64 * 1'024);  // sanitizers keep what was freed
#endif
    return result;
}

std::string metrics_of(ServerProcess const& server) {
    return call(server.admin_url(), "GET", "/metrics").body;
}

std::ostream& operator<<(std::ostream& out, Stampede const& stampede) {
    return out << "descriptors test: " << stampede.attempts << " connections attempted, "
               << stampede.not_taken << " not taken by this kernel, " << stampede.more_kib
               << " KiB more, " << stampede.took.count() << " s";
}

}  // namespace

TEST_CASE("a crowd that wants more descriptors than there are leaves the sale those it needs",
          "[e2e][descriptors]") {
    TempFolder const folder;
    auto const server = start_roomy(folder, descriptors);
    EarlyBuyer buyer(server->url());
    Stampede const crowd = stampede(*server, [&buyer] { buyer.claim(); });
    auto const metrics = metrics_of(*server);
    std::cout << crowd << ", " << buyer.claims() << " claims meanwhile\n";
    CHECK(metric(metrics, "holdfast_http_accept_pauses_total") == 0);
    CHECK(metric(metrics, "holdfast_http_connections_refused_total") > 0);
    CHECK(metric(metrics, "holdfast_mode") == 0);
    CHECK(metric(metrics, "holdfast_store_degraded") == 0);
    CHECK(server->stop() == 0);
    check_audit(folder.path() / "data");
}

TEST_CASE("without descriptors accepting rests for a tenth of a second at a time, and recovers",
          "[e2e][descriptors]") {
#ifdef __SANITIZE_ADDRESS__
    std::cout << "skipped: this sanitizer needs descriptors of its own\n";
    return;
#endif
    TempFolder const folder;
    auto const server = start_roomy(folder, 0);
    // Taken from it while it runs, so that it has admitted more than there are now.
    rlimit const few{descriptors, descriptors};
    REQUIRE(::prlimit(server->child().pid(), RLIMIT_NOFILE, &few, nullptr) == 0);
    Stampede const crowd = stampede(*server, [] {});
    auto const pauses = metric(metrics_of(*server), "holdfast_http_accept_pauses_total");
    std::cout << crowd << ", " << pauses << " pauses of accepting\n";
    CHECK(pauses > 0);
    // Two threads, each once a tick of a tenth of a second. A slow machine only allows more.
    CHECK(static_cast<double>(pauses) <= 2 * (10 * crowd.took.count() + 1));
    EarlyBuyer late(server->url());
    late.claim();
    auto const deadline = std::chrono::steady_clock::now() + 30s;
    while (metric(metrics_of(*server), "holdfast_store_degraded") != 0 &&
           std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    CHECK(call(server->url(), "GET", "/readyz").status == 200);
    CHECK(server->stop() == 0);
    check_audit(folder.path() / "data");
}
