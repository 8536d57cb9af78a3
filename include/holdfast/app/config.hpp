// Config: config.toml, environment, flags; checked before anything is touched.
//
// Purpose: one table of options (section, key, type, default, range, help) drives the file, the
//   HOLDFAST_SECTION_KEY environment and the command line. Precedence: flags, environment, file,
//   defaults.
// Thread safety: values; load_config reads only the file it is given.
// Invariants: what load_config returns is inside every range of the table. An error is one line and
//   names where it stands (file and line, variable or flag), the key, the value and what is
//   allowed; the value of a secret is never shown.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/domain/limits.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::app {

struct Config {
    // [server]
    std::string listen{"127.0.0.1:8080"};
    std::string admin_listen{"127.0.0.1:8081"};
    std::uint32_t io_threads{0};  // 0: one per core
    std::uint32_t workers{2};
    Milliseconds drain_timeout{8'000};
    // [storage]
    std::filesystem::path data{"data"};
    std::uint64_t segment_bytes{64U << 20};
    std::uint64_t free_bytes_min{64U << 20};
    std::uint64_t journal_bytes_max{std::uint64_t{4} << 30};
    Milliseconds failed_grace{0};  // 0: no end by itself
    // [http]
    std::string hosts;  // empty: any
    std::uint32_t connections_max{10'000};
    std::uint32_t connections_per_address_max{100};
    std::uint32_t half_read_heads_per_address_max{32};
    bool limit_loopback{false};
    std::uint32_t reads_per_network_s{500};          // 0: no limit
    std::uint32_t writes_per_network_s{100};         // 0: no limit
    std::uint32_t reads_per_hold_s{20};              // 0: no limit
    std::uint32_t writes_per_hold_s{10};             // 0: no limit
    std::uint32_t in_flight_per_principal_max{100};  // 0: no limit
    std::uint32_t overload_wait_ms{5};               // 0: nothing is refused for overload
    Milliseconds head_timeout{5'000};
    Milliseconds body_timeout{10'000};
    Milliseconds idle_timeout{15'000};
    Milliseconds write_timeout{10'000};
    Milliseconds handler_timeout{5'000};
    Milliseconds connection_life{3'600'000};
    std::uint32_t streams_max{10'000};
    std::uint32_t streams_per_network_max{256};
    Milliseconds stream_heartbeat{15'000};
    // [tls]
    std::string certificate;  // empty: plain HTTP
    std::string key;
    Milliseconds handshake_timeout{5'000};
    std::uint32_t hsts_max_age_s{31'536'000};  // 0: none
    // [proxies]
    std::string trusted;           // addresses and networks
    std::string named_by{"none"};  // none, x-forwarded-for, forwarded, proxy-protocol
    // [cors]
    std::string origins;
    std::uint32_t cors_max_age_s{600};
    // [hold]
    Milliseconds ttl_min{30'000};
    Milliseconds restart_grace{30'000};
    // [idempotency]
    std::uint64_t marks_bytes_max{limits::mark_bytes_default};
    std::uint64_t refusals_bytes_max{limits::refusal_bytes_default};
    // [admin]
    std::string token;  // empty: made at start, <data>/admin.token
    // [log]
    std::string level{"info"};  // debug, info, warn, error
    std::string file;           // empty: standard error
    friend bool operator==(Config const&, Config const&) = default;
};

struct ConfigError {
    std::string message;
};

/// Where values come from. `environment` may hold foreign variables, which are ignored; a flag is
/// keyed by its name with the dashes.
struct ConfigSources {
    std::optional<std::filesystem::path> file;
    std::map<std::string, std::string> environment;
    std::map<std::string, std::string> flags;
};

/// Refuses a variable HOLDFAST_SECTION_… of one of our sections that names no key.
[[nodiscard]] ResultOf<Config, ConfigError> load_config(ConfigSources const& sources);

/// HOLDFAST_ variables that name no key: of other uses (a test's seed, the address of a container),
/// or misspelt in their section. load_config passes over them; who calls it has to tell them.
[[nodiscard]] std::vector<std::string> unknown_variables(
    std::map<std::string, std::string> const& environment);
[[nodiscard]] ConfigError names_no_key(std::string const& variable);

/// The environment of this process, as load_config takes it.
[[nodiscard]] std::map<std::string, std::string> process_environment();

}  // namespace holdfast::app
