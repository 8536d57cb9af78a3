#include "tests/loadgen/fake_server.hpp"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::loadgen::testing {
namespace {

constexpr int patience_ms = 10'000;

/// Reads up to the end of one request; empty at the end of the connection.
std::string read_request(int socket) {
    std::string request;
    std::array<char, 4'096> part{};
    std::size_t whole = std::string::npos;
    while (request.size() < whole) {
        auto const size = recv(socket, part.data(), part.size(), 0);
        if (size <= 0) return {};
        request.append(part.data(), static_cast<std::size_t>(size));
        auto const head = request.find("\r\n\r\n");
        if (whole != std::string::npos || head == std::string::npos) continue;
        auto const length = request.find("Content-Length: ");
        whole = head + 4;
        if (length < head) whole += std::stoul(request.substr(length + 16));
    }
    return request;
}

}  // namespace

FakeServer::FakeServer(std::vector<std::vector<std::string>> scripts)
    : scripts_(std::move(scripts)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    bool const listening = listener_ >= 0 && bind(listener_, name, size) == 0 &&
                           listen(listener_, 16) == 0 && getsockname(listener_, name, &size) == 0;
    if (!listening) throw std::runtime_error("the fake server cannot listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
}

FakeServer::~FakeServer() {
    if (thread_.joinable()) thread_.join();
    close(listener_);
}

std::string FakeServer::url() const {
    return "http://127.0.0.1:" + std::to_string(port_);
}

std::vector<std::string> const& FakeServer::join() {
    thread_.join();
    return received_;
}

void FakeServer::serve() {
    for (auto const& script : scripts_) {
        // A client that never comes must not hang the test.
        pollfd waiting{.fd = listener_, .events = POLLIN, .revents = 0};
        if (poll(&waiting, 1, patience_ms) != 1) return;
        int const socket = accept(listener_, nullptr, nullptr);
        if (socket < 0) return;
        play(socket, script);
        close(socket);
    }
}

void FakeServer::play(int socket, std::vector<std::string> const& script) {
    for (auto const& answer : script) {
        auto request = read_request(socket);
        if (request.empty()) return;
        received_.push_back(std::move(request));
        if (answer == "hang") {
            pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
            poll(&waiting, 1, patience_ms);
            return;
        }
        send(socket, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
}

}  // namespace holdfast::loadgen::testing
