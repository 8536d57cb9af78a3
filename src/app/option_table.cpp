#include "app/option_table.hpp"

#include <holdfast/domain/limits.hpp>
#include <holdfast/http/front_rules.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <charconv>

namespace holdfast::app {
namespace {

// Claiming threads in all stay under limits::threads_max: io, workers, expiry and the admin's one.
constexpr std::int64_t io_threads_max = 48;
constexpr std::int64_t workers_max = 8;
static_assert(io_threads_max + workers_max + 2 <= limits::threads_max);

constexpr std::int64_t seconds_of(std::chrono::seconds time) {
    return time.count();
}

constexpr std::array all_options{
    Option{.section = "server",
           .key = "listen",
           .field = &Config::listen,
           .rule = TextRule::listen_address,
           .flag = "--listen",
           .help = "Address and port of the public listener (127.0.0.1:8080); port 0 takes "
                   "a free one"},
    Option{.section = "server",
           .key = "admin_listen",
           .field = &Config::admin_listen,
           .rule = TextRule::listen_address,
           .flag = "--admin-listen",
           .help = "Address and port of the admin listener with /metrics (127.0.0.1:8081); "
                   "keep it private"},
    Option{.section = "server",
           .key = "io_threads",
           .field = &Config::io_threads,
           .low = 0,
           .high = io_threads_max,
           .flag = "--io-threads",
           .help = "Threads that serve connections; 0, as without it: one per core"},
    Option{.section = "server",
           .key = "workers",
           .field = &Config::workers,
           .low = 1,
           .high = workers_max,
           .help = "Threads for slow requests and for building events"},
    Option{.section = "server",
           .key = "drain_timeout_s",
           .field = &Config::drain_timeout,
           .low = 0,
           .high = 60,
           .help = "How long a stop waits for requests in flight"},
    Option{.section = "storage",
           .key = "data",
           .field = &Config::data,
           .flag = "--data",
           .help = "The data folder (data), made if missing"},
    Option{.section = "storage",
           .key = "segment_bytes",
           .field = &Config::segment_bytes,
           .low = limits::segment_bytes_min,
           .high = 1 << 30,
           .multiple_of = 4'096,
           .help = "Size of one journal segment"},
    Option{.section = "storage",
           .key = "free_bytes_min",
           .field = &Config::free_bytes_min,
           .low = 0,
           .high = std::int64_t{1} << 50,
           .help = "With less free space in the data folder the server turns read-only"},
    Option{.section = "storage",
           .key = "journal_bytes_max",
           .field = &Config::journal_bytes_max,
           .low = 0,
           .high = std::int64_t{1} << 50,
           .help = "With a larger journal the server turns read-only"},
    Option{.section = "storage",
           .key = "failed_grace_s",
           .field = &Config::failed_grace,
           .low = 0,
           .high = 86'400,
           .help = "So long after its journal failed the server ends by itself"},
    Option{.section = "http",
           .key = "hosts",
           .field = &Config::hosts,
           .rule = TextRule::host_names,
           .help = "Names that the public listener answers to; empty: any"},
    Option{.section = "http",
           .key = "connections_max",
           .field = &Config::connections_max,
           .low = 1,
           .high = 1'000'000,
           .help = "Open connections in all"},
    Option{.section = "http",
           .key = "connections_per_address_max",
           .field = &Config::connections_per_address_max,
           .low = 1,
           .high = 1'000'000,
           .help = "Open connections of one IPv4 address or IPv6 /64"},
    Option{.section = "http",
           .key = "half_read_heads_per_address_max",
           .field = &Config::half_read_heads_per_address_max,
           .low = 1,
           .high = 1'000'000,
           .help = "Connections of one address that are in the middle of a request's head"},
    Option{.section = "http",
           .key = "limit_loopback",
           .field = &Config::limit_loopback,
           .help = "Limits by address and network hold for loopback too"},
    Option{.section = "http",
           .key = "reads_per_network_s",
           .field = &Config::reads_per_network_s,
           .low = 0,
           .high = 1'000'000,
           .help = "Reads of one IPv4 /24 or IPv6 /64 a second"},
    Option{.section = "http",
           .key = "writes_per_network_s",
           .field = &Config::writes_per_network_s,
           .low = 0,
           .high = 1'000'000,
           .help = "Other requests of one IPv4 /24 or IPv6 /64 a second"},
    Option{.section = "http",
           .key = "reads_per_hold_s",
           .field = &Config::reads_per_hold_s,
           .low = 0,
           .high = 1'000'000,
           .help = "Reads with the token of one hold a second"},
    Option{.section = "http",
           .key = "writes_per_hold_s",
           .field = &Config::writes_per_hold_s,
           .low = 0,
           .high = 1'000'000,
           .help = "Other requests with the token of one hold a second"},
    Option{.section = "http",
           .key = "in_flight_per_principal_max",
           .field = &Config::in_flight_per_principal_max,
           .low = 0,
           .high = 1'000'000,
           .help = "Requests of one principal that are answered at one time"},
    Option{.section = "http",
           .key = "overload_wait_ms",
           .field = &Config::overload_wait_ms,
           .low = 0,
           .high = 10'000,
           .help = "How long requests wait for a thread when new holds begin to be refused"},
    Option{.section = "http",
           .key = "head_timeout_s",
           .field = &Config::head_timeout,
           .low = 1,
           .high = 3'600,
           .help = "From the first byte of a request to the end of its head"},
    Option{.section = "http",
           .key = "body_timeout_s",
           .field = &Config::body_timeout,
           .low = 1,
           .high = 3'600,
           .help = "From the end of the head to the end of the body"},
    Option{.section = "http",
           .key = "idle_timeout_s",
           .field = &Config::idle_timeout,
           .low = 1,
           .high = 3'600,
           .help = "A kept connection without a request is closed"},
    Option{.section = "http",
           .key = "write_timeout_s",
           .field = &Config::write_timeout,
           .low = 1,
           .high = 3'600,
           .help = "A client that does not read its replies is cut off"},
    Option{.section = "http",
           .key = "handler_timeout_s",
           .field = &Config::handler_timeout,
           .low = 1,
           .high = 3'600,
           .help = "How long a request may wait for a worker and be run by it"},
    Option{.section = "http",
           .key = "connection_life_s",
           .field = &Config::connection_life,
           .low = 1,
           .high = 7 * 86'400,
           .help = "After that a connection is closed with its next reply"},
    Option{.section = "http",
           .key = "streams_max",
           .field = &Config::streams_max,
           .low = 0,
           .high = 1'000'000,
           .help = "Open streams of seat changes in all, besides connections_max"},
    Option{.section = "http",
           .key = "streams_per_network_max",
           .field = &Config::streams_per_network_max,
           .low = 1,
           .high = 1'000'000,
           .help = "Open streams of one IPv4 /24 or IPv6 /64"},
    Option{.section = "http",
           .key = "stream_heartbeat_s",
           .field = &Config::stream_heartbeat,
           .low = 1,
           .high = 3'600,
           .help = "A stream without news sends a comment line so often"},
    Option{.section = "tls",
           .key = "certificate",
           .field = &Config::certificate,
           .help = "PEM file of the public listener's certificate and its chain; empty: no TLS"},
    Option{.section = "tls",
           .key = "key",
           .field = &Config::key,
           .help = "PEM file of its private key, without a passphrase"},
    Option{.section = "tls",
           .key = "handshake_timeout_s",
           .field = &Config::handshake_timeout,
           .low = 1,
           .high = 3'600,
           .help = "From the connection to the end of the handshake and of a PROXY header"},
    Option{.section = "tls",
           .key = "hsts_max_age_s",
           .field = &Config::hsts_max_age_s,
           .low = 0,
           .high = 63'072'000,
           .help = "Strict-Transport-Security of replies over TLS; 0: none"},
    Option{.section = "proxies",
           .key = "trusted",
           .field = &Config::trusted,
           .rule = TextRule::address_ranges,
           .help = "Addresses and networks whose word on a client's address is taken"},
    Option{.section = "proxies",
           .key = "named_by",
           .field = &Config::named_by,
           .rule = TextRule::client_named_by,
           .help = "How they name it"},
    Option{.section = "cors",
           .key = "origins",
           .field = &Config::origins,
           .rule = TextRule::origins,
           .help = "Origins of other sites whose pages may use the interface"},
    Option{.section = "cors",
           .key = "max_age_s",
           .field = &Config::cors_max_age_s,
           .low = 0,
           .high = 86'400,
           .help = "How long browsers may keep the answer to a preflight"},
    Option{.section = "hold",
           .key = "ttl_min_s",
           .field = &Config::ttl_min,
           .low = 1,
           .high = seconds_of(limits::hold_ttl_highest),
           .help = "The shortest hold time an event may ask for"},
    Option{.section = "hold",
           .key = "restart_grace_s",
           .field = &Config::restart_grace,
           .low = 0,
           .high = seconds_of(limits::hold_ttl_highest),
           .help = "After a restart every live hold keeps at least this much time"},
    Option{.section = "idempotency",
           .key = "marks_bytes_max",
           .field = &Config::marks_bytes_max,
           .low = 1 << 20,
           .high = std::int64_t{1} << 40,
           .help = "Memory of answers that are kept for repeats with the same Idempotency-Key"},
    Option{.section = "idempotency",
           .key = "refusals_bytes_max",
           .field = &Config::refusals_bytes_max,
           .low = 1 << 20,
           .high = std::int64_t{1} << 40,
           .help = "The same of refusals, which are not kept over a restart"},
    Option{.section = "admin",
           .key = "token",
           .field = &Config::token,
           .rule = TextRule::token,
           .help = "The operator's token; empty: made at start, see <data>/admin.token"},
    Option{.section = "log",
           .key = "level",
           .field = &Config::level,
           .rule = TextRule::log_level,
           .help = "Least level that is written"},
    Option{.section = "log",
           .key = "file",
           .field = &Config::file,
           .help = "Log file, opened again at SIGHUP; empty: standard error"},
};

constexpr std::size_t text_bytes_max = 4'096;
constexpr std::size_t token_bytes_min = 16;
constexpr std::size_t token_bytes_max = 256;

/// `192.0.2.1:80` or `[2001:db8::1]:80`; names are not looked up.
bool is_listen_address(std::string const& text) {
    auto const colon = text.rfind(':');
    if (colon == std::string::npos) return false;
    std::string host = text.substr(0, colon);
    char const* const begin = text.data() + colon + 1;
    char const* const end = text.data() + text.size();
    std::uint16_t port = 0;
    auto const [stop, error] = std::from_chars(begin, end, port);
    if (begin == end || stop != end || error != std::errc{}) return false;
    std::array<std::byte, sizeof(in6_addr)> address{};
    bool const bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (!bracketed) return inet_pton(AF_INET, host.c_str(), address.data()) == 1;
    host = host.substr(1, host.size() - 2);
    return inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

bool is_token(std::string const& text) {
    if (text.empty()) return true;  // not set
    bool const fits = text.size() >= token_bytes_min && text.size() <= token_bytes_max;
    return fits &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

bool fits(TextRule rule, std::string const& text) {
    bool const printable = std::none_of(text.begin(), text.end(),
                                        [](char c) { return (c >= 0 && c < ' ') || c == 0x7F; });
    if (text.size() > text_bytes_max || !printable) return false;
    switch (rule) {
        case TextRule::any:
            return true;
        case TextRule::listen_address:
            return is_listen_address(text);
        case TextRule::log_level:
            return text == "debug" || text == "info" || text == "warn" || text == "error";
        case TextRule::token:
            return is_token(text);
        case TextRule::address_ranges:
            return http::parse_ranges(text).has_value();
        case TextRule::client_named_by:
            return http::parse_client_named_by(text).has_value();
        case TextRule::origins:
            return http::parse_origins(text).has_value();
        case TextRule::host_names:
            return http::HostNames::parse(text).has_value();
    }
    return false;
}

std::string allowed_text(TextRule rule) {
    switch (rule) {
        case TextRule::any:
            return "a text without control characters";
        case TextRule::listen_address:
            return "\"ADDRESS:PORT\" with an IPv4 address or a bracketed IPv6 address, port 0 … "
                   "65535";
        case TextRule::log_level:
            return "\"debug\", \"info\", \"warn\" or \"error\"";
        case TextRule::token:
            return "\"\" or 16 … 256 visible ASCII characters";
        case TextRule::address_ranges:
            return "\"\" or at most 64 addresses and networks (no bit behind the prefix is set), "
                   "\"192.0.2.1, 10.0.0.0/8, 2001:db8::/32\"";
        case TextRule::client_named_by:
            return "\"none\", \"x-forwarded-for\", \"forwarded\" or \"proxy-protocol\"";
        case TextRule::origins:
            return "\"\" or at most 64 origins as browsers send them (no slash at the end), "
                   "\"https://shop.example, http://localhost:3000\"";
        case TextRule::host_names:
            return "\"\" or at most 64 names without ports, \"shop.example, 192.0.2.1, "
                   "[2001:db8::1]\"";
    }
    return {};
}

template <class T>
constexpr bool is_number = std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t> ||
                           std::is_same_v<T, Milliseconds>;

template <class T>
T to_number(std::int64_t value) {
    if constexpr (std::is_same_v<T, Milliseconds>)
        return std::chrono::seconds(value);
    else
        return static_cast<T>(value);
}

/// The value as the field's type, if it is of that type at all.
template <class T>
std::optional<T> convert(Option const& option, RawValue const& value) {
    if constexpr (is_number<T>) {
        auto const* number = std::get_if<std::int64_t>(&value);
        if (number == nullptr || *number < option.low || *number > option.high) return {};
        if (*number % option.multiple_of != 0) return {};
        return to_number<T>(*number);
    } else if constexpr (std::is_same_v<T, bool>) {
        auto const* flag = std::get_if<bool>(&value);
        return flag == nullptr ? std::optional<bool>{} : *flag;
    } else {
        auto const* text = std::get_if<std::string>(&value);
        if (text == nullptr || !fits(option.rule, *text)) return {};
        if (std::is_same_v<T, std::filesystem::path> && text->empty()) return {};
        return T(*text);
    }
}

}  // namespace

std::string Option::name() const {
    return "[" + std::string(section) + "]." + std::string(key);
}

std::string Option::variable() const {
    std::string name = "HOLDFAST_" + std::string(section) + "_" + std::string(key);
    for (char& letter : name) {
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    }
    return name;
}

std::string Option::allowed() const {
    return std::visit(
        [this]<class T>(T Config::*) {
            if constexpr (std::is_same_v<T, bool>) return std::string("true or false");
            if constexpr (std::is_same_v<T, std::filesystem::path>) return std::string("a path");
            if constexpr (std::is_same_v<T, std::string>) return allowed_text(rule);
            std::string text = "an integer, " + std::to_string(low) + " … " + std::to_string(high);
            if (multiple_of != 1) text += ", a multiple of " + std::to_string(multiple_of);
            if constexpr (std::is_same_v<T, Milliseconds>) text += " (seconds)";
            return text;
        },
        field);
}

bool Option::set(Config& config, RawValue const& value) const {
    return std::visit(
        [&]<class T>(T Config::* member) {
            std::optional<T> const converted = convert<T>(*this, value);
            if (converted) config.*member = *converted;
            return converted.has_value();
        },
        field);
}

bool Option::set_text(Config& config, std::string const& text) const {
    return std::visit(
        [&]<class T>(T Config::*) {
            if constexpr (std::is_same_v<T, bool>) {
                if (text != "true" && text != "false") return false;
                return set(config, text == "true");
            } else if constexpr (is_number<T>) {
                std::int64_t number = 0;
                char const* const end = text.data() + text.size();
                auto const [stop, error] = std::from_chars(text.data(), end, number);
                if (text.empty() || stop != end || error != std::errc{}) return false;
                return set(config, number);
            } else {
                return set(config, text);
            }
        },
        field);
}

std::span<Option const> option_table() noexcept {
    return all_options;
}

}  // namespace holdfast::app
