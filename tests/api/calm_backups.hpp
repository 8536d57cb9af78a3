// Backups that begin and never end, for tests that only want the routes to be there.
#pragma once

#include <holdfast/api/backups.hpp>

#include <optional>

namespace holdfast::test {

struct CalmBackups final : api::Backups {
    std::optional<api::BackupReport> report;
    std::optional<api::RefusedBackup> start(std::filesystem::path const& target,
                                            TimePoint now) override {
        report.emplace();
        report->target = target;
        report->began_at = now;
        return {};
    }
    [[nodiscard]] std::optional<api::BackupReport> newest() const override { return report; }
};

}  // namespace holdfast::test
