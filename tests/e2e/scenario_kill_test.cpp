// Scripted scenarios, each of which the server does not outlive: it is killed at every call that
// changes a file, from the first of the scenario on. The next life must stand by all that was
// acknowledged, and what was not is asked again and must have happened once.
#include "tests/e2e/actor.hpp"
#include "tests/e2e/audited.hpp"
#include "tests/e2e/faulty_server.hpp"
#include "tests/e2e/journal_folder.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/shoppers.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <iostream>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

using Kind = Step::Kind;

void nothing(Actor&) {}

std::string first_ticket(Known const& hold) {
    return "\"" + json_text(hold.tickets, "ticket") + "\"";
}

/// What is done before calls are counted, and what while they are.
struct Scenario {
    char const* name;
    void (*prepare)(Actor&);
    void (*act)(Actor&);
};

std::array const scenarios{
    Scenario{"a hold", nothing, [](Actor& a) { a.claim(); }},
    Scenario{"a hold and its repeat", nothing, [](Actor& a) { a.repeat(a.claim()); }},
    Scenario{"a hold of candidates", nothing,
             [](Actor& a) {
                 a.claim(R"({"candidates":[)" + a.seats() + "," + a.seats() + R"(],"count":2})");
             }},
    Scenario{"a partial claim", [](Actor& a) { a.claim(); },
             [](Actor& a) {
                 std::string const taken = a.known(0).places().front();
                 a.claim(R"({"seats":[")" + taken + "\"," + a.seats() + R"(],"partial":true})");
             }},
    Scenario{"an order", [](Actor& a) { a.claim(); },
             [](Actor& a) { a.take(0, order_step(a.known(0))); }},
    Scenario{"a hold and its order", nothing, [](Actor& a) { a.sold(); }},
    Scenario{"an extension", [](Actor& a) { a.claim(); },
             [](Actor& a) {
                 a.take(0, own_step(a.known(0), Kind::extend, "POST", "/extend",
                                    R"({"seconds":4000})"));
             }},
    Scenario{"an exchange", [](Actor& a) { a.claim(); },
             [](Actor& a) {
                 a.take(0, own_step(a.known(0), Kind::exchange, "PUT", "/seats",
                                    R"({"seats":[)" + a.seats() + "]}"));
             }},
    Scenario{"a release", [](Actor& a) { a.claim(); },
             [](Actor& a) { a.take(0, own_step(a.known(0), Kind::release, "DELETE", "", "")); }},
    Scenario{"a partial release", [](Actor& a) { a.claim(); },
             [](Actor& a) {
                 a.take(0, own_step(a.known(0), Kind::part, "POST", "/release",
                                    R"({"seats":[")" + a.known(0).places().front() + R"("]})"));
             }},
    Scenario{"a cancellation", [](Actor& a) { a.sold(); },
             [](Actor& a) { a.take(0, staff_step(a.known(0), Kind::cancel, "/cancel", "")); }},
    Scenario{"a refund", [](Actor& a) { a.sold(); },
             [](Actor& a) {
                 a.take(0, staff_step(a.known(0), Kind::refund, "/refund",
                                      R"({"tickets":[)" + first_ticket(a.known(0)) + "]}"));
             }},
    Scenario{"a reseat", [](Actor& a) { a.sold(); },
             [](Actor& a) {
                 std::string const seat = a.seats();
                 a.take(0, staff_step(a.known(0), Kind::reseat, "/reseat",
                                      R"({"seats":[{"ticket":)" + first_ticket(a.known(0)) +
                                          R"(,"to":)" + seat.substr(0, seat.find(',')) + "}]}"));
             }},
    Scenario{"a new event", nothing, [](Actor& a) { a.make_event(); }},
    Scenario{"an event goes on sale",
             [](Actor& a) {
                 a.make_event();
                 a.wait_for("draft");
             },
             [](Actor& a) { a.step("publish", "open"); }},
    Scenario{"a pause and its end", [](Actor& a) { a.open_event(); },
             [](Actor& a) {
                 a.step("pause", "paused");
                 a.step("resume", "open");
             }},
    Scenario{"an event closes", [](Actor& a) { a.open_event(); },
             [](Actor& a) { a.step("close", "closed"); }},
    Scenario{"an event is cancelled", [](Actor& a) { a.open_event(); },
             [](Actor& a) { a.step("cancel", "cancelled"); }},
    Scenario{"a block", [](Actor& a) { a.open_event(); }, [](Actor& a) { a.block(); }},
    Scenario{"a block and its end", [](Actor& a) { a.open_event(); },
             [](Actor& a) { a.unblock(a.block()); }},
    Scenario{"a change of segments", nothing,
             [](Actor& a) {
                 for (int holds = 0; holds < 18; ++holds) a.claim();
             }},
    Scenario{"an online backup", [](Actor& a) { a.sold(); }, [](Actor& a) { a.back_up(); }},
    Scenario{"a stop with live holds",
             [](Actor& a) {
                 a.claim();
                 a.sold();
             },
             [](Actor& a) { a.stop(); }},
};

/// Lives on one data folder, each but the last of a scenario ended by a call of it.
class Stage {
public:
    explicit Stage(std::uint64_t seed) : random_(seed) {
        FaultyServer server(data(), "");
        REQUIRE(server.started());
        make_show(server->url());
        REQUIRE(server->stop() == 0);
    }

