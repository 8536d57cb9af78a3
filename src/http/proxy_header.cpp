#include "http/proxy_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::http {
namespace {

using HeaderVerdict = ProxyHeader::Verdict;

constexpr std::string_view v1_start = "PROXY ";
constexpr std::size_t v1_bytes_max = 107;
constexpr std::string_view v2_start{"\r\n\r\n\0\r\nQUIT\n", 12};
constexpr std::size_t v2_fixed_bytes = 16;

bool begins_alike(std::string_view bytes, std::string_view start) noexcept {
    std::size_t const count = std::min(bytes.size(), start.size());
    return bytes.substr(0, count) == start.substr(0, count);
}

/// Up to the next space; takes the space along.
std::string_view next_word(std::string_view& line) noexcept {
    std::size_t const space = std::min(line.find(' '), line.size());
    std::string_view const word = line.substr(0, space);
    line.remove_prefix(std::min(space + 1, line.size()));
    return word;
}

bool is_tcp_port(std::string_view text) noexcept {
    std::uint16_t port{};
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    bool const whole = error == std::errc{} && end == text.data() + text.size();
    return !text.empty() && whole && (text.size() == 1 || text.front() != '0');
}

ProxyHeader read_v1(std::string_view bytes) {
    std::size_t const end = bytes.substr(0, v1_bytes_max).find("\r\n");
    std::string_view line = bytes.substr(0, end);
    if (end == line.npos) {
        // The last byte may be a CR whose LF is still to come.
        bool const fits = bytes.size() < v1_bytes_max;
        std::size_t const odd = line.find_first_of(std::string_view{"\r\n\0", 3});
        bool const clean = odd == line.npos || (odd + 1 == line.size() && line[odd] == '\r');
        return {fits && clean ? HeaderVerdict::need_more : HeaderVerdict::refused, 0, {}};
    }
    line.remove_prefix(v1_start.size());
    std::string_view const family = next_word(line);
    if (family == "UNKNOWN") return {HeaderVerdict::accepted, end + 2, {}};
    if (family != "TCP4" && family != "TCP6") return {};
    std::array<std::string_view, 4> words;
    for (std::string_view& word : words) word = next_word(line);
    auto const right_family = [family](std::string_view text) {
        return (text.find(':') != text.npos) == (family == "TCP6");
    };
    auto const client = parse_address(words[0]);
    bool const good = line.empty() && client && parse_address(words[1]) && right_family(words[0]) &&
                      right_family(words[1]) && is_tcp_port(words[2]) && is_tcp_port(words[3]) &&
                      bytes[end - 1] != ' ';
    return good ? ProxyHeader{HeaderVerdict::accepted, end + 2, client} : ProxyHeader{};
}

ProxyHeader read_v2(std::string_view bytes) {
    auto const byte = [bytes](std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); };
    constexpr std::uint8_t local = 0x20;
    constexpr std::uint8_t proxied = 0x21;
    if (bytes.size() > 12 && byte(12) != local && byte(12) != proxied) return {};
    if (bytes.size() > 13 && ((byte(13) >> 4) > 3 || (byte(13) & 15) > 2)) return {};
    if (bytes.size() < v2_fixed_bytes) return {HeaderVerdict::need_more, 0, {}};
    std::size_t const length = std::size_t{byte(14)} << 8 | byte(15);
    std::size_t const whole = v2_fixed_bytes + length;
    unsigned const family = byte(13) >> 4;
    std::size_t const least = family == 1 ? 12 : family == 2 ? 36 : family == 3 ? 216 : 0;
    if (whole > proxy_header_bytes_max) return {};
    if (byte(12) == proxied && length < least) return {};
    if (bytes.size() < whole) return {HeaderVerdict::need_more, 0, {}};
    ProxyHeader header{HeaderVerdict::accepted, whole, {}};
    constexpr unsigned stream = 1;
    if (byte(12) == local || (byte(13) & 15) != stream) return header;
    AddressBytes client{};
    if (family == 1) {
        client[10] = client[11] = 0xFF;
        for (std::size_t i = 0; i < 4; ++i) client[12 + i] = byte(v2_fixed_bytes + i);
        header.client = client;
    } else if (family == 2) {
        for (std::size_t i = 0; i < 16; ++i) client[i] = byte(v2_fixed_bytes + i);
        header.client = client;
    }
    return header;
}

}  // namespace

ProxyHeader read_proxy_header(std::string_view bytes) {
    if (begins_alike(bytes, v2_start)) {
        return bytes.size() < v2_start.size() ? ProxyHeader{HeaderVerdict::need_more, 0, {}}
                                              : read_v2(bytes);
    }
    if (!begins_alike(bytes, v1_start)) return {};
    return bytes.size() < v1_start.size() ? ProxyHeader{HeaderVerdict::need_more, 0, {}}
                                          : read_v1(bytes);
}

}  // namespace holdfast::http
