#include "app/cli.hpp"
#include "app/commands.hpp"
#include "app/exit_codes.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace holdfast::app;

int run(ServeCommand const& command) {
    return serve(command);
}
int run(ImportCommand const& command) {
    return import_file(command);
}
int run(BackupCommand const& command) {
    return back_up(command);
}
int run(BenchSaleCommand const& command) {
    return bench_sale(command);
}
int run(BenchEngineCommand const& command) {
    return holdfast::bench::bench_engine(command.options);
}
int run(CheckConfigCommand const& command) {
    return check_config(command);
}
int run(VerifyCommand const& command) {
    return verify(command);
}
int run(AuditCommand const& command) {
    return audit(command);
}
int run(RebuildCommand const& command) {
    return rebuild(command);
}
int run(SalvageCommand const& command) {
    return salvage(command);
}
int run(VersionCommand const&) {
    std::puts("holdfast " HOLDFAST_VERSION);
    return exit_ok;
}

/// Else the next file that is opened would be standard output or standard error, and have in it
/// what is printed.
void open_standard_descriptors() {
    int opened = 0;
    do {
        opened = ::open("/dev/null", O_RDWR);
    } while (opened >= 0 && opened <= STDERR_FILENO);
    if (opened > STDERR_FILENO) ::close(opened);
}

}  // namespace

int main(int count, char** words) {
    open_standard_descriptors();
    // A file that may not grow is an error of the write, EFBIG, and not the end of a command that
    // has a scratch folder to remove.
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        auto const command = parse_command_line(count, words);
        if (!command) {
            bool const help = command.error().exit_code == exit_ok;
            std::fputs(command.error().text.c_str(), help ? stdout : stderr);
            return command.error().exit_code;
        }
        return std::visit([](auto const& chosen) { return run(chosen); }, *command);
    } catch (std::exception const& error) {
        auto const [exit_code, why] = ending_of(error);
        std::fprintf(stderr, "holdfast: %s\n", why.c_str());
        return exit_code;
    }
}
