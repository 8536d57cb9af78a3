// Client address: for whom a connection or a request is counted.
//
// Purpose: the peer's address, or the one that a trusted proxy names in X-Forwarded-For or
// Forwarded. Of a chain the last address that is no trusted proxy counts: what stands before it was
// written by somebody who is not trusted. What cannot be read ends the chain there.
// Thread safety: pure. Cost: nothing for a peer that is no proxy.
#pragma once

#include "http/peer_limits.hpp"

#include <holdfast/http/front_rules.hpp>
#include <holdfast/http/message.hpp>

#include <optional>

namespace holdfast::http {

[[nodiscard]] PeerKey key_of(AddressBytes const& address) noexcept;

/// Whom `proxy` asks for. Loopback, which limits spare, is only what is so for this machine: to a
/// proxy on another one 127.0.0.1 is somebody of its own.
[[nodiscard]] PeerKey key_named_by(PeerKey const& proxy, AddressBytes const& client) noexcept;

/// nullopt: the fields name nobody, so the proxy asks for itself.
[[nodiscard]] std::optional<AddressBytes> named_client(Request const& request,
                                                       TrustedProxies const& proxies);

}  // namespace holdfast::http
