#include "app/report.hpp"

#include "app/exit_codes.hpp"
#include "app/manifest.hpp"

#include <cstdio>

namespace holdfast::app {

Report failed_report(std::string_view name, journal::Failure const& failure) {
    return {failure.exit_code,
            std::string(name) + ": FAILED, exit " + std::to_string(failure.exit_code) + "\n",
            "holdfast: " + failure.message + "\n"};
}

ResultOf<std::string, journal::Failure> check_backup(std::filesystem::path const& data, Lsn last) {
    std::error_code error;
    if (!std::filesystem::exists(data / manifest_name, error) && !error) return std::string{};
    auto const manifest = check_manifest(data);
    if (!manifest) return manifest.error();
    if (manifest->durable > last) {
        return journal::Failure{exit_damaged, "the backup ends at LSN " +
                                                  std::to_string(last.value()) +
                                                  ", but its manifest promises LSN " +
                                                  std::to_string(manifest->durable.value())};
    }
    return "backup: all " + count_of(manifest->files.size(), "file") +
           " are as the manifest has them\n";
}

int print(Report const& report) {
    std::fputs(report.errors.c_str(), stderr);
    std::fputs(report.output.c_str(), stdout);
    return report.exit_code;
}

std::string text_of(Money const& money) {
    std::string text;
    for (auto const& [currency, amount] : money) {
        if (!text.empty()) text += ", ";
        text += std::to_string(amount) + " " + currency;
    }
    return text.empty() ? "0" : text + " (minor units)";
}

std::string text_of(engine::PlaceCounts const& counts) {
    return std::to_string(counts.free) + " free, " + std::to_string(counts.held) + " held, " +
           std::to_string(counts.sold) + " sold, " + std::to_string(counts.blocked) + " blocked";
}

std::string count_of(std::uint64_t count, std::string_view thing) {
    return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

}  // namespace holdfast::app
