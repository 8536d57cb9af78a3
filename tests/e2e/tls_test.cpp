// TLS of the real program: its files, SIGHUP, and starts that must not be.
#include "tests/support/certificate.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/tls_client.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <signal.h>

using namespace std::chrono_literals;
using namespace holdfast::test;

namespace {

struct TlsFolder {
    TempFolder folder;
    std::map<std::string, std::string> variables() const {
        return {{"HOLDFAST_TLS_CERTIFICATE", (folder.path() / "c.pem").string()},
                {"HOLDFAST_TLS_KEY", (folder.path() / "k.pem").string()},
                {"HOLDFAST_LOG_FILE", (folder.path() / "log").string()}};
    }
    void write(std::string const& name) const {
        auto const made = make_certificate(name);
        folder.write("c.pem", made.certificate);
        folder.write("k.pem", made.key);
    }
    bool logged(std::string_view text) const {
        auto const end = std::chrono::steady_clock::now() + 10s;
        while (std::chrono::steady_clock::now() < end)
            if (read_file(folder.path() / "log").find(text) != std::string::npos) return true;
        return false;
    }
};

std::string tls_address_of(ServerProcess const& server) {
    return server.url().substr(server.url().find("//") + 2);
}

std::string ask_by_tls(TlsClient& client, std::string const& method, std::string const& target,
                       std::string const& body = {}) {
    std::string request = method + " " + target + " HTTP/1.1\r\nHost: t.example\r\n";
    if (!body.empty()) {
        request +=
            "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
            "\r\n";
    }
    client.send(request + "\r\n" + body);
    return client.answer();
}

std::string name_for_new_connections(ServerProcess const& server) {
    TlsClient client{tls_address_of(server)};
    if (!client.handshake()) return "no handshake";
    return ask_by_tls(client, "GET", "/healthz").starts_with("HTTP/1.1 200") ? client.peer_name()
                                                                             : "no answer";
}

}  // namespace

TEST_CASE("a sale over TLS, and a new certificate at SIGHUP in the middle of it", "[e2e][tls]") {
    TlsFolder const files;
    files.write("first.example");
    ServerProcess server({.data = files.folder.path() / "data",
                          .flags = {"--demo"},
                          .variables = files.variables()});
    CHECK_THAT(server.ready_line(), Catch::StartsWith("ready https://127.0.0.1:"));
    CHECK(call(server.admin_url(), "GET", "/metrics").status == 200);
    TlsClient buyer{tls_address_of(server)};
    REQUIRE(buyer.handshake());
    std::string const held =
        ask_by_tls(buyer, "POST", "/v1/events/demo/holds", R"({"best":{"quantity":2}})");
    REQUIRE_THAT(held, Catch::StartsWith("HTTP/1.1 201"));
    CHECK_THAT(held, Catch::Contains("\r\nStrict-Transport-Security: max-age=31536000\r\n"));

    files.write("second.example");
    server.child().signal(SIGHUP);
    auto const end = std::chrono::steady_clock::now() + 10s;
    while (name_for_new_connections(server) != "second.example") {
        REQUIRE(std::chrono::steady_clock::now() < end);
    }

    // Half of a new pair: refused, said, and nothing is worse than before.
    files.folder.write("k.pem", make_certificate("third.example").key);
    server.child().signal(SIGHUP);
    CHECK(files.logged("certificate not loaded, the old one stays"));
    CHECK(files.logged("k.pem: is not the key of the certificate"));
    CHECK(name_for_new_connections(server) == "second.example");

    CHECK(buyer.peer_name() == "first.example");
    std::string const ordered =
        ask_by_tls(buyer, "POST", "/v1/orders",
                   R"({"holds":[{"hold":")" + json_text(held, "hold") + R"(","token":")" +
                       json_text(held, "token") + R"("}],"payment":{"method":"none"}})");
    CHECK_THAT(ordered, Catch::StartsWith("HTTP/1.1 201"));
    CHECK(server.stop() == 0);
}

TEST_CASE("files that are no certificate with its key stop the start, by name", "[e2e][tls]") {
    TlsFolder const files;
    files.write("a.example");
    auto variables = files.variables();
    auto const refused = [&files, &variables] {
        auto const finished = run(serve_words(files.folder.path() / "data"), variables);
        CHECK(finished.exit_code == 1);
        CHECK(finished.output.empty());
        CHECK_FALSE(std::filesystem::exists(files.folder.path() / "data"));
        return finished.errors;
    };
    std::string const key = variables.at("HOLDFAST_TLS_KEY");
    std::string const certificate = variables.at("HOLDFAST_TLS_CERTIFICATE");
    variables["HOLDFAST_TLS_KEY"] = "";
    CHECK_THAT(refused(), Catch::Contains("[tls].key = \"\": must name a file"));
    variables["HOLDFAST_TLS_KEY"] = key + ".none";
    CHECK_THAT(refused(), Catch::Contains("[tls].key = " + key + ".none: cannot be read"));
    variables["HOLDFAST_TLS_KEY"] = certificate;
    CHECK_THAT(refused(), Catch::Contains("[tls].key = " + certificate + ": holds no private key"));
    variables["HOLDFAST_TLS_KEY"] = key;
    variables["HOLDFAST_TLS_CERTIFICATE"] = key;
    CHECK_THAT(refused(), Catch::Contains("[tls].certificate = " + key + ": holds no certificate"));
    auto const config =
        files.folder.write("holdfast.toml", "[tls]\ncertificate = \"" + certificate +
                                                "\"\nkey = \"" + certificate + "\"\n");
    auto const checked = run({HOLDFAST_EXECUTABLE, "check-config", config.string()});
    CHECK(checked.exit_code == 1);
    CHECK_THAT(checked.errors, Catch::Contains("[tls].key = " + certificate));
}
