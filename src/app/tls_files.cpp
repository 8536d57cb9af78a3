#include "app/tls_files.hpp"

namespace holdfast::app {

ResultOf<std::shared_ptr<http::TlsIdentity const>, ConfigError> load_identity(
    Config const& config) {
    if (config.certificate.empty()) return std::shared_ptr<http::TlsIdentity const>{};
    auto loaded = http::TlsIdentity::load({config.certificate, config.key});
    if (loaded) return *loaded;
    http::TlsFailure const& failure = loaded.error();
    return ConfigError{(failure.of_key ? "[tls].key = " : "[tls].certificate = ") +
                       (failure.of_key ? config.key : config.certificate) + ": " + failure.why};
}

}  // namespace holdfast::app
