// Trusted proxies: who is believed, what is read, and what hostile bytes do.
#include "http/client_address.hpp"
#include "http/proxy_header.hpp"
#include "tests/http/live.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace live;

namespace {

using HeaderVerdict = ProxyHeader::Verdict;

AddressBytes address(std::string_view text) {
    return parse_address(text).value();
}

std::string v2(std::uint8_t command, std::uint8_t family, std::string const& rest) {
    std::string header{"\r\n\r\n\0\r\nQUIT\n", 12};
    header += static_cast<char>(command);
    header += static_cast<char>(family);
    header += static_cast<char>(rest.size() >> 8);
    header += static_cast<char>(rest.size() & 255);
    return header + rest;
}

std::string tcp4(std::string_view client) {
    AddressBytes const bytes = address(client);
    std::string rest(bytes.begin() + 12, bytes.end());
    return v2(0x21, 0x11, rest + std::string{"\x7F\0\0\1\x10\0\x1F\x90", 8});
}

std::string tcp6(std::string_view client) {
    AddressBytes const bytes = address(client);
    std::string const rest(bytes.begin(), bytes.end());
    return v2(0x21, 0x21, rest + rest + "\x10\x10\x1F\x90");
}

ServerOptions behind(ClientNamedBy how, std::string_view trusted = "127.0.0.1, 10.0.0.0/8") {
    ServerOptions options;
    options.proxies = {parse_ranges(trusted).value(), how};
    return options;
}

std::string who(std::string_view more = {}) {
    return "GET /who HTTP/1.1\r\nHost: t\r\n" + std::string{more} + "\r\n";
}

/// As /who answers it.
std::string told(std::string_view text) {
    PeerKey const key = key_of(address(text));
    std::string out = key.loopback ? "loopback " : "";
    for (std::uint8_t const byte : key.bytes) out.append(std::to_string(byte)).append(".");
    return out;
}

}  // namespace

TEST_CASE("networks and addresses of a list are read strictly", "[proxies]") {
    CHECK(parse_ranges("").value().empty());
    CHECK(parse_ranges(" 192.0.2.1 ,10.0.0.0/8,2001:db8::/32").value().size() == 3);
    TrustedProxies proxies{parse_ranges("10.0.0.0/8, 192.0.2.128/25, 2001:db8::/33, ::1").value(),
                           {}};
    for (auto const* const in :
         {"10.255.0.1", "::ffff:10.1.2.3", "192.0.2.128", "192.0.2.255", "2001:db8:7fff::1", "::1"})
        CHECK(proxies.contain(address(in)));
    for (auto const* const out : {"11.0.0.1", "192.0.2.127", "2001:db8:8000::1", "::2", "::a00:1"})
        CHECK_FALSE(proxies.contain(address(out)));
    std::string many = "10.0.0.1";
    for (int i = 0; i < 64; ++i) many += ",10.0.0.1";
    for (std::string const& bad :
         {std::string{","}, std::string{"10.0.0.1,"}, std::string{"10.1.2.3/8"},
          std::string{"10.0.0.0/33"}, std::string{"10.0.0.0/"}, std::string{"10.0.0.0/-1"},
          std::string{"10.0.0.0/8x"}, std::string{"10.0.0"}, std::string{"localhost"},
          std::string{"::/129"}, std::string{"fe80::1%1"}, std::string{"010.0.0.1"},
          std::string{"10.0.0.1 10.0.0.2"}, many})
        CHECK_FALSE(parse_ranges(bad));
}

TEST_CASE("a PROXY header is read alike whole and at every cut", "[proxies]") {
    auto const [bytes, client] = GENERATE(table<std::string, std::string>({
        {"PROXY TCP4 192.0.2.7 127.0.0.1 56324 8080\r\n", "192.0.2.7"},
        {"PROXY TCP6 2001:db8::7 ::1 0 65535\r\n", "2001:db8::7"},
        {"PROXY UNKNOWN\r\n", ""},
        {"PROXY UNKNOWN ffff:f... 1 2\r\n", ""},
        {tcp4("192.0.2.7"), "192.0.2.7"},
        {tcp6("2001:db8::7"), "2001:db8::7"},
        {v2(0x20, 0x00, ""), ""},
        {v2(0x20, 0x11, std::string(12, '\1')), ""},
        {v2(0x21, 0x00, ""), ""},
        {v2(0x21, 0x12, std::string(12, '\1')), ""},               // datagrams
        {v2(0x21, 0x31, std::string(216, '\1')), ""},              // a socket with a path
        {v2(0x21, 0x11, std::string(12 + 300, '\1')), "1.1.1.1"},  // with more behind
    }));
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        CAPTURE(cut);
        REQUIRE(read_proxy_header(std::string_view{bytes}.substr(0, cut)).verdict ==
                HeaderVerdict::need_more);
    }
    auto const header = read_proxy_header(bytes + "GET / HTTP/1.1\r\n");
    CHECK(header.verdict == HeaderVerdict::accepted);
    CHECK(header.bytes == bytes.size());
    CHECK(header.client == (client.empty() ? std::nullopt : std::optional{address(client)}));
}

