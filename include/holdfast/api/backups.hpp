// Backups: what the routes of the admin listener ask of whoever makes backups (app).
//
// Purpose: one backup at a time, begun by one request and looked at by others: it may take longer
//   than a connection should last. Thread safety: both from any worker. Cost: start looks at a few
//   files; newest copies a value.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/ids.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::api {

/// A problem document in parts.
struct BackupRefusal {
    unsigned status{};
    std::string_view slug;
    std::string_view title;
    std::string detail;
    bool retryable{};
    unsigned retry_after_s{};
};

struct BackupReport {
    enum class State : std::uint8_t { running, done, failed };
    State state{};
    std::filesystem::path target;
    TimePoint began_at{};
    TimePoint ended_at{};  // done and failed; so all below
    Lsn applied;
    Lsn durable;
    std::uint64_t files{};
    std::uint64_t bytes{};
    std::string why;  // failed: one line
};

class Backups {
public:
    virtual ~Backups() = default;
    /// Nothing: it has begun. `target` is absolute.
    [[nodiscard]] virtual std::optional<BackupRefusal> start(std::filesystem::path const& target,
                                                             TimePoint now) = 0;
    /// The newest since the server started.
    [[nodiscard]] virtual std::optional<BackupReport> newest() const = 0;
};

}  // namespace holdfast::api
