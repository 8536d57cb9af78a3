#include "api/backup_routes.hpp"

#include "api/authorization.hpp"
#include "api/json_decoder.hpp"
#include "api/json_writer.hpp"
#include "api/keyed.hpp"
#include "api/problems.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/http/problem.hpp>

namespace holdfast::api {
namespace {

using http::Reply;
using http::Request;

constexpr std::size_t backup_body_bytes_max = 4'096;
constexpr std::string_view backup_path = "/v1/admin/backup";

std::string_view name_of(BackupReport::State state) noexcept {
    switch (state) {
        case BackupReport::State::running:
            return "running";
        case BackupReport::State::done:
            return "done";
        case BackupReport::State::failed:
            break;
    }
    return "failed";
}

void append_report(std::string& out, BackupReport const& report) {
    using State = BackupReport::State;
    out += '{';
    append_name(out, "state");
    append_plain(out, name_of(report.state));
    append_name(out, "to");
    http::append_json_string(out, report.target.string());
    append_name(out, "began_at");
    append_time(out, report.began_at);
    if (report.state != State::running) {
        append_name(out, "ended_at");
        append_time(out, report.ended_at);
    }
    if (report.state == State::done) {
        for (auto const& [name, number] :
             {std::pair{"applied_lsn", report.applied.value()},
              std::pair{"durable_lsn", report.durable.value()}, std::pair{"files", report.files},
              std::pair{"bytes", report.bytes}}) {
            append_name(out, name);
            append_integer(out, static_cast<std::int64_t>(number));
        }
    }
    if (report.state == State::failed) {
        append_name(out, "why");
        http::append_json_string(out, report.why);
        append_name(out, "exit_code");
        append_integer(out, report.exit_code);
    }
    out += '}';
}

/// `{"to":"/absolute/path"}`
Input<std::string> decode_target(std::string_view body) {
    JsonReader reader;
    Input<JsonValue> const root = reader.read_object(body);
    if (!root) return root.error();
    DecodeState state;
    ObjectDecoder fields(*root, state);
    std::string target(fields.text("to", JsonLimits::string_bytes_max));
    if (!state.failed() && !target.starts_with('/')) state.fail("/to", "relative");
    fields.finish();
    if (state.failed()) return state.error();
    return target;
}

void answer_report(Context const& context, Request const& request, Reply& reply) {
    auto const report = context.backups->newest();
    if (!report) return write_not_found(reply, request);
    append_report(reply.body, *report);
}

void start_backup(Context const& context, Request const& request, Reply& reply) {
    if (!admit_operator(request, reply, context.admin_token)) return;
    // A backup ends with the server that makes it, so its mark need not outlive it.
    Keyed keyed(context, request, reply);
    if (keyed.answered()) return;
    auto const target = decode_target(request.body);
    if (!target) return write_input_error(reply, request, target.error());
    if (auto const refused = context.backups->start(*target, request.received_at)) {
        http::Problem problem = refused->problem;
        problem.detail = refused->detail;
        return http::write_problem(reply, request, problem);
    }
    reply.happened = true;
    keyed.keep_reply();
    reply.status = 202;
    reply.add_header("Location", backup_path);
    answer_report(context, request, reply);
}

void read_backup(Context const& context, Request const& request, Reply& reply) {
    if (!admit_operator(request, reply, context.admin_token)) return;
    answer_report(context, request, reply);
}

}  // namespace

void add_backup_routes(std::vector<http::Route>& routes, Context& context) {
    using http::Method;
    using http::RunsOn;
    HOLDFAST_ASSERT(context.backups != nullptr);
    auto const with = [&context](auto handler) {
        return [&context, handler](Request const& request, Reply& reply) {
            handler(context, request, reply);
        };
    };
    routes.push_back({Method::post, std::string(backup_path), RunsOn::worker, with(start_backup),
                      "Begin a backup into a new folder of the server's machine (staff, admin "
                      "listener only)",
                      backup_body_bytes_max});
    routes.push_back({Method::get, std::string(backup_path), RunsOn::worker, with(read_backup),
                      "The newest backup since the start (staff, admin listener only)", 0});
}

}  // namespace holdfast::api
