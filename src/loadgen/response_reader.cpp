#include "loadgen/response_reader.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::loadgen {
namespace {

constexpr std::size_t head_bytes_max = 32 * 1'024;
// The map of an event of 4,000,000 places fits.
constexpr std::size_t body_bytes_max = std::size_t{1} << 30;
constexpr std::string_view head_end = "\r\n\r\n";

char lower(char c) noexcept {
    return (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) { return lower(c); });
    return out;
}

std::string_view trim(std::string_view text) noexcept {
    auto const first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

void ResponseReader::reset() {
    head_.clear();
    reply_ = Reply{};
    body_missing_ = 0;
    in_body_ = false;
    keep_alive_ = true;
    progress_ = Progress::more;
    error_.clear();
}

void ResponseReader::fail(std::string_view why) {
    progress_ = Progress::bad;
    error_ = why;
}

std::size_t ResponseReader::feed(std::string_view bytes) {
    std::size_t taken = 0;
    if (!in_body_ && progress_ == Progress::more) {
        auto const kept = head_.size();
        head_.append(bytes.substr(0, head_bytes_max + 1 - std::min(kept, head_bytes_max)));
        // The end may lie across two reads: look again at the last three bytes.
        auto const end = head_.find(head_end, kept < head_end.size() ? 0 : kept - 3);
        if (end == std::string::npos) {
            if (head_.size() > head_bytes_max) fail("the head of the reply is too long");
            return bytes.size();
        }
        taken = end + head_end.size() - kept;
        head_.resize(end + 2);
        read_head(head_);
    }
    if (in_body_ && progress_ == Progress::more) {
        auto const part = std::min(body_missing_, bytes.size() - taken);
        reply_.body.append(bytes.substr(taken, part));
        taken += part;
        body_missing_ -= part;
        if (body_missing_ == 0) progress_ = Progress::done;
    }
    return taken;
}

void ResponseReader::read_head(std::string_view head) {
    auto end = head.find("\r\n");
    if (!read_status_line(head.substr(0, end))) return;
    for (head.remove_prefix(end + 2); !head.empty(); head.remove_prefix(end + 2)) {
        end = head.find("\r\n");
        if (!read_field(head.substr(0, end))) return;
    }
    if (!read_framing()) return;
    in_body_ = true;
    reply_.body.reserve(body_missing_);
    if (body_missing_ == 0) progress_ = Progress::done;
}

bool ResponseReader::read_status_line(std::string_view line) {
    constexpr std::string_view version = "HTTP/1.1 ";
    if (line.size() < version.size() + 3 || line.substr(0, version.size()) != version) {
        fail("the reply does not start with HTTP/1.1 and a status");
        return false;
    }
    auto const digits = line.substr(version.size(), 3);
    auto const [rest, ec] =
        std::from_chars(digits.data(), digits.data() + digits.size(), reply_.status);
    bool const whole = ec == std::errc{} && rest == digits.data() + digits.size();
    bool const ends = line.size() == version.size() + 3 || line[version.size() + 3] == ' ';
    if (!whole || !ends || reply_.status < 200 || reply_.status > 599) {
        fail("the status of the reply is no number from 200 to 599");
        return false;
    }
    return true;
}

bool ResponseReader::read_field(std::string_view line) {
    auto const colon = line.find(':');
    bool const named = colon != std::string_view::npos && colon > 0;
    if (!named || line.substr(0, colon).find_first_of(" \t") != std::string_view::npos) {
        fail("a field of the reply has no name");
        return false;
    }
    reply_.fields.emplace_back(lower(line.substr(0, colon)),
                               std::string(trim(line.substr(colon + 1))));
    return true;
}

bool ResponseReader::read_framing() {
    auto const& fields = reply_.fields;
    auto const named = [](std::string_view name) {
        return [name](auto const& field) { return field.first == name; };
    };
    if (std::any_of(fields.begin(), fields.end(), named("transfer-encoding"))) {
        fail("the reply has a Transfer-Encoding, which this client does not read");
        return false;
    }
    keep_alive_ = lower(reply_.field("connection")) != "close";
    auto const lengths = std::count_if(fields.begin(), fields.end(), named("content-length"));
    bool const bodiless = reply_.status == 204 || reply_.status == 304;
    if (bodiless && lengths == 0) return true;
    if (lengths != 1) {
        fail("the reply has not exactly one Content-Length");
        return false;
    }
    auto const text = reply_.field("content-length");
    auto const [rest, ec] = std::from_chars(text.data(), text.data() + text.size(), body_missing_);
    if (ec != std::errc{} || rest != text.data() + text.size() || body_missing_ > body_bytes_max) {
        fail("the Content-Length of the reply is no number or too large");
        return false;
    }
    if (bodiless) body_missing_ = 0;
    return true;
}

}  // namespace holdfast::loadgen
