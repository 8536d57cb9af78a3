#include "tests/support/child.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace holdfast::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    return ends;
}

std::vector<std::string> environment_with(std::map<std::string, std::string> const& variables) {
    std::vector<std::string> result;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        std::string const text{*entry};
        bool const replaced = variables.contains(text.substr(0, text.find('=')));
        if (!replaced && !text.starts_with("HOLDFAST_")) result.push_back(text);
    }
    for (auto const& [name, value] : variables) result.push_back(name + "=" + value);
    return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

}  // namespace

Child::Child(std::vector<std::string> const& words,
             std::map<std::string, std::string> const& variables) {
    auto const output = make_pipe();
    auto const errors = make_pipe();
    // All memory is taken before the fork: the test may have other threads.
    std::vector<std::string> word_texts = words;
    std::vector<std::string> variable_texts = environment_with(variables);
    auto const word_pointers = pointers(word_texts);
    auto const variable_pointers = pointers(variable_texts);
    pid_ = ::fork();
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ == 0) {
        ::dup2(output[1], STDOUT_FILENO);
        ::dup2(errors[1], STDERR_FILENO);
        ::execve(word_pointers[0], word_pointers.data(), variable_pointers.data());
        ::_exit(127);
    }
    ::close(output[1]);
    ::close(errors[1]);
    output_ = output[0];
    errors_ = errors[0];
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      output_text_(std::move(other.output_text_)),
      error_text_(std::move(other.error_text_)) {}

Child::~Child() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    if (output_ >= 0) ::close(output_);
    if (errors_ >= 0) ::close(errors_);
}

bool Child::fill(int fd, std::string& text, milliseconds limit) const {
    pollfd wait{fd, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(limit.count())) <= 0) return false;
    std::array<char, 4'096> bytes{};
    ssize_t const got = ::read(fd, bytes.data(), bytes.size());
    if (got <= 0) return false;
    text.append(bytes.data(), static_cast<std::size_t>(got));
    return true;
}

std::string Child::read_line(milliseconds limit) {
    auto const deadline = steady_clock::now() + limit;
    std::size_t end = std::string::npos;
    while ((end = output_text_.find('\n')) == std::string::npos) {
        auto const left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
        if (left.count() <= 0 || !fill(output_, output_text_, left)) break;
    }
    std::string const line = output_text_.substr(0, end);
    output_text_.erase(0, end == std::string::npos ? end : end + 1);
    return line;
}

void Child::signal(int number) const {
    if (pid_ > 0) ::kill(pid_, number);
}

int Child::wait(milliseconds limit) {
    // A pid descriptor becomes readable when the process ends: no polling, no SIGCHLD.
    int const watch = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    if (watch < 0) throw std::system_error(errno, std::generic_category(), "pidfd_open");
    auto const deadline = steady_clock::now() + limit;
    bool ended = false;
    while (!ended) {
        auto const left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
        if (left.count() <= 0) break;
        // Its output is taken meanwhile, so that a full pipe never stops it.
        std::array<pollfd, 3> waits{pollfd{watch, POLLIN, 0}, pollfd{output_, POLLIN, 0},
                                    pollfd{errors_, POLLIN, 0}};
        if (::poll(waits.data(), waits.size(), static_cast<int>(left.count())) <= 0) continue;
        if (waits[1].revents & POLLIN) (void)fill(output_, output_text_, milliseconds(0));
        if (waits[2].revents & POLLIN) (void)fill(errors_, error_text_, milliseconds(0));
        ended = waits[0].revents != 0;
    }
    ::close(watch);
    if (!ended) return -1;
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string Child::rest_of_output() {
    while (fill(output_, output_text_, milliseconds(0))) continue;
    return std::exchange(output_text_, {});
}

std::string Child::rest_of_errors() {
    while (fill(errors_, error_text_, milliseconds(0))) continue;
    return std::exchange(error_text_, {});
}

Finished run(std::vector<std::string> const& words,
             std::map<std::string, std::string> const& variables) {
    Child child(words, variables);
    Finished result;
    result.exit_code = child.wait(std::chrono::seconds(60));
    result.output = child.rest_of_output();
    result.errors = child.rest_of_errors();
    return result;
}

}  // namespace holdfast::test
