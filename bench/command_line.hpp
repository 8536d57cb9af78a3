// Command line: how the bench programs read their arguments.
//
// Thread safety: one thread. Options take effect in the order in which they were added, not in that
// of the command line: --smoke, which sets other defaults, is added first.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

namespace holdfast::bench {

/// The exit code, if the program is to end now: 0 after --help, 2 after something that is no
/// argument of it, which has been told with the way to --help.
[[nodiscard]] inline std::optional<int> ending_of_parse(CLI::App& app, int count, char** words) {
    try {
        app.parse(count, words);
        return {};
    } catch (CLI::ParseError const& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
}

}  // namespace holdfast::bench
