// A child process with its output, for tests that need the real executable.
//
// Purpose: starts, signals and reaps one process; nothing of it outlives the object.
// Thread safety: one thread. Cost: two pipes and a fork.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace holdfast::test {

class Child {
public:
    /// `variables` are set over the environment of the test, from which HOLDFAST_ is left out.
    Child(std::vector<std::string> const& words,
          std::map<std::string, std::string> const& variables = {});
    ~Child();  // SIGKILL if it still runs
    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;

    /// The next line of its standard output without the line end; what came so far at its end or
    /// after `limit`.
    [[nodiscard]] std::string read_line(std::chrono::milliseconds limit);
    void signal(int number) const;
    /// Exit code; 128 + the signal that ended it; -1 if it still runs after `limit`.
    [[nodiscard]] int wait(std::chrono::milliseconds limit);
    /// All that is left of standard output and error; after wait().
    [[nodiscard]] std::string rest_of_output();
    [[nodiscard]] std::string rest_of_errors();
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

private:
    [[nodiscard]] bool fill(int fd, std::string& text, std::chrono::milliseconds limit) const;
    pid_t pid_{-1};
    int output_{-1};
    int errors_{-1};
    std::string output_text_;
    std::string error_text_;
};

/// Runs to its end.
struct Finished {
    int exit_code{};
    std::string output;
    std::string errors;
};
[[nodiscard]] Finished run(std::vector<std::string> const& words,
                           std::map<std::string, std::string> const& variables = {});

}  // namespace holdfast::test
