#include "app/manifest_text.hpp"

#include "app/exit_codes.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <ctime>

namespace holdfast::app {
namespace {

namespace json = boost::json;
using journal::Failure;

constexpr std::uint64_t manifest_format = 1;
constexpr char const* manifest_time = "%Y-%m-%dT%H:%M:%SZ";

std::string time_text(TimePoint at) {
    auto const seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
    auto const since_epoch = static_cast<std::time_t>(seconds);
    std::tm parts{};
    std::array<char, 32> text{};
    if (::gmtime_r(&since_epoch, &parts) == nullptr) return {};
    return {text.data(), std::strftime(text.data(), text.size(), manifest_time, &parts)};
}

TimePoint time_of(std::string const& text) {
    std::tm parts{};
    if (::strptime(text.c_str(), manifest_time, &parts) == nullptr) return {};
    return TimePoint{std::chrono::seconds{::timegm(&parts)}};
}

journal::StoreId store_id_of(std::string const& text) {
    journal::StoreId id{};
    for (std::size_t at = 0; at < id.size() && 2 * at + 1 < text.size(); ++at)
        std::from_chars(text.data() + 2 * at, text.data() + 2 * at + 2, id[at], 16);
    return id;
}

// A member that is missing or of another kind gives a default, and that does not come out again as
// the text that was read.
std::uint64_t number_of(json::object const& object, char const* key) {
    json::value const* const member = object.if_contains(key);
    boost::system::error_code wrong;
    return member == nullptr ? 0 : member->to_number<std::uint64_t>(wrong);
}

std::string string_in(json::object const& object, char const* key) {
    json::value const* const member = object.if_contains(key);
    json::string const* const text = member == nullptr ? nullptr : member->if_string();
    return text == nullptr ? std::string{} : std::string(text->data(), text->size());
}

Manifest read_members(json::object const& root) {
    Manifest manifest;
    manifest.made_at = time_of(string_in(root, "made_at"));
    manifest.version = string_in(root, "holdfast");
    manifest.store_id = store_id_of(string_in(root, "store_id"));
    manifest.applied = Lsn{number_of(root, "applied_lsn")};
    manifest.durable = Lsn{number_of(root, "durable_lsn")};
    json::value const* const files = root.if_contains("files");
    if (files == nullptr || !files->is_array()) return manifest;
    for (json::value const& item : files->get_array()) {
        json::object const* const file = item.if_object();
        if (file == nullptr) continue;
        manifest.files.push_back(
            {string_in(*file, "name"), number_of(*file, "bytes"), string_in(*file, "sha256")});
    }
    return manifest;
}

/// A name that stays below the folder.
bool is_inside(std::string const& name) {
    return !name.empty() && name.front() != '/' && name.find("..") == std::string::npos;
}

}  // namespace

std::string hexadecimal(std::span<unsigned char const> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (unsigned char const byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 0xF];
    }
    return text;
}

std::string to_text(Manifest const& manifest) {
    json::array files;
    for (ManifestFile const& file : manifest.files) {
        files.push_back(
            json::object{{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
    }
    json::object const root{{"format", manifest_format},
                            {"made_at", time_text(manifest.made_at)},
                            {"holdfast", manifest.version},
                            {"store_id", hexadecimal(manifest.store_id)},
                            {"applied_lsn", manifest.applied.value()},
                            {"durable_lsn", manifest.durable.value()},
                            {"files", std::move(files)}};
    return json::serialize(root) + "\n";
}

ResultOf<Manifest, Failure> manifest_of(std::string_view text) {
    Failure const damaged{exit_damaged,
                          "is not as holdfast writes one: it was changed or is damaged"};
    boost::system::error_code error;
    json::value const parsed = json::parse(text, error);
    json::object const* const root = parsed.if_object();
    if (error || root == nullptr) return damaged;
    if (auto const format = number_of(*root, "format"); format > manifest_format) {
        return Failure{exit_inconsistent,
                       "has format " + std::to_string(format) + ": a newer holdfast is needed"};
    }
    Manifest manifest = read_members(*root);
    bool const inside = std::ranges::all_of(
        manifest.files, [](ManifestFile const& file) { return is_inside(file.name); });
    // Whatever is there twice, too much or in another order does not come out the same.
    if (!inside || to_text(manifest) != text) return damaged;
    return manifest;
}

}  // namespace holdfast::app
