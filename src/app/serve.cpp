#include "app/commands.hpp"
#include "app/data_folder.hpp"
#include "app/exit_codes.hpp"
#include "app/file_limit.hpp"
#include "app/folder_owner.hpp"
#include "app/locked_disk.hpp"
#include "app/manifest.hpp"
#include "app/restored_state.hpp"
#include "app/server.hpp"
#include "app/stop_signals.hpp"
#include "app/tls_files.hpp"

#include <holdfast/base/log.hpp>
#include <holdfast/http/server.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <new>
#include <optional>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace holdfast::app {
namespace {

/// What a stop may take beyond server.drain_timeout_s before it is cut off: the disk hangs.
constexpr Milliseconds stop_patience{12'000};
static_assert(stop_patience > Server::stop_limit);
/// Behind a stop, for lines of the log that are not written yet.
constexpr Milliseconds log_patience{10'000};

/// A key in memory must not get into a core file, and a new file is nobody else's business.
void harden_process() {
    ::umask(0077);
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
        throw std::system_error(errno, std::generic_category(), "prctl");
    }
    std::signal(SIGPIPE, SIG_IGN);
}

/// Each connection and stream needs a descriptor; the usual soft limit is 1,024. Where the hard one
/// is too low, fewer of them are admitted.
void fit_file_limit(Config& config) {
    Admitted const wish{config.connections_max, config.streams_max};
    rlim_t const wanted = descriptors_wanted(wish);
    struct rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= wanted) return;
    Admitted const admitted = admitted_with(limit.rlim_cur, wish);
    config.connections_max = admitted.connections;
    config.streams_max = admitted.streams;
    log::warn(
        "fewer file descriptors than connections_max and streams_max need, so both are less: raise "
        "the hard limit (ulimit -Hn, LimitNOFILE=) or lower [http].connections_max or streams_max",
        {{"descriptors", static_cast<std::int64_t>(limit.rlim_cur)},
         {"wanted", static_cast<std::int64_t>(wanted)},
         {"connections_max", config.connections_max},
         {"streams_max", config.streams_max}});
}

log::Level level_of(std::string const& name) {
    if (name == "debug") return log::Level::debug;
    if (name == "warn") return log::Level::warn;
    if (name == "error") return log::Level::error;
    return log::Level::info;
}

/// Opens the log and closes it, whatever happens between.
class LogScope {
public:
    explicit LogScope(Config const& config) {
        log::start({.level = level_of(config.level), .file = config.file});
    }
    ~LogScope() {
        // Of a start that is refused, too: nobody may read what the log waits to write.
        StopSignalsActive const active;
        log::stop();
    }
    LogScope(LogScope const&) = delete;
    LogScope& operator=(LogScope const&) = delete;
};

int refuse(journal::Failure const& failure) {
    log::error("start refused", {{"why", failure.message}, {"exit", failure.exit_code}});
    std::fprintf(stderr, "holdfast: %s\n", failure.message.c_str());
    return failure.exit_code;
}

/// What cannot be opened now stays as it was.
void read_again(Server& server) {
    try {
        log::reopen();
        // Into the new file, so that the old one is let go of now.
        log::info("hang-up: the log is opened and the certificate read again, if there are any");
    } catch (std::system_error const& error) {
        log::error("log not opened again", {{"why", error.what()}});
    } catch (std::bad_alloc const&) {
        log::error("log not opened again", {{"why", "out of memory"}});
    }
    try {
        server.load_identity_again();
    } catch (std::bad_alloc const&) {
        log::error("certificate not loaded, the old one stays", {{"why", "out of memory"}});
    }
}

/// Ends when the journal has failed for longer than `grace`, if that is not 0.
class FailureWatch {
public:
    FailureWatch(Server const& server, Milliseconds grace) : server_(server), grace_(grace) {}
    [[nodiscard]] bool is_over() {
        if (grace_.count() == 0 || !server_.journal_failed()) return false;
        auto const now = std::chrono::steady_clock::now();
        since_ = std::min(since_, now);
        return now - since_ >= grace_;
    }

private:
    Server const& server_;
    Milliseconds grace_;
    std::chrono::steady_clock::time_point since_{std::chrono::steady_clock::time_point::max()};
};

/// Returns at the first stop signal, or long enough after the journal failed.
void wait_for_stop(Server& server, Milliseconds failed_grace, Milliseconds drain_timeout) {
    FailureWatch failure(server, failed_grace);
    int signal = 0;
    while (signal != SIGTERM && signal != SIGINT && !failure.is_over()) {
        signal = wait_for_signal(failed_grace.count() != 0);
        if (signal == SIGHUP) read_again(server);
    }
    bool const heard = signal == SIGTERM || signal == SIGINT;
    if (heard) {
        log::info("stopping", {{"signal", signal}});
    } else {
        log::info("stopping", {{"why", "the journal has failed"}});
    }
    let_signals_end_the_stop(heard, drain_timeout + stop_patience);
}

/// Both addresses, taken before the journal is opened: each opening makes a segment, and a start
/// that is tried again and again would fill the disk with them.
class ReservedAddresses {
public:
    explicit ReservedAddresses(Config const& config)
        : public_(reserve(config.listen, "--listen")),
          admin_(reserve(config.admin_listen, "--admin-listen")) {
        if (!public_.overlaps(admin_)) return;
        throw std::system_error(std::make_error_code(std::errc::address_in_use),
                                "listening at " + config.listen + " and " + config.admin_listen +
                                    " (--listen and --admin-listen)");
    }
    void put_into(Config& config) const {
        config.listen = public_.address();
        config.admin_listen = admin_.address();
    }

private:
    static http::ReservedAddress reserve(std::string const& address, std::string const& flag) try {
        return http::ReservedAddress(address);
    } catch (std::system_error const& error) {
        throw std::system_error(error.code(), "listening at " + address + " (" + flag + ")");
    }

