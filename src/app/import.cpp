#include "app/commands.hpp"
#include "app/exit_codes.hpp"
#include "app/report.hpp"

#include <holdfast/base/log_text.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/http/problem.hpp>
#include <holdfast/loadgen/fetch.hpp>
#include <holdfast/services/plan_import.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

namespace holdfast::app {
namespace {

using services::LintItem;
using services::LintReport;

/// Room for the rest of the request in the server's limit of the body.
constexpr std::size_t plan_bytes_max = limits::plan_body_bytes_max - 64 * 1'024;

/// Of each kind; a plan with one oddity often has it hundreds of times.
constexpr std::size_t items_shown_max = 20;

std::string read_plan(std::filesystem::path const& file) {
    std::error_code error;
    auto const size = std::filesystem::file_size(file, error);
    if (error) throw std::runtime_error(file.string() + ": " + error.message());
    if (size > plan_bytes_max) {
        throw std::runtime_error(file.string() + ": is larger than a server takes (" +
                                 std::to_string(plan_bytes_max) + " bytes)");
    }
    std::ifstream stream(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) throw std::runtime_error(file.string() + ": cannot be read");
    return text;
}

void print_items(char const* kind, std::vector<LintItem> const& items, std::uint64_t count) {
    auto const shown = std::min(items.size(), items_shown_max);
    for (LintItem const& item : std::span(items).first(shown)) {
        std::string where;
        std::string detail;
        log::append_json_text(where, item.where);
        log::append_json_text(detail, item.detail);
        std::printf("%s %s at %s: %s\n", kind, item.code.c_str(), where.c_str(), detail.c_str());
    }
    if (count > shown) {
        auto const more = static_cast<unsigned long long>(count - shown);
        std::printf("%s: %llu more\n", kind, more);
    }
}

void print_report(std::string const& name, LintReport const& report) {
    print_items("error", report.errors, report.error_count);
    print_items("warning", report.warnings, report.warning_count);
    std::string shown;
    log::append_json_text(shown, name);
    std::printf("plan %s: %s, %s, %s, %s, %u categories; %s, %s\n", shown.c_str(),
                count_of(report.sections, "section").c_str(), count_of(report.rows, "row").c_str(),
                count_of(report.seats, "seat").c_str(),
                count_of(report.general_places, "general place").c_str(), report.categories,
                count_of(report.error_count, "error").c_str(),
                count_of(report.warning_count, "warning").c_str());
}

std::string request_body(ImportCommand const& command, std::string const& name,
                         std::string const& plan) {
    std::string body = "{\"name\":";
    http::append_json_string(body, name);
    if (!command.id.empty()) {
        body += ",\"id\":";
        http::append_json_string(body, command.id);
    }
    body += command.publish ? ",\"publish\":true" : ",\"publish\":false";
    body += ",\"import\":{\"format\":";
    body += command.format == services::PlanFormat::pretix ? "\"pretix\"" : "\"seatsio\"";
    body += command.disambiguate ? ",\"disambiguate\":true" : ",\"disambiguate\":false";
    body += ",\"prices\":{";
    for (auto const& [category, price] : command.prices) {
        if (body.back() != '{') body += ',';
        http::append_json_string(body, category);
        body += ':' + std::to_string(price);
    }
    // The lint has read the plan, so it is one JSON value and can stand here as it is.
    return body + "},\"plan\":" + plan + "}}";
}

int send(ImportCommand const& command, std::string const& body) {
    loadgen::Query query{.method = "POST", .target = "/v1/events", .fields = {}, .body = body};
    query.fields.emplace_back("Content-Type", "application/json");
    if (!command.token.empty()) {
        query.fields.emplace_back("Authorization", "Bearer " + command.token);
    }
    auto const reply = loadgen::fetch(command.url, query);
    if (!reply) {
        std::fprintf(stderr, "holdfast: %s: %s\n", command.url.c_str(), reply.error().text.c_str());
        return exit_failed;
    }
    bool const made = reply->status >= 200 && reply->status < 300;
    std::fprintf(made ? stdout : stderr, "%u %s\n", reply->status, reply->body.c_str());
    if (reply->status == 401) {
        std::fprintf(stderr,
                     "holdfast: the server wants the operator's token: give it with --token or in "
                     "HOLDFAST_ADMIN_TOKEN; a server without [admin].token in its configuration "
                     "keeps it in admin.token of its data folder\n");
    }
    return made ? exit_ok : exit_failed;
}

}  // namespace

int import_file(ImportCommand const& command) {
    std::string const plan = read_plan(command.file);
    auto const imported = services::import_plan({.format = command.format,
                                                 .plan = plan,
                                                 .disambiguate = command.disambiguate,
                                                 .prices = command.prices});
    print_report(imported.name, imported.report);
    if (!imported.layout) {
        LintReport const& report = imported.report;
        bool const repeated = !command.disambiguate && report.repeat_count == report.error_count;
        std::fprintf(stderr, "holdfast: the plan is refused, nothing was sent%s\n",
                     repeated ? "; --disambiguate names such seats anew" : "");
        return exit_failed;
    }
    if (command.dry_run) return exit_ok;
    std::string const& name = command.name.empty() ? imported.name : command.name;
    if (name.empty()) throw std::runtime_error("the plan has no name; give one with --name");
    return send(command, request_body(command, name, plan));
}

}  // namespace holdfast::app
