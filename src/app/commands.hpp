// Commands: what each word of the command line does.
//
// Purpose: one function a command; its result is the exit code (API.md "Command line").
// Thread safety: called once, by main, before any other thread exists. They may throw
// std::exception at start; main prints it and exits 1.
#pragma once

#include "app/cli.hpp"

namespace holdfast::app {

[[nodiscard]] int serve(ServeCommand const& command);
[[nodiscard]] int import_file(ImportCommand const& command);
[[nodiscard]] int back_up(BackupCommand const& command);
[[nodiscard]] int bench_sale(BenchSaleCommand const& command);
[[nodiscard]] int check_config(CheckConfigCommand const& command);
[[nodiscard]] int verify(VerifyCommand const& command);
[[nodiscard]] int audit(AuditCommand const& command);
[[nodiscard]] int rebuild(RebuildCommand const& command);
[[nodiscard]] int salvage(SalvageCommand const& command);

}  // namespace holdfast::app
