// Config file: TOML text to options.
//
// Purpose: keeps toml++ in one translation unit. Thread safety: a pure function of the file.
#pragma once

#include <holdfast/app/config.hpp>

#include <filesystem>
#include <optional>

namespace holdfast::app {

/// Sets in `config` what `file` says; an error if it is too big, not TOML, readable by everybody
/// though it holds a secret, or says anything the option table does not allow.
[[nodiscard]] std::optional<ConfigError> apply_config_file(std::filesystem::path const& file,
                                                           Config& config);

}  // namespace holdfast::app
