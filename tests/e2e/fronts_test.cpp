// nginx and HAProxy in front: whatever they make of valid, ambiguous and smuggling requests, they
// hand on as many as holdfast then counts.
#include "tests/support/certificate.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <iostream>
#include <optional>
#include <signal.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace holdfast::test;
namespace fs = std::filesystem;

namespace {

/// Where Debian has it; empty if it is not installed.
std::string installed(std::string const& name) {
    std::string const program = "/usr/sbin/" + name;
    return fs::exists(program) ? program : "";
}

int connect_to(fs::path const& front) {
    int const made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un peer{};
    peer.sun_family = AF_UNIX;
    std::strncpy(peer.sun_path, front.c_str(), sizeof peer.sun_path - 1);
    timeval const patience{15, 0};
    ::setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    void const* const generic = &peer;
    if (::connect(made, static_cast<sockaddr const*>(generic), sizeof peer) == 0) return made;
    ::close(made);
    return -1;
}

/// Sends it in one piece or two and waits for the front to end the connection.
std::string talk(fs::path const& front, std::string const& bytes, std::size_t cut) {
    int const connection = connect_to(front);
    if (connection < 0) return "no connection";
    for (std::string_view rest :
         {std::string_view{bytes}.substr(0, cut), std::string_view{bytes}.substr(cut)}) {
        while (!rest.empty()) {
            auto const sent = ::send(connection, rest.data(), rest.size(), MSG_NOSIGNAL);
            if (sent <= 0) break;
            rest.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    std::string answers;
    char part[16'384];
    for (;;) {
        auto const got = ::recv(connection, part, sizeof part, 0);
        if (got <= 0) break;
        answers.append(part, static_cast<std::size_t>(got));
    }
    ::close(connection);
    return answers;
}

std::vector<std::string> house_list(fs::path const& folder) {
    std::vector<std::string> requests;
    fs::path const script = fs::path{HOLDFAST_SOURCE_DIR} / "../shared/cases/raw_http/gen.py";
    if (!fs::exists(script)) {
        std::cout << "without the raw requests of ../shared: there are none\n";
        return requests;
    }
    fs::create_directories(folder / "own");
    std::string const command = "cd '" + folder.string() + "' && python3 '" +
                                fs::absolute(script).string() + "' >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) return requests;
    for (fs::directory_entry const& entry : fs::directory_iterator{folder / "own"})
        requests.push_back(read_file(entry.path()));
    return requests;
}

std::string const last_request = "GET /healthz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";

/// Claims, reads and refusals, one behind the other in one go.
std::string pipeline(int count) {
    std::string const body = R"({"best":{"quantity":1}})";
    std::string bytes;
    for (int i = 0; i < count; ++i) {
        bytes += "GET /v1/events/demo?n=" + std::to_string(i) + " HTTP/1.1\r\nHost: t\r\n\r\n";
        bytes +=
            "POST /v1/events/demo/holds HTTP/1.1\r\nHost: t\r\nContent-Type: "
            "application/json\r\nContent-Length: " +
            std::to_string(body.size()) + "\r\n\r\n" + body;
        bytes +=
            "POST /v1/events/demo/holds HTTP/1.1\r\nHost: t\r\nContent-Type: "
            "application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
        bytes += "GET /nowhere HTTP/1.1\r\nHost: t\r\n\r\n";
    }
    return bytes + last_request;
}

/// A request hidden in what another parser may take for the body of the first.
std::vector<std::string> smuggling() {
    std::string const hidden = "GET /hidden HTTP/1.1\r\nHost: t\r\n\r\n";
    std::string const post = "POST /v1/events/demo/holds HTTP/1.1\r\nHost: t\r\n";
    std::vector<std::string> requests;
    for (std::string const coding :
         {"chunked", "Chunked", " chunked", "\tchunked", "chunked ", "chunked, identity",
          "identity, chunked", "xchunked", "\"chunked\"", "chunked\r\nTransfer-Encoding: x",
          "x\r\nTransfer-Encoding: chunked", "\r\n chunked", "chunked;a=b", "gzip, chunked"}) {
        std::string const te = "Transfer-Encoding:" + coding + "\r\n";
        std::string const chunks = "0\r\n\r\n" + hidden;
        std::string const length = "Content-Length: " + std::to_string(chunks.size()) + "\r\n";
        requests.push_back(post + te + "\r\n" + chunks + last_request);
        requests.push_back(post + length + te + "\r\n" + chunks + last_request);
        requests.push_back(post + te + "Content-Length: 4\r\n\r\n" + chunks + last_request);
    }
    for (std::string const length : {"0\r\nContent-Length: 36", "36\r\nContent-Length: 0", "+0",
                                     "0, 36", "0x0", "00", "-0", "\r\n 0"}) {
        requests.push_back(post + "Content-Length: " + length + "\r\n\r\n" + hidden + last_request);
    }
    for (std::string const name : {"Content_Length", "Content-Length ", " Content-Length",
                                   "Content-Length\t", "\vContent-Length"}) {
        requests.push_back(post + name + ": 36\r\n\r\n" + hidden + last_request);
    }
    return requests;
}

struct Front {
    std::string name;
    bool tls{};
    std::string proxy_protocol{};  // of HAProxy's server line

    std::vector<std::string> words(fs::path const& folder) const {
        std::string const file = (folder / "front.conf").string();
        // Its log goes into a file: of a pipe that is full it drops lines.
        if (name == "haproxy")
            return {"/bin/sh",       "-c", R"(exec "$0" -db -f "$1" >"$2")",
                    installed(name), file, (folder / "access.log").string()};
        return {installed(name),
                "-p",
                folder.string(),
                "-c",
                file,
                "-e",
                (folder / "error.log").string()};
    }
    std::string config(fs::path const& folder, std::string const& server) const {
        return name == "haproxy" ? haproxy(folder, server) : nginx(folder, server);
    }
    std::string nginx(fs::path const& folder, std::string const& server) const {
        std::string text =
            "daemon off;\nmaster_process off;\npid nginx.pid;\n"
            "events { worker_connections 1000; }\nhttp {\n"
            "  log_format forwarded '$upstream_addr';\n"
            "  access_log access.log forwarded;\n"
            "  keepalive_timeout 2s;\n  client_header_timeout 2s;\n"
            "  client_body_timeout 2s;\n  lingering_close off;\n";
        for (std::string const what : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
            text += "  " + what + "_temp_path " + what + ";\n";
        text +=
            "  upstream holdfast { server " + server +
            " max_fails=0; keepalive 16; }\n"
            "  server {\n    listen unix:" +
            (folder / "front").string() +
            ";\n"
            "    location / {\n      proxy_pass " +
            (tls ? "https" : "http") +
            "://holdfast;\n      proxy_http_version 1.1;\n      proxy_next_upstream off;\n"
            "      proxy_set_header Connection \"\";\n      proxy_set_header Host t.example;\n"
            "      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n    }\n  }\n}\n";
        return text;
    }
    std::string haproxy(fs::path const& folder, std::string const& server) const {
        return "global\n  maxconn 500\n  nbthread 1\n  log stdout format raw local0\n"
               "defaults\n  mode http\n  log global\n  log-format \"forwarded to %s\"\n"
               "  option http-buffer-request\n  retries 0\n  timeout connect 5s\n"
               "  timeout client 2s\n  timeout server 20s\n  timeout http-request 2s\n"
               "  timeout http-keep-alive 2s\n"
               "frontend front\n  bind unix@" +
               (folder / "front").string() +
               "\n"
               "  option forwardfor\n  default_backend back\n"
               "backend back\n  http-reuse safe\n  server one " +
               server + " " + proxy_protocol + (tls ? " ssl verify none\n" : "\n");
    }
    /// How many requests it handed on, by its own log.
    long long forwarded(fs::path const& folder) const {
        std::string const log = read_file(folder / "access.log");
        std::string const sign = name == "haproxy" ? "forwarded to one" : "127.0.0.1:";
        long long count = 0;
        std::istringstream lines{log};
        for (std::string line; std::getline(lines, line);)
            count += line.find(sign) == std::string::npos ? 0 : 1;
        return count;
    }
};

/// "it listens", or what became of it.
std::string wait_for(Child& front, fs::path const& socket) {
    auto const end = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < end) {
        int const tried = connect_to(socket);
        if (tried >= 0) {
            ::close(tried);
            return "it listens";
        }
        if (front.wait(20ms) != -1) return "it ended: " + front.rest_of_errors();
    }
    return "it does not listen";
}

std::map<std::string, std::string> variables_for(Front const& front, fs::path const& folder) {
    std::map<std::string, std::string> variables{
        {"HOLDFAST_PROXIES_TRUSTED", "127.0.0.1"},
        {"HOLDFAST_PROXIES_NAMED_BY",
         front.proxy_protocol.empty() ? "x-forwarded-for" : "proxy-protocol"}};
    if (front.tls) {
        variables["HOLDFAST_TLS_CERTIFICATE"] = (folder / "c.pem").string();
        variables["HOLDFAST_TLS_KEY"] = (folder / "k.pem").string();
    }
    return variables;
}

long long counted(ServerProcess const& server, std::string const& name) {
    std::string const text = call(server.admin_url(), "GET", "/metrics").body;
    auto const at = text.find("\n" + name + " ");
    if (at == std::string::npos) return -1;
    return std::strtoll(text.c_str() + at + name.size() + 2, nullptr, 10);
}

/// All at one time: most end by a timer of the front.
std::vector<std::string> talk_all(fs::path const& front, std::vector<std::string> const& requests) {
    std::vector<std::future<std::string>> talks;
    for (std::string const& bytes : requests) {
        for (std::size_t const cut : {bytes.size(), bytes.size() / 2})
            talks.push_back(std::async(std::launch::async,
                                       [&front, &bytes, cut] { return talk(front, bytes, cut); }));
    }
    std::vector<std::string> answers;
    for (auto& each : talks) answers.push_back(each.get());
    return answers;
}

}  // namespace

TEST_CASE("a proxy in front and holdfast count the same number of requests", "[e2e][fronts]") {
    Front const front =
        GENERATE(Front{"nginx"}, Front{"nginx", true}, Front{"haproxy", false, "send-proxy"},
                 Front{"haproxy", true, "send-proxy-v2"}, Front{"haproxy"});
    CAPTURE(front.name, front.tls, front.proxy_protocol);
    if (installed(front.name).empty()) {
        std::cout << "skipped: " << front.name << " is not installed\n";
        return;
    }
    TempFolder const folder;
    auto const made = make_certificate("t.example");
    folder.write("c.pem", made.certificate);
    folder.write("k.pem", made.key);
    ServerProcess server({.data = folder.path() / "data",
                          .flags = {"--demo"},
                          .variables = variables_for(front, folder.path())});
    std::string const address = server.url().substr(server.url().find("//") + 2);
    folder.write("front.conf", front.config(folder.path(), address));
    Child child{front.words(folder.path())};
    fs::path const socket = folder.path() / "front";
    REQUIRE(wait_for(child, socket) == "it listens");

    std::vector<std::string> requests = house_list(folder.path());
    for (std::string& each : smuggling()) requests.push_back(std::move(each));
    for (int i = 0; i < 10; ++i) requests.push_back(pipeline(25));
    auto const answers = talk_all(socket, requests);
    long long const valid = 10 * 2 * (25 * 4 + 1);

    child.signal(front.name == "haproxy" ? SIGUSR1 : SIGQUIT);
    REQUIRE(child.wait(30s) == 0);
    long long const forwarded = front.forwarded(folder.path());
    CHECK(forwarded > valid);
    CHECK(counted(server, "holdfast_http_requests_total") == forwarded);
    CHECK(counted(server, "holdfast_http_handler_exceptions_total") == 0);
    std::size_t in_full = 0;
    for (std::string const& answer : answers) {
        std::size_t statuses = 0;
        for (auto at = answer.find("HTTP/1.1 "); at != answer.npos;
             at = answer.find("HTTP/1.1 ", at + 1))
            ++statuses;
        in_full += statuses == 25 * 4 + 1 ? 1 : 0;
        CHECK_THAT(answer, !Catch::Contains("HTTP/1.1 500"));
    }
    CHECK(in_full == 20);
    CHECK(server.stop() == 0);
}
