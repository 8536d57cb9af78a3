#include "bench/soak/lingerers.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace holdfast::soak {
namespace {

constexpr Milliseconds look_every{50};
constexpr std::size_t head_kept = 200;

}  // namespace

Lingerers::Lingerers(loadgen::Loop& loop, Options options, std::uint64_t seed)
    : loop_(loop), options_(std::move(options)), dice_(seed) {
    for (auto const& [kind, count] : {std::pair{Kind::stream, options_.streams},
                                      {Kind::idle, options_.idle},
                                      {Kind::half, options_.half}})
        visitors_.insert(visitors_.end(), count, Visitor{.kind = kind, .until = {}, .head = {}});
}

Lingerers::~Lingerers() {
    pause();
}

void Lingerers::begin(loadgen::Url const& url) {
    url_ = url;
    away_ = false;
    if (!std::exchange(ticks_, true)) loop_.post([this] { tick(); });
}

void Lingerers::pause() {
    away_ = true;
    for (Visitor& visitor : visitors_) close(visitor);
}

void Lingerers::tick() {
    loop_.after(look_every, [this] { tick(); });
    if (away_) return;
    auto const now = std::chrono::steady_clock::now();
    for (Visitor& visitor : visitors_) look(visitor, now);
}

void Lingerers::look(Visitor& visitor, loadgen::Moment now) {
    if (visitor.fd < 0) return open(visitor, now);
    bool const goes_on = read(visitor);
    if (!goes_on) judge_end(visitor);
    if (!goes_on || now >= visitor.until) close(visitor);
}

void Lingerers::open(Visitor& visitor, loadgen::Moment now) {
    // Not all at once after a start.
    if (dice_.below(10) != 0) return;
    visitor.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(url_.port);
    ::inet_pton(AF_INET, url_.host.c_str(), &address.sin_addr);
    std::string request = "GET /healthz HTTP/1.1\r\nHost: soak.example\r\n\r\n";
    if (visitor.kind == Kind::half) request.resize(dice_.below(20));
    if (visitor.kind == Kind::stream)
        request = "GET " + options_.stream_target + " HTTP/1.1\r\nHost: soak.example\r\n\r\n";
    if (visitor.fd < 0 ||
        ::connect(visitor.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::send(visitor.fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
        options_.wrong("a connection was not taken");
        return close(visitor);
    }
    ++came_;
    visitor.head.clear();
    visitor.until = now + Milliseconds{1'000 + dice_.below(30'000)};
}

bool Lingerers::read(Visitor& visitor) {
    std::array<char, 16'384> bytes;
    for (;;) {
        ssize_t const got = ::recv(visitor.fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got < 0) return errno == EAGAIN || errno == EINTR;
        if (got == 0) return false;
        auto const count = static_cast<std::size_t>(got);
        if (visitor.kind == Kind::stream) streamed_bytes_ += count;
        if (visitor.head.size() < head_kept) visitor.head.append(bytes.data(), count);
    }
}

/// A stream goes on; the others may be sent away once their timers are over.
void Lingerers::judge_end(Visitor const& visitor) const {
    if (visitor.kind == Kind::stream)
        options_.wrong("a stream ended: " + visitor.head.substr(0, head_kept));
    if (visitor.kind == Kind::idle && !visitor.head.starts_with("HTTP/1.1 200 "))
        options_.wrong("an idle connection heard: " + visitor.head.substr(0, head_kept));
}

void Lingerers::close(Visitor& visitor) {
    if (visitor.fd >= 0) ::close(std::exchange(visitor.fd, -1));
}

}  // namespace holdfast::soak
