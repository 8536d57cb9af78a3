// Child server: `holdfast serve` as a child process that can be stopped abruptly.
//
// Purpose: the bench's own server on loopback ports and a scratch data folder; start() after
// kill_now() is the restart that the checks are about.
// Thread safety: one owner. Invariants: the child is always reaped, and ends when we do.
#pragma once

#include <holdfast/loadgen/fetch.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace holdfast::loadgen {

class ChildServer {
public:
    struct Options {
        std::filesystem::path executable;
        std::filesystem::path data;
        std::filesystem::path log;             // standard error goes there
        std::vector<std::string> environment;  // "NAME=value", before what we have
        Milliseconds ready_timeout{30'000};
    };

    explicit ChildServer(Options options);
    ~ChildServer();
    ChildServer(ChildServer const&) = delete;
    ChildServer& operator=(ChildServer const&) = delete;

    /// Starts it and waits for its `ready` line; where it listens.
    [[nodiscard]] ResultOf<Url, FetchError> start();
    /// Nothing while it runs; else how it ended.
    [[nodiscard]] std::optional<std::string> ended();
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    /// Where its admin listener is, as its last `ready` line said.
    [[nodiscard]] Url const& admin() const noexcept { return admin_; }
    /// SIGTERM; ended() tells when and how.
    void ask_to_stop() const;
    /// SIGKILL and wait: what an operator's `kill -9` does.
    void kill_now();

private:
    [[nodiscard]] bool spawn();
    struct FirstLine {
        std::string text;
    };
    [[nodiscard]] ResultOf<FirstLine, FetchError> read_first_line();
    void reap(int status);

    Options options_;
    pid_t pid_{-1};
    int output_{-1};  // kept open: a child whose pipe is gone gets SIGPIPE
    std::string end_;
    Url admin_{};
};

}  // namespace holdfast::loadgen
