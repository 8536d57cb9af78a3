// Log: JSON lines, one object a line, all input escaped.
//
// Purpose: what the operator reads. Built on spdlog's asynchronous logger (a bounded queue that
//   drops the oldest line and counts, so that a slow disk never stops an io thread).
// Thread safety: any thread after start(); before it lines go to standard error at once.
// Invariants: never a token, a password or a query string; a field is cut at 256 bytes; a line for
//   which there is no memory is counted and not written, for nothing here throws while it logs.
// Cost: one format and one queue insert; nothing below the level.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::log {

enum class Level : std::uint8_t { debug, info, warn, error };

/// One named value; numbers and booleans stay what they are in JSON.
class Value {
public:
    Value(std::string_view name, std::string_view text) noexcept;
    Value(std::string_view name, std::int64_t number) noexcept;
    /// A template, so that no pointer or number turns into a boolean.
    Value(std::string_view name, std::same_as<bool> auto flag) noexcept
        : Value(name, flag ? Flag::yes : Flag::no) {}
    std::string json;  // "name":value; empty: there was no memory for it

private:
    enum class Flag : std::uint8_t { no, yes };
    Value(std::string_view name, Flag flag) noexcept;
};

struct Options {
    Level level{Level::info};
    std::string file;  // empty: standard error
};

/// Throws std::system_error if the file cannot be opened.
void start(Options const& options);
void stop();  // writes what is queued
/// After log rotation. Throws std::system_error and keeps the old file if the new one fails.
void reopen();
void write(Level level, std::string_view message,
           std::initializer_list<Value> values = {}) noexcept;
/// Lines that were not written: queue overrun, rate of one message, a full disk, no memory.
[[nodiscard]] std::uint64_t dropped() noexcept;

inline void info(std::string_view message, std::initializer_list<Value> values = {}) noexcept {
    write(Level::info, message, values);
}
inline void warn(std::string_view message, std::initializer_list<Value> values = {}) noexcept {
    write(Level::warn, message, values);
}
inline void error(std::string_view message, std::initializer_list<Value> values = {}) noexcept {
    write(Level::error, message, values);
}

}  // namespace holdfast::log
