#include "http/client_address.hpp"

#include "http/ascii.hpp"

#include <algorithm>

namespace holdfast::http {
namespace {

constexpr int hops_max = 32;  // a chain that is longer goes in circles

bool is_port(std::string_view text) noexcept {
    return !text.empty() && text.size() <= 5 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// 192.0.2.1, 192.0.2.1:80, [2001:db8::1], [2001:db8::1]:80; without brackets if `bare` allows it.
std::optional<AddressBytes> parse_hop(std::string_view text, bool bare) {
    if (text.starts_with('[')) {
        std::size_t const end = text.find(']');
        if (end == text.npos || end < 3) return {};
        std::string_view const rest = text.substr(end + 1);
        if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return {};
        std::string_view const inside = text.substr(1, end - 1);
        return inside.find(':') == inside.npos ? std::nullopt : parse_address(inside);
    }
    std::size_t const colon = text.find(':');
    if (colon == text.npos) return parse_address(text);
    if (text.find(':', colon + 1) != text.npos) return bare ? parse_address(text) : std::nullopt;
    return is_port(text.substr(colon + 1)) ? parse_address(text.substr(0, colon)) : std::nullopt;
}

/// The `for` of one element of Forwarded: `for=192.0.2.1;proto=https`, `For="[2001:db8::1]:80"`.
std::optional<AddressBytes> parse_forwarded(std::string_view element) {
    std::string_view found;
    bool seen = false;
    while (!element.empty()) {
        std::size_t const end = std::min(element.find(';'), element.size());
        std::string_view const pair = trimmed(element.substr(0, end));
        element.remove_prefix(std::min(end + 1, element.size()));
        std::size_t const equals = pair.find('=');
        if (equals == pair.npos || !same_name(pair.substr(0, equals), "for")) continue;
        if (seen) return {};
        seen = true;
        found = pair.substr(equals + 1);
    }
    if (found.size() >= 2 && found.front() == '"' && found.back() == '"') {
        found = found.substr(1, found.size() - 2);
    }
    return parse_hop(found, false);
}

std::optional<AddressBytes> parse_element(std::string_view element, ClientNamedBy how) {
    return how == ClientNamedBy::forwarded ? parse_forwarded(element) : parse_hop(element, true);
}

}  // namespace

PeerKey key_of(AddressBytes const& address) noexcept {
    constexpr AddressBytes v4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    constexpr AddressBytes v6_loopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    PeerKey key;
    key.bytes = address;
    if (std::equal(v4.begin(), v4.begin() + 12, address.begin())) {
        key.loopback = address[12] == 127;
    } else {
        key.loopback = address == v6_loopback;
        std::fill(key.bytes.begin() + 8, key.bytes.end(), std::uint8_t{0});
    }
    return key;
}

PeerKey key_named_by(PeerKey const& proxy, AddressBytes const& client) noexcept {
    PeerKey key = key_of(client);
    key.loopback &= proxy.loopback;
    return key;
}

std::optional<AddressBytes> named_client(Request const& request, TrustedProxies const& proxies) {
    std::string_view const name = proxies.named_by == ClientNamedBy::forwarded
                                      ? std::string_view{"Forwarded"}
                                      : std::string_view{"X-Forwarded-For"};
    std::optional<AddressBytes> client;
    int hops = 0;
    for (std::size_t i = request.fields.size(); i-- > 0;) {
        if (!request.fields[i].is(name)) continue;
        std::string_view rest = request.fields[i].value;
        for (bool more = true; more;) {
            std::size_t const comma = rest.rfind(',');
            more = comma != rest.npos;
            auto const hop =
                parse_element(trimmed(rest.substr(more ? comma + 1 : 0)), proxies.named_by);
            if (!hop || ++hops > hops_max) return client;
            client = hop;
            if (!proxies.contain(*hop)) return client;
            rest = rest.substr(0, more ? comma : 0);
        }
    }
    return client;
}

}  // namespace holdfast::http
