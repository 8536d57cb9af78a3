// `holdfast backup`: asks the server that runs on the folder, or does it itself if none does.
#include "app/backup.hpp"
#include "app/backup_answer.hpp"
#include "app/commands.hpp"
#include "app/data_folder.hpp"
#include "app/exit_codes.hpp"
#include "app/folder_owner.hpp"
#include "app/manifest.hpp"
#include "app/read_lock.hpp"
#include "app/restored_state.hpp"

#include <holdfast/http/problem.hpp>
#include <holdfast/loadgen/fetch.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

namespace holdfast::app {
namespace {

using namespace std::chrono_literals;
using journal::Failure;

constexpr auto poll_interval = 100ms;
constexpr int lost_polls_max = 20;

int refuse_backup(Failure const& failure) {
    std::fprintf(stderr, "holdfast: %s\n", failure.message.c_str());
    return failure.exit_code;
}

int tell(std::filesystem::path const& target, Manifest const& manifest) {
    unsigned long long bytes = 0;
    for (ManifestFile const& file : manifest.files) bytes += file.bytes;
    std::printf("backup %s: records up to LSN %llu, %zu files, %llu bytes\n", target.c_str(),
                static_cast<unsigned long long>(manifest.durable.value()), manifest.files.size(),
                bytes);
    return exit_ok;
}

/// Of a folder on which no server has run a start would make these; of any other it would refuse.
std::optional<Failure> missing_file(DataFolder const& folder) {
    auto const missing = [](std::filesystem::path const& file) {
        std::error_code unknown;
        return !std::filesystem::exists(file, unknown) && !unknown;
    };
    if (missing(folder.store_file()))
        return Failure{exit_damaged, folder.store_file().string() + ": is missing"};
    if (missing(folder.key_file()))
        return Failure{exit_inconsistent, folder.key_file().string() + ": is missing"};
    return {};
}

/// What a server would start with, and only if one would.
ResultOf<BackupPoint, Failure> point_at_rest(DataFolder const& folder, journal::Disk& disk) {
    if (auto failure = missing_file(folder)) return *std::move(failure);
    BackupPoint point;
    {
        auto const state = restore_state(folder, disk);
        if (!state) return state.error();
        if (auto const good = state->store->check(); !good)
            return store_failure(folder.store_file(), good.error());
        point.durable = state->journal.tail.last_lsn;
    }
    auto snapshot = store::Snapshot::take(folder.store_file());
    if (!snapshot) return store_failure(folder.store_file(), snapshot.error());
    point.snapshot = *std::move(snapshot);
    return point;
}

int back_up_at_rest(DataFolder const& folder, std::filesystem::path const& target) {
    auto const resolved = resolve_target(folder.path(), target);
    if (!resolved) return refuse_backup(resolved.error());
    // A new manifest would vouch for what the old one does not.
    if (auto const failure = check_if_backup(folder.path())) return refuse_backup(*failure);
    journal::PosixDisk disk;
    Config const usual;  // the server's own one is not known here
    BackupPlan const plan{
        .data = folder.path(),
        .target = *resolved,
        .disk = disk,
        .bytes_left = bytes_left_by_backups(usual.free_bytes_min, usual.segment_bytes),
        .now = RunningClock(TimePoint{}).now(),
        .begin = [&] { return point_at_rest(folder, disk); },
        .why_stop = [] { return std::string{}; }};
    if (auto const failure = refuse_for_space(plan)) return refuse_backup(*failure);
    auto const made = make_backup(plan);
    if (!made) return refuse_backup(made.error());
    return tell(*resolved, *made);
}

/// One server and the right to ask it.
struct Asked {
    std::string url;
    std::string token;
};

ResultOf<loadgen::Reply, Failure> ask(Asked const& server, std::string const& method,
                                      std::string const& body) {
    loadgen::Query query{
        .method = method, .target = "/v1/admin/backup", .fields = {}, .body = body};
    query.fields.emplace_back("Authorization", "Bearer " + server.token);
    if (!body.empty()) query.fields.emplace_back("Content-Type", "application/json");
    auto reply = loadgen::fetch(server.url, query);
    if (!reply) return Failure{exit_failed, server.url + ": " + reply.error().text};
    return *std::move(reply);
}

/// Until the server says how it ended; without a state if it has begun another one since.
ResultOf<BackupAnswer, Failure> wait_for_end(Asked const& server, BackupAnswer const& begun) {
    for (int lost = 0;;) {
        auto const reply = ask(server, "GET", {});
        bool const known = reply && reply->status == 200;
        if (known) {
            auto answer = read_backup_answer(reply->body);
            if (answer.began_at != begun.began_at) return BackupAnswer{};
            if (answer.state == "failed")
                std::fprintf(stderr, "holdfast: %s: the backup has failed: %s\n",
                             server.url.c_str(), answer.why.c_str());
            if (answer.state != "running") return answer;
        }
        lost = known ? 0 : lost + 1;
        if (lost == lost_polls_max) {
            return Failure{exit_failed, server.url +
                                            ": answers no longer; without its manifest the "
                                            "target is no backup"};
        }
        std::this_thread::sleep_for(poll_interval);
    }
}

int tell_refusal(Asked const& server, loadgen::Reply const& reply) {
    auto const answer = read_backup_answer(reply.body);
    std::string const& code = answer.code;
    if (code == "backup-target" && !answer.detail.empty()) {
        std::fprintf(stderr, "holdfast: %s\n", answer.detail.c_str());
    } else {
        std::fprintf(stderr, "holdfast: %s: %s\n", server.url.c_str(),
                     sentence_of(reply.status, answer).c_str());
    }
    // What passes by itself, so that asking again later is the right thing to do.
    bool const passes =
        code == "backup-running" || code == "not-ready" || code == "busy" || code == "timeout";
    return passes ? exit_temporary : exit_failed;
}

int ask_for_backup(Asked const& server, std::filesystem::path const& target) {
    std::string body = "{\"to\":";
    http::append_json_string(body, target.string());
    auto const begun = ask(server, "POST", body + "}");
    if (!begun) return refuse_backup(begun.error());
    if (begun->status != 202) return tell_refusal(server, *begun);
    auto const ended = wait_for_end(server, read_backup_answer(begun->body));
    if (!ended) return refuse_backup(ended.error());
    if (ended->state == "failed")
        return ended->exit_code != exit_ok ? ended->exit_code : exit_failed;
    auto const manifest = read_manifest(target);
    if (manifest && *manifest) return tell(target, **manifest);
    if (ended->state != "done") {
        return refuse_backup({exit_failed, target.string() +
                                               ": the server has begun another backup since, and "
                                               "this one has no manifest that can be read here"});
    }
    if (manifest) {
        return refuse_backup({exit_failed, "the server says that it is done, but " +
                                               target.string() +
                                               " is not here: it may see another /tmp"});
    }
    // The target belongs to the server's user and is not ours to read.
    std::printf("backup %s\n", target.c_str());
    return exit_ok;
}

ResultOf<Asked, Failure> find_server(BackupCommand const& command) {
    Asked server{command.url, command.token};
    if (server.url.empty()) server.url = DataFolder::announced(command.data);
    if (server.url.empty())
        return Failure{exit_temporary, command.data.string() + ": its server has just stopped"};
    if (!server.token.empty()) return server;
    auto token = DataFolder::load_token(command.data);
    if (!token) {
        return Failure{exit_failed,
                       token.error().message +
                           "; name the operator's token with --token or in HOLDFAST_ADMIN_TOKEN"};
    }
    server.token = *std::move(token);
    return server;
}

}  // namespace

int back_up(BackupCommand const& command) {
    if (auto const failure = act_as_owner_of(command.data)) return refuse_backup(*failure);
    auto const target = std::filesystem::absolute(command.target);
    if (auto const is = check_is_data_folder(command.data); !is) return refuse_backup(is.error());
    if (command.url.empty()) {
        auto const folder = DataFolder::open(command.data);
        if (folder) return back_up_at_rest(*folder, target);
        if (folder.error().exit_code != exit_temporary ||
            DataFolder::announced(command.data).empty())
            return refuse_backup(folder.error());
    }
    auto const server = find_server(command);
    if (!server) return refuse_backup(server.error());
    return ask_for_backup(*server, target);
}

}  // namespace holdfast::app