    /// Kills at call N, N + step, … until the scenario has fewer of them.
    void play(Scenario const& scenario, long step) {
        for (long n = first_of(step);; n += step) {
            CAPTURE(scenario.name, n);
            REQUIRE(n < 1'000);
            end_of_counting();
            FaultyServer server(data(), plan(n), false, counting());
            INFO(server.why_not());
            REQUIRE(server.started());
            settle(*server);
            Actor actor(*server, folder_.path(), ++plays_, pairs_);
            scenario.prepare(actor);
            std::ofstream{counting()};
            bool was_killed = false;
            try {
                scenario.act(actor);
            } catch (Gone const&) {
                was_killed = true;
            }
            end_of_counting();
            ledger_.add(actor.all_known(), actor.pending());
            asked_ = actor.asked();
            backup_ = actor.backup();
            REQUIRE(end_of(*server, actor, was_killed) == (was_killed ? 128 + 9 : 0));
            count_deleted();
            if (!was_killed) return;
            ++kills_;
        }
    }

    /// Starts that end at call N, N + step, …; live holds are there from before.
    void start_and_die(long step) {
        for (long n = first_of(step);; n += step) {
            CAPTURE(n);
            REQUIRE(n < 1'000);
            std::ofstream{counting()};
            FaultyServer server(data(), plan(n), false, counting());
            end_of_counting();
            INFO(server.why_not());
            if (server.started()) {
                // Ready, and perhaps killed by what goes on behind that.
                server->kill();
                return;
            }
            REQUIRE(server.why_not().find("exit 137") != std::string::npos);
            count_deleted();
            ++kills_;
        }
    }

    void check_all() {
        FaultyServer server(data(), "");
        INFO(server.why_not());
        REQUIRE(server.started());
        settle(*server);
        ledger_.check(server->url(), true);
        REQUIRE(server->stop() == 0);
    }
    [[nodiscard]] std::filesystem::path data() const { return folder_.path() / "data"; }
    [[nodiscard]] long kills() const noexcept { return kills_; }
    [[nodiscard]] std::size_t acknowledged() const { return ledger_.size() + answered_; }
    [[nodiscard]] std::uint64_t deleted() const noexcept { return deleted_; }
    [[nodiscard]] long backups() const noexcept { return backups_; }

private:
    [[nodiscard]] std::filesystem::path counting() const { return folder_.path() / "counting"; }
    void end_of_counting() const { std::filesystem::remove(counting()); }
    static std::string plan(long n) { return "change:" + std::to_string(n) + ":kill_before"; }
    [[nodiscard]] long first_of(long step) {
        return 1 + static_cast<long>(random_() % static_cast<std::uint64_t>(step));
    }
    static int end_of(ServerProcess& server, Actor const& actor, bool was_killed) {
        if (actor.exit_code()) return *actor.exit_code();
        return was_killed ? server.child().wait(20s) : server.stop();
    }
    void count_deleted() {
        std::uint64_t const first = first_segment(data());
        deleted_ += first - first_;
        first_ = first;
    }

    /// What the life before acknowledged stands, what it did not is asked again.
    void settle(ServerProcess& server) {
        ledger_.check(server.url());
        loadgen::Session session(*loadgen::parse_url(server.url()), 15s);
        for (StaffRequest const& asked : asked_) {
            auto const again = session.call(asked.query());
            REQUIRE(again.has_value());
            CAPTURE(asked.method, asked.target, asked.answered, again->status, again->body);
            REQUIRE(again->status == asked.success);
            if (asked.answered) REQUIRE(again->field("idempotency-replayed") == "true");
            answered_ += asked.answered ? 1 : 0;
            if (&asked != &asked_.back()) continue;
            auto const look =
                call(server.url(), "GET", asked.look, {}, std::string("Bearer ") + admin_token);
            INFO(look.body);
            REQUIRE(asked.stands(look.body, again->body));
        }
        asked_.clear();
        check_backup();
    }

    /// What has a manifest is whole; anything else is no backup.
    void check_backup() {
        if (backup_ && std::filesystem::exists(*backup_ / "MANIFEST.json")) {
            auto const verify = run({program, "verify", "--data", backup_->string()});
            INFO(verify.errors << verify.output);
            REQUIRE(verify.exit_code == 0);
            ++backups_;
        }
        if (backup_) std::filesystem::remove_all(*backup_);
        backup_.reset();
    }

    TempFolder folder_;
    std::mt19937_64 random_;
    Ledger ledger_;
    std::vector<StaffRequest> asked_;              // of the last play
    std::optional<std::filesystem::path> backup_;  // the same
    int pairs_{};
    long plays_{};
    long kills_{};
    long backups_{};
    std::size_t answered_{};
    std::uint64_t first_{1};
    std::uint64_t deleted_{};
};

}  // namespace

TEST_CASE("P3 P4: whichever call of a scenario is the server's last, the next life stands by it",
          "[e2e][kill]") {
    // Every eighth call, from a random one on; every second under HOLDFAST_CI.
    long const step = cycles_of_run("HOLDFAST_FAULT_STEP", 8, 2);
    Stage stage(seed_of_run("scenario kills"));
    auto const began = std::chrono::steady_clock::now();
    static_assert(scenarios.size() >= 20);
    for (Scenario const& scenario : scenarios) {
        stage.play(scenario, step);
        stage.start_and_die(10 * step);
    }
    stage.start_and_die(step);
    stage.check_all();
    check_audit(stage.data());
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
    std::cout << "scenario kills: " << scenarios.size() << " scenarios, " << stage.kills()
              << " kills, " << stage.acknowledged() << " acknowledged holds and steps, "
              << stage.backups() << " whole backups, nothing lost; " << stage.deleted()
              << " segments deleted; " << took.count() << " s\n";
    CHECK(stage.kills() > 20);
    CHECK(stage.backups() > 0);
    CHECK(stage.deleted() > 0);
}
