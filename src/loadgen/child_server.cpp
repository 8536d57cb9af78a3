#include "loadgen/child_server.hpp"

#include <holdfast/base/assert.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::loadgen {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (auto& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

/// Between fork and exec: only calls that are safe after a fork.
[[noreturn]] void become_server(pid_t parent, int output, int log, char* const* arguments,
                                char* const* environment) {
    // The server ends with the bench, also when that is killed; it may be gone already.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    int const input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool const placed = dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
                        dup2(log, STDERR_FILENO) >= 0;
    // Our sockets are not its own: Asio's would stay open in it for all its life.
    close_range(STDERR_FILENO + 1, ~0U, 0);
    if (placed) execve(arguments[0], arguments, environment);
    _exit(127);
}

}  // namespace

ChildServer::ChildServer(Options options) : options_(std::move(options)) {}

ChildServer::~ChildServer() {
    kill_now();
}

ResultOf<Url, FetchError> ChildServer::start() {
    HOLDFAST_ASSERT(pid_ < 0);
    end_.clear();
    if (!spawn()) return FetchError{"cannot start " + options_.executable.string()};
    auto const first = read_first_line();
    if (!first) {
        kill_now();
        return first.error();
    }
    auto const& line = first->text;
    constexpr std::string_view ready = "ready ";
    constexpr std::string_view admin = " admin ";
    auto const middle = line.find(admin);
    bool const is_ready = line.substr(0, ready.size()) == ready && middle != line.npos;
    auto parsed = parse_url(is_ready ? line.substr(ready.size(), middle - ready.size()) : "");
    auto parsed_admin = parse_url(is_ready ? line.substr(middle + admin.size()) : "");
    if (!parsed || !parsed_admin) {
        kill_now();
        return FetchError{"the server's first line is not `ready URL admin URL`: " + line};
    }
    admin_ = std::move(*parsed_admin);
    return std::move(*parsed);
}

bool ChildServer::spawn() {
    std::vector<std::string> arguments{options_.executable.string(),
                                       "serve",
                                       "--data",
                                       options_.data.string(),
                                       "--listen",
                                       "127.0.0.1:0",
                                       "--admin-listen",
                                       "127.0.0.1:0"};
    auto environment = options_.environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        // Settings meant for another server would make a run that nobody can repeat.
        std::string_view const setting = *entry;
        if (setting.substr(0, 9) != "HOLDFAST_") environment.emplace_back(setting);
    }
    auto const argument_pointers = pointers(arguments);
    auto const environment_pointers = pointers(environment);

    int const log = open(options_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int pipe_ends[2] = {-1, -1};
    if (log >= 0 && pipe2(pipe_ends, O_CLOEXEC) == 0) {
        auto const parent = getpid();
        // Else the child may write once more what waits in our buffers.
        std::cout.flush();
        std::fflush(nullptr);
        pid_ = fork();
        if (pid_ == 0) {
            become_server(parent, pipe_ends[1], log, argument_pointers.data(),
                          environment_pointers.data());
        }
        close(pipe_ends[1]);
        output_ = pipe_ends[0];
    }
    if (log >= 0) close(log);
    return pid_ > 0;
}

ResultOf<ChildServer::FirstLine, FetchError> ChildServer::read_first_line() {
    using std::chrono::steady_clock;
    auto const deadline = steady_clock::now() + options_.ready_timeout;
    std::string line;
    for (;;) {
        auto const left =
            std::chrono::duration_cast<Milliseconds>(deadline - steady_clock::now()).count();
        pollfd waiting{.fd = output_, .events = POLLIN, .revents = 0};
        int const ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return FetchError{"the server was not ready in time"};
        char byte = 0;
        auto const size = read(output_, &byte, 1);
        if (size == 0) {
            int status = 0;
            waitpid(pid_, &status, 0);
            reap(status);
            return FetchError{"the server ended before it was ready (" + end_ + "), see " +
                              options_.log.string()};
        }
        if (size < 0) return FetchError{"cannot read what the server prints"};
        if (byte == '\n') return FirstLine{std::move(line)};
        line.push_back(byte);
        if (line.size() > 1'000) return FetchError{"the server's first line is too long"};
    }
}

std::optional<std::string> ChildServer::ended() {
    int status = 0;
    if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) reap(status);
    if (pid_ > 0) return std::nullopt;
    return end_;
}

void ChildServer::ask_to_stop() const {
    if (pid_ > 0) kill(pid_, SIGTERM);
}

void ChildServer::kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    reap(status);
}

void ChildServer::reap(int status) {
    pid_ = -1;
    close(output_);
    output_ = -1;
    end_ = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                               : "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace holdfast::loadgen
