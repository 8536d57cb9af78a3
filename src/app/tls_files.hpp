// TLS files: the identity that [tls] names.
//
// Thread safety: a function. Cost: reads two files.
#pragma once

#include <holdfast/app/config.hpp>
#include <holdfast/http/tls.hpp>

#include <memory>

namespace holdfast::app {

/// Null: the config names none. An error names the key and the file.
[[nodiscard]] ResultOf<std::shared_ptr<http::TlsIdentity const>, ConfigError> load_identity(
    Config const& config);

}  // namespace holdfast::app
