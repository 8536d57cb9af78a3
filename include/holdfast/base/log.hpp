// Log: JSON lines, one object a line, all input escaped.
//
// Purpose: what the operator reads. Built on spdlog's asynchronous logger (a bounded queue that
// drops the oldest line and counts, so that a slow disk never stops an io thread). Thread safety:
// any thread after start(); before it lines go to standard error at once. Invariants: never a
// token, a password or a query string; a field is cut at 256 bytes. Cost: one format and one queue
// insert; nothing below the level.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::log {

enum class Level : std::uint8_t { debug, info, warn, error };

/// One named value; numbers and booleans stay what they are in JSON.
class Value {
public:
    Value(std::string_view name, std::string_view text);
    Value(std::string_view name, std::int64_t number);
    std::string json;  // "name":value
};

struct Options {
    Level level{Level::info};
    std::string file;  // empty: standard error
};

void start(Options const& options);
void stop();    // flushes
void reopen();  // after log rotation
void write(Level level, std::string_view message, std::initializer_list<Value> values = {});
[[nodiscard]] std::uint64_t dropped() noexcept;

inline void info(std::string_view message, std::initializer_list<Value> values = {}) {
    write(Level::info, message, values);
}
inline void warn(std::string_view message, std::initializer_list<Value> values = {}) {
    write(Level::warn, message, values);
}
inline void error(std::string_view message, std::initializer_list<Value> values = {}) {
    write(Level::error, message, values);
}

}  // namespace holdfast::log
