#include "app/config_file.hpp"
#include "app/option_table.hpp"

#include <holdfast/app/config.hpp>
#include <holdfast/base/log_text.hpp>

#include <algorithm>
#include <unistd.h>

namespace holdfast::app {
namespace {

std::string shown(Option const& option, std::string const& value) {
    if (option.secret()) return "(not shown)";
    std::string out;
    log::append_json_text(out, value, 64);
    return out;
}

std::optional<ConfigError> apply_environment(std::map<std::string, std::string> const& environment,
                                             Config& config) {
    for (Option const& option : option_table()) {
        std::string const name = option.variable();
        auto const found = environment.find(name);
        if (found == environment.end()) continue;
        if (option.set_text(config, found->second)) continue;
        return ConfigError{"environment " + name + " = " + shown(option, found->second) +
                           ": must be " + option.allowed()};
    }
    return {};
}

bool is_key(std::string const& name) {
    auto const& options = option_table();
    return std::any_of(options.begin(), options.end(),
                       [&](Option const& option) { return option.variable() == name; });
}

bool is_of_a_section(std::string const& name) {
    auto const& options = option_table();
    return std::any_of(options.begin(), options.end(), [&](Option const& option) {
        std::size_t const prefix = std::string_view("HOLDFAST_").size() + option.section.size() + 1;
        return name.starts_with(option.variable().substr(0, prefix));
    });
}

/// A misspelt variable would silently do nothing, so a name that begins like one of ours must be
/// one of ours.
std::optional<ConfigError> refuse_unknown(std::map<std::string, std::string> const& environment) {
    for (std::string const& name : unknown_variables(environment))
        if (is_of_a_section(name)) return names_no_key(name);
    return {};
}

std::optional<ConfigError> apply_flags(std::map<std::string, std::string> const& flags,
                                       Config& config) {
    for (auto const& [flag, value] : flags) {
        for (Option const& option : option_table()) {
            if (option.flag != flag || option.set_text(config, value)) continue;
            return ConfigError{"flag " + flag + " = " + shown(option, value) + ": must be " +
                               option.allowed()};
        }
    }
    return {};
}

std::optional<ConfigError> check_front(Config const& config) {
    if (config.certificate.empty() != config.key.empty()) {
        bool const no_key = config.key.empty();
        return ConfigError{std::string(no_key ? "[tls].key" : "[tls].certificate") +
                           " = \"\": must name a file, as " +
                           (no_key ? "[tls].certificate" : "[tls].key") + " does"};
    }
    bool const named = config.named_by != "none";
    if (config.trusted.empty() == !named) return {};
    return ConfigError{named ? "[proxies].trusted = \"\": must name the proxies, as "
                               "[proxies].named_by says how they name their clients"
                             : "[proxies].named_by = \"none\": must say how the proxies of "
                               "[proxies].trusted name their clients"};
}

std::optional<ConfigError> check_together(Config const& config) {
    if (auto error = check_front(config)) return error;
    // Four segments stay, two are spares; with fewer than two more nothing could ever be deleted.
    constexpr std::uint64_t segments_least = 8;
    std::uint64_t const least = segments_least * config.segment_bytes;
    if (config.journal_bytes_max == 0 || config.journal_bytes_max >= least) return {};
    return ConfigError{"storage.journal_bytes_max = " + std::to_string(config.journal_bytes_max) +
                       ": must be 0 (no limit) or " + std::to_string(least) +
                       " at least, eight times storage.segment_bytes"};
}

}  // namespace

ResultOf<Config, ConfigError> load_config(ConfigSources const& sources) {
    Config config;
    if (sources.file) {
        if (auto error = apply_config_file(*sources.file, config)) return *error;
    }
    if (auto error = refuse_unknown(sources.environment)) return *error;
    if (auto error = apply_environment(sources.environment, config)) return *error;
    if (auto error = apply_flags(sources.flags, config)) return *error;
    if (auto error = check_together(config)) return *error;
    return config;
}

ConfigError names_no_key(std::string const& variable) {
    return {"environment " + variable + " names no key of holdfast"};
}

std::vector<std::string> unknown_variables(std::map<std::string, std::string> const& environment) {
    std::vector<std::string> unknown;
    for (auto const& [name, value] : environment)
        if (name.starts_with("HOLDFAST_") && !is_key(name)) unknown.push_back(name);
    return unknown;
}

std::map<std::string, std::string> process_environment() {
    std::map<std::string, std::string> variables;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        std::string_view const text = *entry;
        auto const equals = text.find('=');
        if (equals == std::string_view::npos || !text.starts_with("HOLDFAST_")) continue;
        variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return variables;
}

}  // namespace holdfast::app