    http::ReservedAddress public_;
    http::ReservedAddress admin_;
};

void tell_recovered(journal::Recovered const& journal, std::size_t events) {
    // Of no journal nobody can say whether it ended well.
    if (journal.tail.last_segment == 0) {
        log::info("nothing to recover, the journal is new");
    } else {
        log::info("recovered", {{"records", static_cast<std::int64_t>(journal.records)},
                                {"cut_bytes", static_cast<std::int64_t>(journal.cut_bytes)},
                                {"events", static_cast<std::int64_t>(events)},
                                {"clean", journal.tail.clean}});
    }
    if (journal.cut_bytes != 0) {
        log::warn(
            "a torn tail was cut, nothing acknowledged was in it; it is kept in quarantine/",
            {{"from", journal.cut_at}, {"bytes", static_cast<std::int64_t>(journal.cut_bytes)}});
    }
}

int run(Config config, bool demo, std::shared_ptr<http::TlsIdentity const> identity, bool& serves) {
    std::optional<ReservedAddresses> addresses;
    std::optional<DataFolder> folder;
    std::optional<LockedDisk> disk;
    std::optional<RestoredState> restored;
    {
        StopSignalsActive const active;
        auto opened = DataFolder::open(config.data);
        if (!opened) return refuse(opened.error());
        folder.emplace(std::move(*opened));
        disk.emplace(*folder);
        if (is_root_on_folder_of_another(config.data)) {
            log::warn("root runs on a data folder of another user, who cannot open what this makes",
                      {{"folder", config.data.string()}, {"remedy", "chown -R it afterwards"}});
        }
        addresses.emplace(config);
        addresses->put_into(config);
        if (auto const failure = check_if_backup(folder->path())) return refuse(*failure);
        // A backup that was restored: from here on its files change (store.db may be migrated).
        if (auto const failure = set_manifest_aside(folder->path(), *disk)) return refuse(*failure);
        auto state = restore_state(*folder, *disk, config.marks_bytes_max);
        if (!state) return refuse(state.error());
        restored.emplace(std::move(*state));
    }
    tell_recovered(restored->journal, restored->catalogue.size());
    auto started = Server::start({.config = config,
                                  .folder = *folder,
                                  .disk = *disk,
                                  .demo = demo,
                                  .identity = std::move(identity)},
                                 std::move(*restored));
    if (!started) return refuse(started.error());
    serves = true;
    // It serves: what is left over or cannot be told is no reason to end.
    for (auto const& failure :
         {remove_used_manifest(folder->path(), *disk), folder->announce((*started)->admin_url())})
        if (failure) log::warn("not all is as it should be", {{"why", failure->message}});
    addresses.reset();
    std::string const ready = (*started)->ready_line();
    log::info("ready", {{"version", HOLDFAST_VERSION},
                        {"addresses", ready.substr(std::string_view("ready ").size())}});
    std::printf("%s\n", ready.c_str());
    std::fflush(stdout);
    wait_for_stop(**started, config.failed_grace, config.drain_timeout);
    folder->withdraw();
    int const code = (*started)->stop();
    note_that_all_is_sealed(code, log_patience);
    log::info("stopped", {{"exit", code}});
    if ((*started)->hangs()) {
        log::warn("left in the middle of a backup whose target hangs");
        log::stop();
        // All is sealed. A thread in the kernel may outlive the exit, and the lock with it.
        folder->release();
        ::_exit(code);
    }
    return code;
}

}  // namespace

int serve(ServeCommand const& command) {
    auto config = load_config(command.sources);
    if (!config) {
        std::fprintf(stderr, "holdfast: %s\n", config.error().message.c_str());
        return exit_failed;
    }
    auto identity = load_identity(*config);
    if (!identity) {
        std::fprintf(stderr, "holdfast: %s\n", identity.error().message.c_str());
        return exit_failed;
    }
    harden_process();
    block_awaited_signals();
    LogScope const log(*config);
    fit_file_limit(*config);
    for (auto const& name : unknown_variables(command.sources.environment))
        log::warn("a variable of the environment names no key", {{"variable", name}});
    if (*identity != nullptr) log::info("certificate loaded", {{"ends", (*identity)->ends()}});
    bool serves{};
    try {
        return run(std::move(*config), command.demo, std::move(*identity), serves);
    } catch (std::exception const& error) {
        auto const [exit_code, why] = ending_of(error);
        log::error(serves ? "ended by an error" : "start refused",
                   {{"why", why}, {"exit", exit_code}});
        throw;
    }
}

}  // namespace holdfast::app
