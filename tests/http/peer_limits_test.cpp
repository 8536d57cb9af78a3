#include "http/peer_limits.hpp"

#include <catch2/catch.hpp>

using namespace holdfast::http;

namespace {

PeerKey peer(std::uint8_t last, bool loopback = false) {
    PeerKey key;
    key.bytes[15] = last;
    key.loopback = loopback;
    return key;
}

}  // namespace

TEST_CASE("connections are limited by address and in all", "[limits]") {
    PeerLimits limits{5, 2, false};
    CHECK(limits.admit(peer(1)));
    CHECK(limits.admit(peer(1)));
    CHECK_FALSE(limits.admit(peer(1)));
    CHECK(limits.admit(peer(2)));
    limits.leave(peer(1));
    CHECK(limits.admit(peer(1)));
    CHECK(limits.admit(peer(3)));
    CHECK(limits.admit(peer(4)));
    CHECK_FALSE(limits.admit(peer(5)));  // the sixth
    limits.leave(peer(4));
    CHECK(limits.admit(peer(5)));
}

TEST_CASE("loopback is spared by address, not in all, unless told otherwise", "[limits]") {
    PeerLimits sparing{3, 1, false};
    CHECK(sparing.admit(peer(1, true)));
    CHECK(sparing.admit(peer(1, true)));
    CHECK(sparing.admit(peer(1, true)));
    CHECK_FALSE(sparing.admit(peer(1, true)));
    PeerLimits strict{3, 1, true};
    CHECK(strict.admit(peer(1, true)));
    CHECK_FALSE(strict.admit(peer(1, true)));
}

TEST_CASE("a trusted proxy counts in all only, and its client once it is known", "[limits]") {
    PeerLimits limits{3, 1, false};
    PeerKey proxy;
    proxy.bytes[15] = 1;
    proxy.trusted = true;
    PeerKey client;
    client.bytes[15] = 2;
    REQUIRE(limits.admit(proxy));
    REQUIRE(limits.admit(proxy));
    CHECK(limits.settle(client));
    CHECK_FALSE(limits.settle(client));
    CHECK_FALSE(limits.admit(client));
    limits.leave(client);  // the one that was settled
    CHECK(limits.admit(client));
    REQUIRE(limits.admit(proxy));
    CHECK_FALSE(limits.admit(proxy));
}
