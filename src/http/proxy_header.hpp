// PROXY protocol, versions 1 and 2: what a proxy sends before the first byte of its client.
//
// Purpose: the client's address. Pure on bytes: the same verdict whether they come whole or one at
// a time, and a start that is none is refused at its first wrong byte.
// Thread safety: pure. Cost: a look at no more than its own bytes; no allocation.
#pragma once

#include <holdfast/http/front_rules.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace holdfast::http {

/// A header with what vendors add to it; a longer one is refused.
inline constexpr std::size_t proxy_header_bytes_max = 4'096;

struct ProxyHeader {
    enum class Verdict : std::uint8_t { need_more, accepted, refused };
    Verdict verdict{Verdict::refused};
    std::size_t bytes{};                 // of the accepted header
    std::optional<AddressBytes> client;  // none: the proxy speaks for itself, or does not say
};

[[nodiscard]] ProxyHeader read_proxy_header(std::string_view bytes);

}  // namespace holdfast::http
