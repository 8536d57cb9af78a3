#include "api/backup_routes.hpp"

#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

/// Remembers what it was asked for, and answers as the test wants.
struct AskedBackups final : api::Backups {
    std::vector<std::string> targets;
    std::optional<api::RefusedBackup> refusal;
    std::optional<api::BackupReport> report;
    std::optional<api::RefusedBackup> start(std::filesystem::path const& target,
                                            TimePoint now) override {
        targets.push_back(target.string());
        if (refusal) return refusal;
        report.emplace();
        report->target = target;
        report->began_at = now;
        return {};
    }
    std::optional<api::BackupReport> newest() const override { return report; }
};

struct BackupStage {
    BackupStage() {
        stage.context->backups = &backups;
        for (auto& route : api::admin_routes(*stage.context))
            if (route.pattern == "/v1/admin/backup") routes.push_back(std::move(route));
    }
    http::Reply send(http::Method method, std::string const& body, std::string const& authorization,
                     std::optional<std::string_view> key = {}) {
        http::Request request;
        request.idempotency_key = key;
        request.method = method;
        request.path = "/v1/admin/backup";
        std::array<http::Field, 1> const fields{http::Field{"Authorization", authorization}};
        request.fields = std::span(fields).first(authorization.empty() ? 0 : 1);
        request.body = body;
        request.received_at = stage.now;
        http::Reply reply;
        for (auto const& route : routes)
            if (route.method == method) route.handler(request, reply);
        return reply;
    }
    http::Reply post(std::string const& body, std::optional<std::string_view> key = {}) {
        return send(http::Method::post, body, staff, key);
    }
    http::Reply get() { return send(http::Method::get, {}, staff); }
    Stage stage;
    AskedBackups backups;
    std::vector<http::Route> routes;
};

constexpr char const* good_body = R"({"to":"/backups/monday"})";

}  // namespace

TEST_CASE("a backup is begun by staff, and is looked at until it is done", "[backup]") {
    BackupStage stage;
    CHECK(stage.get().status == 404);
    auto const begun = stage.post(good_body);
    CHECK(begun.status == 202);
    CHECK(begun.headers == "Location: /v1/admin/backup\r\n");
    CHECK(begun.body == R"({"state":"running","to":"/backups/monday",)"
                        R"("began_at":"2027-05-01T12:00:00.000Z"})");
    CHECK(stage.get().body == begun.body);
    auto& report = *stage.backups.report;
    report.state = api::BackupReport::State::done;
    report.ended_at = stage.stage.now + Milliseconds{1'500};
    report.applied = Lsn{7};
    report.durable = Lsn{9};
    report.files = 5;
    report.bytes = 12'345;
    CHECK(stage.get().body == R"({"state":"done","to":"/backups/monday",)"
                              R"("began_at":"2027-05-01T12:00:00.000Z",)"
                              R"("ended_at":"2027-05-01T12:00:01.500Z","applied_lsn":7,)"
                              R"("durable_lsn":9,"files":5,"bytes":12345})");
    report.state = api::BackupReport::State::failed;
    report.why = "the \"disk\" is full";
    report.exit_code = 77;
    auto const failed = stage.get();
    CHECK(failed.status == 200);
    CHECK_THAT(failed.body, Catch::Contains(R"("state":"failed")") &&
                                Catch::Contains(R"("why":"the \"disk\" is full","exit_code":77)"));
}

TEST_CASE("nobody but staff begins or sees a backup", "[backup]") {
    BackupStage stage;
    for (auto const method : {http::Method::post, http::Method::get}) {
        CHECK(stage.send(method, good_body, {}).status == 401);
        CHECK(stage.send(method, good_body, "Bearer wrong-token-of-the-tests----").status == 401);
        CHECK(stage.send(method, good_body, "Hold x").status == 403);
    }
    CHECK(stage.backups.targets.empty());
}

TEST_CASE("a body that names no absolute path begins nothing", "[backup]") {
    BackupStage stage;
    auto const [body, status, fault] = GENERATE(table<char const*, unsigned, char const*>(
        {{"", 400, "malformed"},
         {"{", 400, "malformed"},
         {"[]", 422, "not-an-object"},
         {"{}", 422, R"("pointer":"/to","code":"required")"},
         {R"({"to":7})", 422, R"("pointer":"/to","code":"type")"},
         {R"({"to":""})", 422, R"("pointer":"/to")"},
         {R"({"to":"backups"})", 422, R"("pointer":"/to","code":"relative")"},
         {R"({"to":"/a\u0000b"})", 400, "malformed"},
         {R"({"to":"/a","from":"/b"})", 422, R"("pointer":"/from","code":"unknown-field")"}}));
    CAPTURE(body);
    auto const refused = stage.post(body);
    CHECK(refused.status == status);
    CHECK_THAT(refused.body, Catch::Contains(fault));
    CHECK(stage.backups.targets.empty());
}

TEST_CASE("a backup that cannot begin is a problem document", "[backup]") {
    BackupStage stage;
    api::RefusedBackup refused;
    refused.problem.status = 409;
    refused.problem.slug = "backup-running";
    refused.problem.title = "A backup is being made";
    refused.problem.retryable = true;
    refused.problem.retry_after_s = 5;
    refused.detail = "One at a time.";
    stage.backups.refusal = refused;
    auto const busy = stage.post(good_body);
    CHECK(busy.status == 409);
    CHECK(busy.content_type == "application/problem+json");
    CHECK(busy.headers == "Retry-After: 5\r\n");
    CHECK_THAT(busy.body, Catch::Contains(R"("code":"backup-running")") &&
                              Catch::Contains(R"("retryable":true)") &&
                              Catch::Contains(R"("detail":"One at a time.")"));
}

TEST_CASE("a backup with a key is begun once, and one that could not begin is no verdict",
          "[backup][keyed]") {
    BackupStage stage;
    api::RefusedBackup refused;
    refused.problem.status = 409;
    refused.problem.slug = "backup-running";
    refused.problem.retryable = true;
    refused.problem.retry_after_s = 5;
    stage.backups.refusal = refused;
    CHECK(stage.post(good_body, "monday").status == 409);
    // Without Retry-After, too: no command of the sale decided it.
    stage.backups.refusal->problem.retry_after_s = 0;
    auto const second = stage.post(good_body, "monday");
    CHECK(second.status == 409);
    CHECK_THAT(second.body, Catch::Contains(R"("retryable":true)"));
    stage.backups.refusal.reset();
    auto const begun = stage.post(good_body, "monday");
    CHECK(begun.status == 202);
    auto const again = stage.post(good_body, "monday");
    CHECK(again.status == 202);
    CHECK(again.body == begun.body);
    CHECK(again.headers == begun.headers + "Idempotency-Replayed: true\r\n");
    CHECK(stage.backups.targets.size() == 3);
    CHECK(stage.post(R"({"to":"/backups/tuesday"})", "monday").status == 422);
}

TEST_CASE("the public listener has no routes for backups", "[backup]") {
    BackupStage stage;
    CHECK(stage.routes.size() == 2);
    for (auto const& route : api::public_routes(*stage.stage.context))
        CHECK(route.pattern.find("admin") == std::string::npos);
}

}  // namespace holdfast::test
