#include "app/commands.hpp"
#include "app/tls_files.hpp"

#include <cstdio>

namespace holdfast::app {

int check_config(CheckConfigCommand const& command) {
    auto const config = load_config({.file = command.file, .environment = {}, .flags = {}});
    if (!config) {
        std::fprintf(stderr, "holdfast: %s\n", config.error().message.c_str());
        return exit_failed;
    }
    if (auto const identity = load_identity(*config); !identity) {
        std::fprintf(stderr, "holdfast: %s\n", identity.error().message.c_str());
        return exit_failed;
    }
    std::printf("%s: ok\n", command.file.c_str());
    return exit_ok;
}

}  // namespace holdfast::app
