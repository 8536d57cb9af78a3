// Command line: words to a command.
//
// Purpose: keeps CLI11 in one translation unit and its exit codes out of ours.
// Thread safety: a pure function. Cost: once a process.
#pragma once

#include <holdfast/app/config.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/bench/bench_engine.hpp>
#include <holdfast/loadgen/bench_sale.hpp>
#include <holdfast/services/plan_import.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>

namespace holdfast::app {

struct ServeCommand {
    ConfigSources sources;
    bool demo{};
};

struct ImportCommand {
    std::filesystem::path file;
    services::PlanFormat format{};
    bool dry_run{};
    bool disambiguate{};
    bool publish{};
    std::string url{"http://127.0.0.1:8080"};
    std::string token;
    std::string id;    // empty: made by the server from the name
    std::string name;  // empty: the plan's own
    std::map<std::string, std::int64_t> prices;
};

struct BackupCommand {
    std::filesystem::path data;
    std::filesystem::path target;
    std::string url;    // empty: as the folder's server announced it
    std::string token;  // empty: the folder's admin.token
};

struct BenchSaleCommand {
    loadgen::SaleOptions options;
};

struct BenchEngineCommand {
    bench::EngineBenchOptions options;
};

struct CheckConfigCommand {
    std::filesystem::path file;
};

// Commands on a data folder that no server has.
struct VerifyCommand {
    std::filesystem::path data;
};
struct AuditCommand {
    std::filesystem::path data;
};

struct RebuildCommand {
    std::filesystem::path data;
    std::filesystem::path backup;  // empty: none
    bool lose_events{};            // that neither store.db nor the backup has
};

struct SalvageCommand {
    std::filesystem::path data;
    std::filesystem::path target;  // empty: only report
};

struct VersionCommand {};

using Command = std::variant<ServeCommand, ImportCommand, BackupCommand, BenchSaleCommand,
                             BenchEngineCommand, CheckConfigCommand, VerifyCommand, AuditCommand,
                             RebuildCommand, SalvageCommand, VersionCommand>;

/// No command to run: help was asked for, or the words make no command.
struct NoCommand {
    int exit_code{};
    std::string text;  // for standard output if exit_code is 0, else for standard error
};

[[nodiscard]] ResultOf<Command, NoCommand> parse_command_line(int count, char const* const* words);

}  // namespace holdfast::app
