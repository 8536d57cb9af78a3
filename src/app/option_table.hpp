// Option table: every key of the configuration, once.
//
// Purpose: the file parser, the environment and the flags are all driven by it.
// Thread safety: const. Cost: a few dozen entries, searched one after the other.
#pragma once

#include <holdfast/app/config.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::app {

/// What a text must look like, beyond being a text.
enum class TextRule : std::uint8_t {
    any,
    listen_address,
    log_level,
    token,
    address_ranges,
    client_named_by,
    origins,
    host_names
};

/// A value as it was written. Monostate: something no option takes (a date, a list, a fraction).
using RawValue = std::variant<std::monostate, std::int64_t, bool, std::string>;

struct Option {
    using Field = std::variant<std::string Config::*, std::filesystem::path Config::*,
                               std::uint32_t Config::*, std::uint64_t Config::*, bool Config::*,
                               Milliseconds Config::*>;
    std::string_view section;
    std::string_view key;
    Field field;
    std::int64_t low{};  // of numbers; seconds for a time
    std::int64_t high{};
    std::int64_t multiple_of{1};
    TextRule rule{};
    std::string_view flag{};  // "--listen"; empty: no flag
    std::string_view help;

    [[nodiscard]] std::string name() const;      // [server].listen
    [[nodiscard]] std::string variable() const;  // HOLDFAST_SERVER_LISTEN
    [[nodiscard]] bool secret() const noexcept { return rule == TextRule::token; }
    /// "an integer, 1 … 8"
    [[nodiscard]] std::string allowed() const;
    /// Sets the field if the value is of the right type and in range; else changes nothing.
    [[nodiscard]] bool set(Config& config, RawValue const& value) const;
    /// The same for the text of a variable or a flag.
    [[nodiscard]] bool set_text(Config& config, std::string const& text) const;
};

[[nodiscard]] std::span<Option const> option_table() noexcept;

}  // namespace holdfast::app
