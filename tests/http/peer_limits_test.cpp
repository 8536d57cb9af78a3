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
