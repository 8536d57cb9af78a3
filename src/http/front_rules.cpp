#include "http/ascii.hpp"
#include "http/guard.hpp"

#include <holdfast/http/front_rules.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>

namespace holdfast::http {
namespace {

constexpr std::size_t entries_max = 64;
constexpr unsigned v4_prefix_bits = 96;

/// Calls add(entry) for each; false as soon as that is false, or there are too many.
template <class Add>
bool each_entry(std::string_view text, Add add) {
    if (trimmed(text).empty()) return true;
    for (std::size_t count = 1; count <= entries_max; ++count) {
        std::size_t const comma = std::min(text.find(','), text.size());
        if (!add(trimmed(text.substr(0, comma)))) return false;
        if (comma == text.size()) return true;
        text.remove_prefix(comma + 1);
    }
    return false;
}

bool bit(AddressBytes const& bytes, unsigned at) noexcept {
    return (bytes[at / 8] >> (7 - at % 8) & 1U) != 0;
}

bool within(AddressRange const& range, AddressBytes const& address) noexcept {
    unsigned const whole = range.bits / 8;
    if (!std::equal(address.begin(), address.begin() + whole, range.first.begin())) return false;
    for (unsigned at = whole * 8; at < range.bits; ++at)
        if (bit(address, at) != bit(range.first, at)) return false;
    return true;
}

std::optional<AddressRange> parse_range(std::string_view text) {
    std::size_t const slash = std::min(text.find('/'), text.size());
    auto const first = parse_address(text.substr(0, slash));
    if (!first) return {};
    AddressRange range{*first};
    if (slash == text.size()) return range;
    bool const v4 = text.substr(0, slash).find(':') == text.npos;
    unsigned const most = v4 ? 32 : 128;
    std::string_view const bits = text.substr(slash + 1);
    auto const [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), range.bits);
    bool const number = error == std::errc{} && end == bits.data() + bits.size();
    if (!number || bits.empty() || range.bits > most) return {};
    if (v4) range.bits += v4_prefix_bits;
    // 10.1.2.3/8 is a slip of somebody's pen, and nobody knows which part.
    for (unsigned at = range.bits; at < 128; ++at)
        if (bit(range.first, at)) return {};
    return range;
}

/// Of a valid host: without its port, and without the dot that ends a name at the root.
std::string_view name_of(std::string_view host) noexcept {
    bool const literal = host.starts_with('[');
    std::size_t const end = literal ? host.find(']') + 1 : host.find(':');
    std::string_view const name = host.substr(0, std::min(end, host.size()));
    return name.substr(0, name.size() - (name.ends_with('.') ? 1 : 0));
}

std::optional<AddressBytes> literal_of(std::string_view name) {
    std::string_view const inside = name.substr(1, name.size() - 2);
    return inside.find(':') == inside.npos ? std::nullopt : parse_address(inside);
}

bool is_origin(std::string_view text) {
    bool const secure = text.starts_with("https://");
    if (!secure && !text.starts_with("http://")) return false;
    std::string_view const host = text.substr(text.find("//") + 2);
    bool const lower_case =
        std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!lower_case || !valid_host(host) || host.ends_with(':')) return false;
    return !host.ends_with(secure ? ":443" : ":80");
}

}  // namespace

std::optional<AddressBytes> parse_address(std::string_view text) {
    std::array<char, INET6_ADDRSTRLEN> copy{};  // inet_pton wants an end
    if (text.size() >= copy.size() || text.find('\0') != text.npos) return {};
    std::copy(text.begin(), text.end(), copy.begin());
    AddressBytes bytes{};
    if (text.find(':') != text.npos) {
        if (::inet_pton(AF_INET6, copy.data(), bytes.data()) != 1) return {};
        return bytes;
    }
    bytes[10] = bytes[11] = 0xFF;
    if (::inet_pton(AF_INET, copy.data(), bytes.data() + 12) != 1) return {};
    return bytes;
}

std::optional<std::vector<AddressRange>> parse_ranges(std::string_view text) {
    std::vector<AddressRange> ranges;
    bool const good = each_entry(text, [&ranges](std::string_view entry) {
        auto const range = parse_range(entry);
        if (range) ranges.push_back(*range);
        return range.has_value();
    });
    return good ? std::optional(std::move(ranges)) : std::nullopt;
}

std::optional<std::vector<std::string>> parse_origins(std::string_view text) {
    std::vector<std::string> origins;
    bool const good = each_entry(text, [&origins](std::string_view entry) {
        origins.emplace_back(entry);
        return is_origin(entry);
    });
    return good ? std::optional(std::move(origins)) : std::nullopt;
}

std::optional<HostNames> HostNames::parse(std::string_view text) {
    HostNames hosts;
    bool const good =
        each_entry(text, [&hosts](std::string_view entry) { return hosts.add(entry); });
    return good ? std::optional(std::move(hosts)) : std::nullopt;
}

bool HostNames::add(std::string_view entry) {
    if (!valid_host(entry)) return false;
    std::string_view const name = name_of(entry);
    bool const port = name.size() + 1 < entry.size() || entry.ends_with(':');
    if (name.empty() || name.ends_with('.') || port) return false;
    if (!name.starts_with('[')) {
        names_.emplace_back(name);
        return true;
    }
    auto const literal = literal_of(name);
    if (literal) literals_.push_back(*literal);
    return literal.has_value();
}

bool HostNames::contain(std::string_view host) const noexcept {
    std::string_view const name = name_of(host);
    if (!name.starts_with('[')) {
        auto const same = [name](std::string const& known) { return same_name(known, name); };
        return std::any_of(names_.begin(), names_.end(), same);
    }
    auto const literal = literal_of(name);
    return literal && std::find(literals_.begin(), literals_.end(), *literal) != literals_.end();
}

std::optional<ClientNamedBy> parse_client_named_by(std::string_view text) {
    if (text == "none") return ClientNamedBy::nobody;
    if (text == "x-forwarded-for") return ClientNamedBy::x_forwarded_for;
    if (text == "forwarded") return ClientNamedBy::forwarded;
    if (text == "proxy-protocol") return ClientNamedBy::proxy_protocol;
    return {};
}

bool TrustedProxies::contain(AddressBytes const& address) const noexcept {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&address](AddressRange const& range) { return within(range, address); });
}

}  // namespace holdfast::http
