// Backups: what the routes of the admin listener ask of whoever makes backups (app).
//
// Purpose: one backup at a time, begun by one request and looked at by others: it may take longer
//   than a connection should last. Thread safety: both from any worker. Cost: start may wait some
//   seconds for the verdict on its target; newest copies a value.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/http/problem.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace holdfast::api {

struct RefusedBackup {
    http::Problem problem;  // but its detail
    std::string detail;
};

struct BackupReport {
    enum class State : std::uint8_t { running, done, failed };
    State state{};
    std::filesystem::path target;
    TimePoint began_at{};
    TimePoint ended_at{};  // done and failed
    // Done.
    Lsn applied;
    Lsn durable;
    std::uint64_t files{};
    std::uint64_t bytes{};
    // Failed.
    std::string why;  // one line
    int exit_code{};  // of the command that asked for it: 77 if the data are damaged
};

class Backups {
public:
    virtual ~Backups() = default;
    /// Nothing: it has begun, or its target takes too long to look at. `target` is absolute.
    [[nodiscard]] virtual std::optional<RefusedBackup> start(std::filesystem::path const& target,
                                                             TimePoint now) = 0;
    /// The newest since the server started.
    [[nodiscard]] virtual std::optional<BackupReport> newest() const = 0;
};

}  // namespace holdfast::api
