#include <holdfast/loadgen/fetch.hpp>

#include <algorithm>
#include <charconv>

namespace holdfast::loadgen {
namespace {

ResultOf<std::uint16_t, FetchError> parse_port(std::string_view text) {
    unsigned port = 0;
    auto const [rest, ec] = std::from_chars(text.data(), text.data() + text.size(), port);
    bool const number = ec == std::errc{} && rest == text.data() + text.size();
    if (!number || port == 0 || port > 65'535) {
        return FetchError{"the port of the URL is not a number from 1 to 65535"};
    }
    return static_cast<std::uint16_t>(port);
}

bool host_is_sound(std::string_view host, bool bracketed) {
    auto const allowed = [bracketed](char c) {
        bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool const digit = c >= '0' && c <= '9';
        return letter || digit || c == '.' || c == '-' || c == '_' || (bracketed && c == ':');
    };
    return !host.empty() && std::all_of(host.begin(), host.end(), allowed);
}

}  // namespace

ResultOf<Url, FetchError> parse_url(std::string_view text) {
    constexpr std::string_view scheme = "http://";
    if (text.substr(0, scheme.size()) != scheme) {
        return FetchError{
            "the URL must start with http://: this command speaks plain HTTP only; of "
            "a server with TLS name the admin listener, http://127.0.0.1:8081"};
    }
    text.remove_prefix(scheme.size());
    auto const visible = [](char c) { return c > ' ' && c < 0x7f && c != '?' && c != '#'; };
    if (!std::all_of(text.begin(), text.end(), visible)) {
        return FetchError{"the URL may have no query, fragment, space or control character"};
    }
    auto authority = text.substr(0, text.find('/'));
    auto prefix = text.substr(authority.size());
    while (!prefix.empty() && prefix.back() == '/') prefix.remove_suffix(1);

    Url url{.host = {}, .port = 80, .prefix = std::string(prefix)};
    bool const bracketed = !authority.empty() && authority.front() == '[';
    auto const host_end = bracketed ? authority.find(']') : authority.find(':');
    if (bracketed && host_end == std::string_view::npos) {
        return FetchError{"the URL has [ without ]"};
    }
    url.host = bracketed ? authority.substr(1, host_end - 1) : authority.substr(0, host_end);
    if (!host_is_sound(url.host, bracketed)) {
        return FetchError{"the URL names no host, or a user, or a character no host may have"};
    }
    auto rest = host_end == std::string_view::npos ? std::string_view{}
                                                   : authority.substr(host_end + bracketed);
    if (rest.empty()) return url;
    if (rest.front() != ':') return FetchError{"after ] the URL may have only :port"};
    auto const port = parse_port(rest.substr(1));
    if (!port) return port.error();
    url.port = *port;
    return url;
}

std::string to_text(Url const& url) {
    bool const bracketed = url.host.find(':') != url.host.npos;
    std::string const host = bracketed ? "[" + url.host + "]" : url.host;
    return "http://" + host + ":" + std::to_string(url.port) + url.prefix;
}

std::string text_of(std::string_view json, std::string_view name) {
    std::string const label = "\"" + std::string(name) + "\":\"";
    auto const at = json.find(label);
    if (at == json.npos) return {};
    auto const begin = at + label.size();
    return std::string(json.substr(begin, json.find('"', begin) - begin));
}

std::string_view Reply::field(std::string_view name) const noexcept {
    auto const found = std::find_if(fields.begin(), fields.end(),
                                    [name](auto const& field) { return field.first == name; });
    return found == fields.end() ? std::string_view{} : std::string_view{found->second};
}

}  // namespace holdfast::loadgen
