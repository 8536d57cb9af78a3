// Rules of what stands in front: the names it answers to, trusted proxies, and the origins of other
// sites' pages.
//
// Purpose: texts of the configuration as values that a Server takes; a bad one is nullopt.
// Thread safety: values. Cost: made at the start; contain() of names looks through the list for
//   each request, that of proxies for each connection.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::http {

/// An IPv4 address as ::ffff:a.b.c.d.
using AddressBytes = std::array<std::uint8_t, 16>;

struct AddressRange {
    AddressBytes first{};
    unsigned bits{128};  // that an address must share with `first`
    friend bool operator==(AddressRange const&, AddressRange const&) = default;
};

/// "192.0.2.1", "2001:db8::1"; nothing around it.
[[nodiscard]] std::optional<AddressBytes> parse_address(std::string_view text);
/// "192.0.2.1, 10.0.0.0/8, 2001:db8::/32"; empty: none. At most 64.
[[nodiscard]] std::optional<std::vector<AddressRange>> parse_ranges(std::string_view text);
/// "https://shop.example, http://localhost:3000", each as browsers send it: lower case, no path, no
/// usual port, no `*`, no `null`; empty: none. At most 64.
[[nodiscard]] std::optional<std::vector<std::string>> parse_origins(std::string_view text);

/// How trusted proxies say for whom they ask.
enum class ClientNamedBy : std::uint8_t { nobody, x_forwarded_for, forwarded, proxy_protocol };
/// "none", "x-forwarded-for", "forwarded", "proxy-protocol".
[[nodiscard]] std::optional<ClientNamedBy> parse_client_named_by(std::string_view text);

struct TrustedProxies {
    std::vector<AddressRange> ranges;
    ClientNamedBy named_by{ClientNamedBy::nobody};
    [[nodiscard]] bool contain(AddressBytes const& address) const noexcept;
};

/// The names that a listener answers to.
class HostNames {
public:
    HostNames() = default;
    /// "shop.example, 192.0.2.1, [2001:db8::1]": no ports, no `*`, at most 64; empty: any name.
    [[nodiscard]] static std::optional<HostNames> parse(std::string_view text);
    [[nodiscard]] bool any() const noexcept { return names_.empty() && literals_.empty(); }
    /// `host [":" port]` as the guard accepted it. Letter case, a last dot and the port count not,
    /// and an IPv6 address may be written in any way; no name at all is in no list.
    [[nodiscard]] bool contain(std::string_view host) const noexcept;

private:
    [[nodiscard]] bool add(std::string_view entry);
    std::vector<std::string> names_;
    std::vector<AddressBytes> literals_;  // of those in brackets
};

struct CrossOriginRules {
    std::vector<std::string> origins;
    std::uint32_t max_age_s{600};  // how long a browser may keep the answer to its question
};

}  // namespace holdfast::http
