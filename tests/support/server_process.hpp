// The real server as a child process, and one-line requests to it.
//
// Purpose: what an end-to-end test needs: start on free ports, ask, signal, start again on the same
// folder. Thread safety: call() from any thread, the rest by one. Cost: one process.
#pragma once

#include "tests/support/child.hpp"

#include <holdfast/loadgen/fetch.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace holdfast::test {

inline constexpr char const* admin_token = "token-of-the-end-to-end-tests";

class ServerProcess {
public:
    struct Options {
        std::filesystem::path data;
        std::vector<std::string> flags;
        std::map<std::string, std::string> variables;
        /// More than nothing: the hard limit of its open files.
        std::uint64_t descriptors{};
    };
    /// Waits for its `ready` line; throws with what it said if there is none.
    explicit ServerProcess(Options const& options);

    [[nodiscard]] std::string const& url() const noexcept { return url_; }
    [[nodiscard]] std::string const& admin_url() const noexcept { return admin_url_; }
    [[nodiscard]] std::string const& ready_line() const noexcept { return ready_line_; }
    [[nodiscard]] Child& child() noexcept { return child_; }

    /// SIGTERM; the exit code.
    [[nodiscard]] int stop();
    void kill();  // SIGKILL, and waits
    /// SIGSTOP; returns once every thread of it stands still. SIGCONT lets it go on.
    void pause();

private:
    Child child_;
    std::string ready_line_;
    std::string url_;
    std::string admin_url_;
};

/// The words that start a server on free ports; for starts that are to fail.
[[nodiscard]] std::vector<std::string> serve_words(std::filesystem::path const& data);

/// A request; status 0 and the error as body if there was no whole reply.
[[nodiscard]] loadgen::Reply call(std::string const& url, std::string const& method,
                                  std::string const& target, std::string const& body = {},
                                  std::string const& authorization = {});

/// The string of the first `"name":"…"` in a JSON text; empty if there is none.
[[nodiscard]] std::string json_text(std::string const& json, std::string const& name);
/// The number of the first `"name":123`; -1 if there is none.
[[nodiscard]] long long json_number(std::string const& json, std::string const& name);
/// The array or object of the first `"name":[…]` or `"name":{…}`, as it is written; else empty.
[[nodiscard]] std::string json_part(std::string const& json, std::string const& name);

}  // namespace holdfast::test
