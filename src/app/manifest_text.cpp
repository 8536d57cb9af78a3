#include "app/manifest_text.hpp"

#include "app/exit_codes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

namespace holdfast::app {
namespace {

using journal::Failure;

constexpr std::uint64_t manifest_format = 1;
constexpr std::string_view hex_digits = "0123456789abcdef";

std::string time_text(TimePoint at) {
    auto const seconds = static_cast<std::time_t>(
        std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count());
    std::tm parts{};
    std::array<char, 32> text{};
    if (::gmtime_r(&seconds, &parts) == nullptr) return {};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

/// Takes the text apart from the front; once something does not fit, nothing does.
class Scanner {
public:
    explicit Scanner(std::string_view text) : rest_(text) {}
    bool skip(std::string_view literal) {
        if (!rest_.starts_with(literal)) return false;
        rest_.remove_prefix(literal.size());
        return true;
    }
    void expect(std::string_view literal) { good_ = skip(literal) && good_; }
    std::uint64_t number() {
        std::uint64_t value = 0;
        auto const [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc{}) good_ = false;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }
    /// Of letters, digits and a few signs; never more than a name needs.
    std::string word() {
        constexpr std::string_view signs = "._/-+:";
        auto const end = std::ranges::find_if_not(rest_, [&](char c) {
            bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            return letter || (c >= '0' && c <= '9') || signs.find(c) != std::string_view::npos;
        });
        std::string word(rest_.begin(), end);
        rest_.remove_prefix(word.size());
        return word;
    }
    [[nodiscard]] bool good() const noexcept { return good_; }

private:
    std::string_view rest_;
    bool good_{true};
};

/// A name that stays below the folder.
bool is_inside(std::string const& name) {
    return !name.empty() && name.front() != '/' && name.find("..") == std::string::npos;
}

TimePoint time_of(std::string const& text) {
    std::tm parts{};
    int const found = std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%dZ", &parts.tm_year, &parts.tm_mon,
                                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec);
    if (found != 6) return {};
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    return TimePoint{std::chrono::seconds{::timegm(&parts)}};
}

journal::StoreId store_id_of(std::string const& text) {
    journal::StoreId id{};
    for (std::size_t at = 0; at < id.size() && 2 * at + 1 < text.size(); ++at)
        std::from_chars(text.data() + 2 * at, text.data() + 2 * at + 2, id[at], 16);
    return id;
}

Manifest scan(Scanner& in) {
    Manifest manifest;
    in.expect("\n  \"made_at\": \"");
    manifest.made_at = time_of(in.word());
    in.expect("\",\n  \"holdfast\": \"");
    manifest.version = in.word();
    in.expect("\",\n  \"store_id\": \"");
    manifest.store_id = store_id_of(in.word());
    in.expect("\",\n  \"applied_lsn\": ");
    manifest.applied = Lsn{in.number()};
    in.expect(",\n  \"durable_lsn\": ");
    manifest.durable = Lsn{in.number()};
    in.expect(",\n  \"files\": [");
    for (bool more = in.good(); more && in.good(); more = in.skip(",")) {
        ManifestFile file;
        in.expect("\n    {\"name\": \"");
        file.name = in.word();
        in.expect("\", \"bytes\": ");
        file.bytes = in.number();
        in.expect(", \"sha256\": \"");
        file.sha256 = in.word();
        in.expect("\"}");
        manifest.files.push_back(std::move(file));
    }
    return manifest;
}

}  // namespace

std::string hexadecimal(std::span<unsigned char const> bytes) {
    std::string text;
    for (unsigned char const byte : bytes) {
        text += hex_digits[byte >> 4];
        text += hex_digits[byte & 0xF];
    }
    return text;
}

std::string to_text(Manifest const& manifest) {
    std::string text = "{\n  \"format\": " + std::to_string(manifest_format);
    text += ",\n  \"made_at\": \"" + time_text(manifest.made_at);
    text += "\",\n  \"holdfast\": \"" + manifest.version;
    text += "\",\n  \"store_id\": \"" + hexadecimal(manifest.store_id);
    text += "\",\n  \"applied_lsn\": " + std::to_string(manifest.applied.value());
    text += ",\n  \"durable_lsn\": " + std::to_string(manifest.durable.value());
    text += ",\n  \"files\": [";
    for (ManifestFile const& file : manifest.files) {
        if (text.back() != '[') text += ',';
        text += "\n    {\"name\": \"" + file.name + "\", \"bytes\": " + std::to_string(file.bytes) +
                ", \"sha256\": \"" + file.sha256 + "\"}";
    }
    return text + "\n  ]\n}\n";
}

ResultOf<Manifest, Failure> manifest_of(std::string_view text) {
    Scanner in(text);
    in.expect("{\n  \"format\": ");
    std::uint64_t const format = in.number();
    in.expect(",");
    if (in.good() && format > manifest_format) {
        return Failure{exit_inconsistent,
                       "has format " + std::to_string(format) + ": a newer holdfast is needed"};
    }
    Manifest manifest = scan(in);
    bool const inside = std::ranges::all_of(
        manifest.files, [](ManifestFile const& file) { return is_inside(file.name); });
    // Whatever was read leniently above does not come out the same.
    if (in.good() && inside && to_text(manifest) == text) return manifest;
    return Failure{exit_damaged, "is not as holdfast writes one: it was changed or is damaged"};
}

}  // namespace holdfast::app
