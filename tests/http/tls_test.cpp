// TLS: what holds in plain holds here, and a handshake hurts nobody but its own connection.
#include "tests/http/live.hpp"
#include "tests/support/certificate.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/tls_client.hpp"

#include <holdfast/http/tls.hpp>

#include <catch2/catch.hpp>
#include <openssl/ssl.h>
#include <string>

using namespace live;
using holdfast::test::make_certificate;
using holdfast::test::TempFolder;
using holdfast::test::TlsClient;

namespace {

std::shared_ptr<TlsIdentity const> identity_of(std::string const& name) {
    TempFolder const folder;
    auto const made = make_certificate(name);
    auto loaded = TlsIdentity::load(
        {folder.write("c.pem", made.certificate), folder.write("k.pem", made.key)});
    if (!loaded) throw std::runtime_error(loaded.error().why);
    return *loaded;
}

ServerOptions with_tls(ServerOptions options = {}) {
    options.tls = identity_of("first.example");
    return options;
}

std::string status_of(std::string const& answer) {
    return answer.substr(0, answer.find(' ', 9));
}

}  // namespace

TEST_CASE("a request over TLS is answered as in plain, whole and one byte a packet",
          "[live][tls]") {
    ServerOptions options = with_tls();
    options.hsts_max_age_s = 1'000;
    LiveServer live{options};
    int const version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    std::size_t const packet = GENERATE(std::size_t{1}, std::size_t{65'536});
    CAPTURE(version, packet);
    TlsClient client{live.server->address(),
                     {.packet_bytes = packet, .version = version, .protocol = "http/1.1"}};
    REQUIRE(client.handshake());
    CHECK(client.version() == version);
    CHECK(client.chosen_protocol() == "http/1.1");
    CHECK(client.peer_name() == "first.example");
    for (int i = 0; i < 3; ++i) {
        REQUIRE(client.send(post("/echo", R"({"a":1})")));
        std::string const answer = client.answer();
        CHECK(status_of(answer) == "HTTP/1.1 200");
        CHECK(answer.ends_with(R"({"a":1})"));
        CHECK_THAT(answer, Catch::Contains("\r\nStrict-Transport-Security: max-age=1000\r\n"));
    }
    CHECK(live.server->counts().connections_accepted == 1);
    CHECK(live.server->counts().handshakes_failed == 0);
}

TEST_CASE("an old version, or a foreign protocol, gets no connection", "[live][tls]") {
    LiveServer live{with_tls()};
    TlsClient old{live.server->address(), {.version = TLS1_1_VERSION}};
    CHECK_FALSE(old.handshake());
    TlsClient foreign{live.server->address(), {.protocol = "h2"}};
    CHECK_FALSE(foreign.handshake());
    CHECK(live.until([](ServerCounts const& counts) {
        return counts.handshakes_failed == 2 && counts.connections_open == 0;
    }));
    TlsClient silent{live.server->address()};  // that names no protocol speaks this one
    REQUIRE(silent.handshake());
    REQUIRE(silent.send(get("/")));
    CHECK(status_of(silent.answer()) == "HTTP/1.1 200");
}

TEST_CASE("pipelines and large bodies pass under TLS in order", "[live][tls]") {
    LiveServer live{with_tls()};
    TlsClient client{live.server->address()};
    REQUIRE(client.handshake());
    std::string requests;
    int const count = 1'000;  // several records
    for (int i = 0; i < count; ++i) requests += get("/?n=" + std::to_string(i));
    REQUIRE(client.send(requests));
    for (int i = 0; i < count; ++i) {
        std::string const answer = client.answer();
        REQUIRE(answer.ends_with("\r\n\r\nquery=n=" + std::to_string(i)));
    }
    REQUIRE(client.send(get("/big")));
    CHECK(client.answer().ends_with(std::string(4U << 20, 'b')));
    std::string const plan = "{\"a\":\"" + std::string(3U << 20, 'p') + "\"}";
    REQUIRE(client.send(post("/import", plan)));
    CHECK(client.answer().ends_with("\r\n\r\n" + std::to_string(plan.size())));
}

TEST_CASE("the guard holds under TLS: one answer, and nothing behind it is run", "[live][tls]") {
    LiveServer live{with_tls()};
    auto const [request, status] = GENERATE(table<std::string, std::string>({
        {"POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n"
         "0\r\n\r\nG",
         "HTTP/1.1 400"},
        {"POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip\r\n\r\n" + get("/"),
         "HTTP/1.1 501"},
        {"GET / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello" + get("/"), "HTTP/1.1 400"},
        {"GET / HTTP/1.1\r\n\r\n" + get("/"), "HTTP/1.1 400"},
        {"GET /\xFF HTTP/1.1\r\nHost: t\r\n\r\n", "HTTP/1.1 400"},
    }));
    std::size_t const packet = GENERATE(std::size_t{1}, std::size_t{65'536});
    TlsClient client{live.server->address(), {.packet_bytes = packet}};
    REQUIRE(client.handshake());
    client.send(request);
    std::string const answers = client.rest();
    CHECK(status_of(answers) == status);
    CHECK(answers.find("HTTP/1.1 ", 1) == answers.npos);
    CHECK(client.ended_well());
    CHECK(live.handled.get() == 0);
}

TEST_CASE("what is no handshake is closed, and harms nobody", "[live][tls]") {
    LiveServer live{with_tls()};
    TlsClient good{live.server->address()};
    REQUIRE(good.handshake());
    std::string const bytes =
        GENERATE(as<std::string>{}, get("/"), "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
                 std::string(300, 'x'), std::string(20'000, '\0'),
                 "\x16\x03\x01\x02\x01\x01\xFF\xFF\xFF" + std::string(600, 'y'),
                 "\x16\x03\x01\xFF\xFF" + std::string(70'000, 'z'), "\x15\x03\x03");
    for (bool const in_pieces : {false, true}) {
        Client client = live.connect();
        if (in_pieces) {
            for (char const& byte : std::string_view{bytes}.substr(0, 40)) client.send({&byte, 1});
        }
        client.send(in_pieces
                        ? std::string_view{bytes}.substr(std::min<std::size_t>(40, bytes.size()))
                        : std::string_view{bytes});
        client.end_sending();
        CHECK_THAT(client.rest(), !Catch::Contains("HTTP/"));
    }
    CHECK(live.until([](ServerCounts const& counts) { return counts.connections_open == 1; }));
    CHECK(live.server->counts().handshakes_failed == 2);
    CHECK(live.server->counts().requests == 0);
    REQUIRE(good.send(get("/")));
    CHECK(status_of(good.answer()) == "HTTP/1.1 200");
}

TEST_CASE("a handshake has its time in all, and its place among the connections", "[live][tls]") {
    ServerOptions options = with_tls();
    options.handshake_timeout = Milliseconds{1'000};
    options.connections_max = 3;
    LiveServer live{options};
    TlsClient good{live.server->address()};
    REQUIRE(good.handshake());
    Client silent = live.connect();
    TlsClient half{live.server->address()};
    half.send_hello(100);
    REQUIRE(live.until([](ServerCounts const& counts) { return counts.connections_open == 3; }));
    CHECK(live.connect().closed());  // over the limit
    CHECK(live.server->counts().connections_refused == 1);
    CHECK(silent.closed());
    CHECK_FALSE(half.handshake());
    REQUIRE(good.send(get("/")));
    CHECK(status_of(good.answer()) == "HTTP/1.1 200");
    // A byte each 20 ms for up to 10 s; the end comes long before they are used up.
    Client trickling = live.connect();
    std::string const hello =
        "\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03" + std::string(500, 'h');
    std::size_t bytes = 0;
    while (bytes < hello.size() && trickling.silent(Milliseconds{20}) &&
           trickling.send(std::string_view{hello}.substr(bytes, 1))) {
        ++bytes;
    }
    CHECK(bytes < hello.size());
}

TEST_CASE("the timers of HTTP hold under TLS", "[live][tls][timeout]") {
    ServerOptions options = with_tls();
    options.head_timeout = options.body_timeout = options.idle_timeout = Milliseconds{300};
    LiveServer live{options};
    TlsClient late{live.server->address()};
    REQUIRE(late.handshake());
    REQUIRE(late.send("GET / HTTP/1.1\r\nHost: t\r\nX: "));
    CHECK(status_of(late.rest()) == "HTTP/1.1 408");
    CHECK(late.ended_well());
    TlsClient idle{live.server->address()};
    REQUIRE(idle.handshake());
    REQUIRE(idle.send(get("/")));
    CHECK(status_of(idle.rest()) == "HTTP/1.1 200");
    CHECK(idle.ended_well());
}

TEST_CASE("a success under TLS waits for the disk", "[live][tls]") {
    LiveServer live{with_tls()};
    TlsClient client{live.server->address()};
    REQUIRE(client.handshake());
    REQUIRE(client.send(post("/lsn", "{}", "X-Lsn: 9\r\n") + get("/")));
    REQUIRE(live.until([](ServerCounts const& counts) { return counts.requests >= 2; }));
    std::uint64_t const before = live.server->counts().bytes_out;
    CHECK(before == 0);
    live.gate.durable.set(Lsn{9});
    live.server->wake();
    CHECK(status_of(client.answer()) == "HTTP/1.1 201");
    CHECK(status_of(client.answer()) == "HTTP/1.1 200");
}

TEST_CASE("a client may change its keys, but not do nothing else", "[live][tls]") {
    std::size_t const packet = GENERATE(std::size_t{27}, std::size_t{65'536});  // a record is 27
    LiveServer live{with_tls()};
    TlsClient good{live.server->address(), {.version = TLS1_3_VERSION}};
    REQUIRE(good.handshake());
    for (int i = 0; i < 20; ++i) {
        REQUIRE(good.send_key_updates(10));
        REQUIRE(good.send(get("/?n=" + std::to_string(i))));
        REQUIRE(good.answer().ends_with("query=n=" + std::to_string(i)));
    }
    TlsClient flood{live.server->address(), {.packet_bytes = packet, .version = TLS1_3_VERSION}};
    REQUIRE(flood.handshake());
    // They may be refused before all of it is sent.
    static_cast<void>(flood.send_key_updates(5'000));
    static_cast<void>(flood.send(get("/?never")));
    CHECK(flood.rest().empty());
    CHECK(live.until([](ServerCounts const& counts) { return counts.connections_open == 1; }));
    CHECK(live.handled.get() == 20);
    REQUIRE(good.send(get("/")));
    CHECK(status_of(good.answer()) == "HTTP/1.1 200");
}

TEST_CASE("a new identity is for new connections; open ones live on", "[live][tls]") {
    LiveServer live{with_tls()};
    TlsClient before{live.server->address()};
    REQUIRE(before.handshake());
    live.server->set_identity(identity_of("second.example"));
    TlsClient after{live.server->address()};
    REQUIRE(after.handshake());
    CHECK(before.peer_name() == "first.example");
    CHECK(after.peer_name() == "second.example");
    for (TlsClient* const client : {&before, &after}) {
        REQUIRE(client->send(get("/")));
        CHECK(status_of(client->answer()) == "HTTP/1.1 200");
    }
}

TEST_CASE("a session is resumed without a second signature", "[live][tls]") {
    LiveServer live{with_tls()};
    int const version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    TlsClient first{live.server->address(), {.version = version}};
    REQUIRE(first.handshake());
    REQUIRE(first.send(get("/")));
    CHECK(status_of(first.answer()) == "HTTP/1.1 200");  // its ticket has come along
    SSL_SESSION* const session = first.session();
    TlsClient second{live.server->address(), {.version = version, .session = session}};
    REQUIRE(second.handshake());
    CHECK(second.resumed());
    SSL_SESSION_free(session);
}

TEST_CASE("a crowd of handshakes is served, and requests in between", "[live][tls]") {
    LiveServer live{with_tls()};
    TlsClient good{live.server->address()};
    REQUIRE(good.handshake());
    std::vector<std::unique_ptr<TlsClient>> crowd;
    for (int i = 0; i < 40; ++i) {
        crowd.push_back(std::make_unique<TlsClient>(live.server->address()));
        crowd.back()->send_hello(10'000);
    }
    REQUIRE(good.send(get("/")));
    CHECK(status_of(good.answer()) == "HTTP/1.1 200");
    for (auto const& client : crowd) REQUIRE(client->handshake());
    CHECK(live.server->counts().handshakes_failed == 0);
}

TEST_CASE("files that are no identity are refused, and the bad one is told", "[tls]") {
    TempFolder const folder;
    auto const made = make_certificate("a.example");
    auto const other = make_certificate("b.example");
    auto const certificate = folder.write("c.pem", made.certificate);
    auto const key = folder.write("k.pem", made.key);
    auto const refused = [](std::filesystem::path const& first,
                            std::filesystem::path const& second) {
        auto const loaded = TlsIdentity::load({first, second});
        if (loaded) return std::string{"accepted"};
        return std::string{loaded.error().of_key ? "key " : "certificate "} + loaded.error().why;
    };
    CHECK(refused(certificate, key) == "accepted");
    CHECK(refused(folder.write("chain.pem", made.certificate + other.certificate), key) ==
          "accepted");
    CHECK_THAT(refused(folder.path() / "none", key),
               Catch::Equals("certificate cannot be read: No such file or directory"));
    CHECK_THAT(refused(certificate, folder.path() / "none"),
               Catch::StartsWith("key cannot be read"));
    CHECK_THAT(refused(folder.path(), key), Catch::StartsWith("certificate is no regular file"));
    CHECK_THAT(refused(folder.write("x", "nonsense"), key),
               Catch::Equals("certificate holds no certificate in PEM form"));
    CHECK_THAT(
        refused(
            folder.write("y", made.certificate +
                                  "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            key),
        Catch::Equals("certificate a certificate of its chain cannot be read"));
    CHECK_THAT(refused(certificate, folder.write("z", "nonsense")),
               Catch::StartsWith("key holds no private key in PEM form"));
    CHECK_THAT(refused(certificate, folder.write("o.pem", other.key)),
               Catch::Equals("key is not the key of the certificate"));
    CHECK_THAT(refused(key, certificate), Catch::StartsWith("certificate holds no certificate"));
    using std::filesystem::perms;
    std::filesystem::permissions(key, perms::owner_read | perms::others_read);
    CHECK_THAT(refused(certificate, key), Catch::StartsWith("key everybody may read or write it"));
}