TEST_CASE("what is no PROXY header is refused", "[proxies]") {
    std::string const bytes = GENERATE(
        as<std::string>{}, "GET / HTTP/1.1\r\n", "proxy TCP4 1.1.1.1 1.1.1.1 1 1\r\n", "PROXX",
        "PROXY  TCP4 1.1.1.1 1.1.1.1 1 1\r\n", "PROXY TCP4 1.1.1.1 1.1.1.1 1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 1 \r\n", "PROXY TCP4 1.1.1.1 1.1.1.1 1 1 1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 65536\r\n", "PROXY TCP4 1.1.1.1 1.1.1.1 01 1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 -1 1\r\n", "PROXY TCP4 1.1.1 1.1.1.1 1 1\r\n",
        "PROXY TCP4 ::1 ::1 1 1\r\n", "PROXY TCP6 1.1.1.1 1.1.1.1 1 1\r\n",
        "PROXY TCP5 1.1.1.1 1.1.1.1 1 1\r\n", "PROXY \r\n", "PROXY TCP4 1.1.1.1 1.1.1.1 1 1\rX",
        "PROXY TCP4 1.1.1.1\n", "PROXY UNKNOWN\n", "PROXY UNKNOWN" + std::string(200, 'x'),
        "\r\n\r\nX", v2(0x22, 0x11, std::string(12, '\1')), v2(0x11, 0x11, std::string(12, '\1')),
        v2(0x21, 0x41, std::string(12, '\1')), v2(0x21, 0x13, std::string(12, '\1')),
        v2(0x21, 0x11, std::string(11, '\1')), v2(0x21, 0x21, std::string(35, '\1')),
        v2(0x21, 0x31, std::string(215, '\1')), v2(0x21, 0x11, std::string(5'000, '\1')));
    CHECK(read_proxy_header(bytes).verdict == HeaderVerdict::refused);
    // Before its end it may still be one; it never is one.
    for (std::size_t cut = 0; cut < bytes.size(); ++cut)
        REQUIRE(read_proxy_header(std::string_view{bytes}.substr(0, cut)).verdict !=
                HeaderVerdict::accepted);
}

TEST_CASE("a trusted proxy's PROXY header names the client of the connection", "[live][proxies]") {
    LiveServer live{behind(ClientNamedBy::proxy_protocol)};
    auto const [header, client] = GENERATE(table<std::string, std::string>({
        {"PROXY TCP4 192.0.2.7 127.0.0.1 56324 8080\r\n", "192.0.2.7"},
        {tcp6("2001:db8::7"), "2001:db8::7"},
        {tcp4("127.0.0.9"), "127.0.0.9"},
        {"PROXY UNKNOWN\r\n", "127.0.0.1"},
    }));
    std::string const all = header + who("X-Forwarded-For: 203.0.113.9\r\n") + who();
    for (bool const in_pieces : {false, true}) {
        Client connection = live.connect();
        if (in_pieces) {
            for (char const& byte : all) REQUIRE(connection.send({&byte, 1}));
        } else {
            REQUIRE(connection.send(all));
        }
        CHECK(connection.answer().body == told(client));
        CHECK(connection.answer().body == told(client));
    }
}

TEST_CASE("a trusted proxy that sends no good PROXY header is closed without a word",
          "[live][proxies]") {
    ServerOptions options = behind(ClientNamedBy::proxy_protocol);
    options.handshake_timeout = Milliseconds{300};
    LiveServer live{options};
    std::string const bytes =
        GENERATE(as<std::string>{}, who(), "PROXY TCP4 1.1.1.1 1.1.1.1 1 65536\r\n" + who(),
                 "PROXY UNKNOWN" + std::string(200, 'x') + "\r\n" + who(),
                 v2(0x21, 0x11, std::string(5'000, '\1')) + who(), "PROXY TCP4 1.1", "");
    for (bool const in_pieces : {false, true}) {
        Client connection = live.connect();
        for (char const& byte : std::string_view{bytes}.substr(0, in_pieces ? bytes.size() : 0))
            if (!connection.send({&byte, 1})) break;
        if (!in_pieces) connection.send(bytes);
        CHECK(connection.rest().empty());
    }
    CHECK(live.server->counts().requests == 0);
    CHECK(live.until([](ServerCounts const& counts) { return counts.connections_open == 0; }));
}

TEST_CASE("a PROXY header of anybody else is a bad request", "[live][proxies]") {
    LiveServer live{behind(ClientNamedBy::proxy_protocol, "10.0.0.0/8")};
    Client plain = live.connect();
    REQUIRE(plain.send(who("X-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.1\r\n")));
    CHECK(plain.answer().body == told("127.0.0.1"));
    Client spoofing = live.connect();
    REQUIRE(spoofing.send("PROXY TCP4 192.0.2.7 127.0.0.1 56324 8080\r\n" + who()));
    CHECK(spoofing.answer().status == 400);
    CHECK(spoofing.rest().empty());
}

TEST_CASE("A57: what anybody else says of a client is ignored", "[live][proxies]") {
    bool const forwarded = GENERATE(false, true);
    auto const named_by = forwarded ? ClientNamedBy::forwarded : ClientNamedBy::x_forwarded_for;
    LiveServer live{behind(named_by, "10.0.0.0/8")};
    Client client = live.connect();
    REQUIRE(client.send(who("X-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.1\r\n")));
    CHECK(client.answer().body == told("127.0.0.1"));
}

TEST_CASE("connections that a proxy hands on count for their clients", "[live][proxies]") {
    ServerOptions options = behind(ClientNamedBy::proxy_protocol);
    options.connections_per_address_max = 2;
    options.limit_loopback = true;
    LiveServer live{options};
    auto const connect_for = [&live](std::string const& client) {
        Client connection = live.connect();
        connection.send("PROXY TCP4 " + client + " 127.0.0.1 1 2\r\n" + who());
        return connection;
    };
    std::vector<Client> kept;
    for (int i = 0; i < 2; ++i) {
        kept.push_back(connect_for("192.0.2.7"));
        CHECK(kept.back().answer().status == 200);
    }
    CHECK(connect_for("192.0.2.7").rest().empty());
    CHECK(live.server->counts().connections_refused == 1);
    for (int i = 0; i < 2; ++i) {
        kept.push_back(connect_for("192.0.2.8"));
        CHECK(kept.back().answer().status == 200);
    }
    kept.front().reset();
    REQUIRE(live.until([](ServerCounts const& counts) { return counts.connections_open == 3; }));
    CHECK(connect_for("192.0.2.7").answer().status == 200);
}

TEST_CASE("of a chain the last address that is no trusted proxy counts", "[live][proxies]") {
    LiveServer live{behind(ClientNamedBy::x_forwarded_for)};
    auto const [fields, client] = GENERATE(table<std::string, std::string>({
        {"", "127.0.0.1"},
        {"X-Forwarded-For: 192.0.2.7\r\n", "192.0.2.7"},
        {"x-forwarded-for: 1.2.3.4, 192.0.2.7\r\n", "192.0.2.7"},
        {"X-Forwarded-For: 192.0.2.7, 10.1.1.1,127.0.0.1\r\n", "192.0.2.7"},
        {"X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 192.0.2.7\r\n", "192.0.2.7"},
        {"X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-For: 10.1.1.1\r\n", "192.0.2.7"},
        {"X-Forwarded-For: 10.1.1.2, 10.1.1.1\r\n", "10.1.1.2"},
        {"X-Forwarded-For: 192.0.2.7:4711\r\n", "192.0.2.7"},
        {"X-Forwarded-For: 2001:db8::7\r\n", "2001:db8::7"},
        {"X-Forwarded-For: [2001:db8::7]:4711\r\n", "2001:db8::7"},
        {"X-Forwarded-For: 127.0.0.1, spoofed\r\n", "127.0.0.1"},
        {"X-Forwarded-For: 192.0.2.7, spoofed, 10.1.1.1\r\n", "10.1.1.1"},
        {"X-Forwarded-For: \r\n", "127.0.0.1"},
        {"X-Forwarded-For: 192.0.2.7,\r\n", "127.0.0.1"},
        {"X-Forwarded-For: 192.0.2.7:99999999\r\n", "127.0.0.1"},
        {"X_Forwarded_For: 192.0.2.7\r\n", "127.0.0.1"},
        {"Forwarded: for=192.0.2.7\r\n", "127.0.0.1"},  // not the field that was agreed on
    }));
    CAPTURE(fields);
    Client connection = live.connect();
    REQUIRE(connection.send(who(fields)));
    CHECK(connection.answer().body == told(client));
}

TEST_CASE("a hop that nobody writes so ends the chain, and so does the 33rd", "[proxies]") {
    TrustedProxies const proxies{parse_ranges("10.0.0.0/8").value(), ClientNamedBy::forwarded};
    TrustedProxies const listed{proxies.ranges, ClientNamedBy::x_forwarded_for};
    auto const client_of = [](TrustedProxies const& by, std::string_view name,
                              std::string_view value) {
        Field const fields[] = {{"Host", "t"}, {name, value}};
        Request request;
        request.fields = fields;
        return named_client(request, by);
    };
    for (std::string_view const hop :
         {"[2001:db8::7", "[]", "[:]", "[192.0.2.7]", "[2001:db8::7]4711", "[2001:db8::7]:",
          "[2001:db8::7]:47a1", "192.0.2.7:", "192.0.2.7:-1", "192.0.2.7:/", "192.0.2.7:123456",
          "192.0.2.7.", "2001:db8:::7", "2001:0db8:0000:0000:0000:0000:0000:0007:0000:0000:0000"}) {
        CAPTURE(hop);
        CHECK_FALSE(client_of(listed, "X-Forwarded-For", hop).has_value());
        CHECK_FALSE(client_of(proxies, "Forwarded", "for=\"" + std::string(hop) + "\""));
    }
    CHECK(client_of(listed, "x-forwarded-for", "[2001:db8::7]") == address("2001:db8::7"));
    CHECK(client_of(proxies, "Forwarded", "for=\"[2001:db8::7]\"") == address("2001:db8::7"));
    for (std::string_view const none :
         {"", "for", "by=192.0.2.7;secret", "for=\"", "for=\"192.0.2.7"})
        CHECK_FALSE(client_of(proxies, "Forwarded", none).has_value());
    std::string chain = "192.0.2.7";
    for (int hop = 1; hop <= 31; ++hop) chain += ", 10.0.0." + std::to_string(hop);
    CHECK(client_of(listed, "X-Forwarded-For", chain) == address("192.0.2.7"));
    CHECK(client_of(listed, "X-Forwarded-For", chain + ", 10.1.1.1") == address("10.0.0.1"));
}

TEST_CASE("only a proxy on this machine can ask for loopback, which limits spare", "[proxies]") {
    PeerKey const here = key_of(address("127.0.0.1"));
    PeerKey const elsewhere = key_of(address("10.1.1.1"));
    for (std::string const loopback : {"127.0.0.1", "127.255.0.9", "::1"}) {
        CHECK(key_named_by(here, address(loopback)).loopback);
        CHECK_FALSE(key_named_by(elsewhere, address(loopback)).loopback);
        CHECK(key_named_by(elsewhere, address(loopback)).bytes == key_of(address(loopback)).bytes);
    }
    CHECK_FALSE(key_named_by(here, address("192.0.2.7")).loopback);
}

TEST_CASE("Forwarded is read likewise", "[live][proxies]") {
    LiveServer live{behind(ClientNamedBy::forwarded)};
    auto const [value, client] = GENERATE(table<std::string, std::string>({
        {"for=192.0.2.7", "192.0.2.7"},
        {"For=\"192.0.2.7:80\";proto=https;by=10.0.0.1", "192.0.2.7"},
        {"proto=http;for=\"[2001:db8::7]:4711\"", "2001:db8::7"},
        {"for=1.2.3.4, for=192.0.2.7;host=a", "192.0.2.7"},
        {"for=192.0.2.7, for=10.1.1.1", "192.0.2.7"},
        {"for=\", for=192.0.2.7", "192.0.2.7"},
        {"for=unknown", "127.0.0.1"},
        {"for=_hidden, for=10.1.1.1", "10.1.1.1"},
        {"for=192.0.2.7;for=192.0.2.8", "127.0.0.1"},
        {"for=2001:db8::7", "127.0.0.1"},
        {"proto=https", "127.0.0.1"},
    }));
    CAPTURE(value);
    Client connection = live.connect();
    REQUIRE(connection.send(who("Forwarded: " + value + "\r\nX-Forwarded-For: 203.0.113.9\r\n")));
    CHECK(connection.answer().body == told(client));
}

TEST_CASE("a worker's handler sees the same client", "[live][proxies]") {
    LiveServer live{behind(ClientNamedBy::x_forwarded_for)};
    Client connection = live.connect();
    REQUIRE(connection.send(
        "GET /who/worker HTTP/1.1\r\nHost: t\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n"));
    REQUIRE(live.workers.run_one());
    CHECK(connection.answer().body == told("192.0.2.7"));
}
