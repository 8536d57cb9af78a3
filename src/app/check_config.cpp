#include "app/commands.hpp"
#include "app/exit_codes.hpp"
#include "app/tls_files.hpp"

#include <holdfast/http/server.hpp>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace holdfast::app {
namespace {

std::string why_now() {
    return std::generic_category().message(errno);
}

/// Why the log could not be opened for appending; empty if it could, as far as rights can tell.
std::string why_no_log(std::string const& file) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored))
        return std::generic_category().message(EISDIR);
    if (file.empty() || ::access(file.c_str(), W_OK) == 0) return {};
    if (errno != ENOENT) return why_now();
    auto folder = std::filesystem::path(file).parent_path();
    if (folder.empty()) folder = ".";
    return ::access(folder.c_str(), W_OK | X_OK) == 0 ? std::string{} : why_now();
}

/// What no reading of the keys finds, as far as a look without touching anything does.
std::string why_not_good(Config const& config,
                         std::map<std::string, std::string> const& environment) {
    // A start only warns of these: they may be of other uses.
    if (auto const unknown = unknown_variables(environment); !unknown.empty())
        return names_no_key(unknown.front()).message;
    if (http::addresses_overlap(config.listen, config.admin_listen))
        return "nobody can listen at [server].listen = \"" + config.listen +
               "\" and [server].admin_listen = \"" + config.admin_listen + "\" at once";
    if (auto const why = why_no_log(config.file); !why.empty())
        return "[log].file = \"" + config.file + "\": " + why;
    auto const identity = load_identity(config);
    return identity ? std::string{} : identity.error().message;
}

}  // namespace

int check_config(CheckConfigCommand const& command) {
    auto const environment = process_environment();
    auto const config =
        load_config({.file = command.file, .environment = environment, .flags = {}});
    auto const why = config ? why_not_good(*config, environment) : config.error().message;
    if (!why.empty()) {
        std::fprintf(stderr, "holdfast: %s\n", why.c_str());
        return exit_failed;
    }
    std::printf("%s: ok\n", command.file.c_str());
    return exit_ok;
}

}  // namespace holdfast::app
