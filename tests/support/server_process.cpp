#include "tests/support/server_process.hpp"

#include <cerrno>
#include <cstdlib>
#include <signal.h>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> words_of(ServerProcess::Options const& options) {
    auto words = serve_words(options.data);
    words.insert(words.end(), options.flags.begin(), options.flags.end());
    if (options.descriptors == 0) return words;
    std::string const script =
        "ulimit -n " + std::to_string(options.descriptors) + " && exec \"$@\"";
    std::vector<std::string> const shell{"/bin/sh", "-c", script, "sh"};
    words.insert(words.begin(), shell.begin(), shell.end());
    return words;
}

std::map<std::string, std::string> variables_of(ServerProcess::Options const& options) {
    std::map<std::string, std::string> variables = options.variables;
    variables.emplace("HOLDFAST_ADMIN_TOKEN", admin_token);
    // On a machine that is slow enough anything is overload; a test that is about it says so.
    variables.emplace("HOLDFAST_HTTP_OVERLOAD_WAIT_MS", "0");
    return variables;
}

/// Where the value of the first member of that name begins; npos if there is none.
std::size_t value_of(std::string const& json, std::string const& name) {
    std::string const label = "\"" + name + "\":";
    auto const at = json.find(label);
    return at == std::string::npos ? at : at + label.size();
}

}  // namespace

std::vector<std::string> serve_words(std::filesystem::path const& data) {
    return {HOLDFAST_EXECUTABLE, "serve",  "--listen",    "127.0.0.1:0",  "--admin-listen",
            "127.0.0.1:0",       "--data", data.string(), "--io-threads", "2"};
}

ServerProcess::ServerProcess(Options const& options)
    : child_(words_of(options), variables_of(options)), ready_line_(child_.read_line(60s)) {
    std::string const ready = "ready ";
    std::string const admin = " admin ";
    auto const middle = ready_line_.find(admin);
    if (!ready_line_.starts_with(ready) || middle == std::string::npos) {
        int const code = child_.wait(10s);
        throw std::runtime_error("server is not ready: \"" + ready_line_ + "\", exit " +
                                 std::to_string(code) + ": " + child_.rest_of_errors());
    }
    url_ = ready_line_.substr(ready.size(), middle - ready.size());
    admin_url_ = ready_line_.substr(middle + admin.size());
}

int ServerProcess::stop() {
    child_.signal(SIGTERM);
    return child_.wait(20s);
}

void ServerProcess::kill() {
    child_.signal(SIGKILL);
    (void)child_.wait(20s);
}

void ServerProcess::pause() {
    child_.signal(SIGSTOP);
    siginfo_t seen{};
    auto const pid = static_cast<id_t>(child_.pid());
    if (::waitid(P_PID, pid, &seen, WSTOPPED | WEXITED | WNOWAIT) != 0)
        throw std::system_error(errno, std::generic_category(), "waitid");
    if (seen.si_code != CLD_STOPPED) throw std::runtime_error("the server ended, not paused");
}

loadgen::Reply call(std::string const& url, std::string const& method, std::string const& target,
                    std::string const& body, std::string const& authorization) {
    loadgen::Query query{.method = method, .target = target, .fields = {}, .body = body};
    if (!body.empty()) query.fields.emplace_back("Content-Type", "application/json");
    if (!authorization.empty()) query.fields.emplace_back("Authorization", authorization);
    auto reply = loadgen::fetch(url, query, 15s);
    if (reply) return *reply;
    loadgen::Reply lost;
    lost.body = reply.error().text;
    return lost;
}

std::string json_text(std::string const& json, std::string const& name) {
    auto const at = value_of(json, name);
    if (at == std::string::npos || json.at(at) != '"') return {};
    return json.substr(at + 1, json.find('"', at + 1) - at - 1);
}

long long json_number(std::string const& json, std::string const& name) {
    auto const at = value_of(json, name);
    if (at == std::string::npos) return -1;
    char* end = nullptr;
    long long const value = std::strtoll(json.c_str() + at, &end, 10);
    return end == json.c_str() + at ? -1 : value;
}

std::string json_part(std::string const& json, std::string const& name) {
    auto const begin = value_of(json, name);
    if (begin == std::string::npos) return {};
    // Good for what the server writes in these tests: no brackets inside strings.
    int depth = 0;
    for (auto at = begin; at < json.size(); ++at) {
        if (json[at] == '[' || json[at] == '{') ++depth;
        if (json[at] == ']' || json[at] == '}') --depth;
        if (depth == 0) return json.substr(begin, at - begin + 1);
    }
    return {};
}

}  // namespace holdfast::test
