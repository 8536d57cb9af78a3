// Fake server: answers each connection with a script of raw bytes, on its own thread.
//
// Purpose: lets client tests see what a real server never sends. Thread safety: one owner; what was
// received may be read after join().
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::loadgen::testing {

class FakeServer {
public:
    /// One connection per inner list, one after the other: each text answers one read request. A
    /// connection whose list is used up is closed; "hang" in place of a text sends nothing and
    /// waits until the client closes.
    explicit FakeServer(std::vector<std::vector<std::string>> scripts);
    ~FakeServer();
    FakeServer(FakeServer const&) = delete;
    FakeServer& operator=(FakeServer const&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string url() const;
    /// Waits until every script was played; the requests as they came.
    std::vector<std::string> const& join();

private:
    void serve();
    void play(int socket, std::vector<std::string> const& script);

    std::vector<std::vector<std::string>> scripts_;
    std::vector<std::string> received_;
    int listener_{-1};
    std::uint16_t port_{};
    std::thread thread_;
};

}  // namespace holdfast::loadgen::testing
