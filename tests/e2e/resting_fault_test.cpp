// The commands on folders at rest, and the start, when the system has not got what they need: the
// exit code says whether something is wanting (76) or the data cannot be read (77).
#include "tests/e2e/program.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/shoppers.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

/// A folder that a killed server has left, and another place for what is written.
class Rest {
public:
    Rest() {
        ServerProcess server({.data = data(), .flags = {}, .variables = {}});
        make_show(server.url());
        Buyer buyer(server.url(), seed_of_run("resting faults"));
        for (int visit = 0; visit < 20; ++visit) REQUIRE(buyer.visit());
        server.kill();
    }
    [[nodiscard]] std::filesystem::path data() const { return temp_.path() / "data"; }
    [[nodiscard]] std::filesystem::path target() const { return temp_.path() / "target"; }
    [[nodiscard]] std::vector<std::string> words(std::string const& command) const {
        if (command == "serve") return serve_words(data());
        if (command == "salvage --to")
            return {program, "salvage", "--data", data().string(), "--to", target().string()};
        return {program, command, "--data", data().string()};
    }
    /// Under the fault shim, if it has anything to do.
    [[nodiscard]] Finished ask(std::string const& command, std::string const& plan) {
        std::filesystem::remove(mark());
        auto finished = run(words(command), {{"LD_PRELOAD", HOLDFAST_FAULT_SHIM},
                                             {"FAULT_SHIM", plan},
                                             {"FAULT_SHIM_MARK", mark().string()}});
        std::filesystem::remove_all(target());
        return finished;
    }
    [[nodiscard]] bool met() const { return std::filesystem::exists(mark()); }

private:
    [[nodiscard]] std::filesystem::path mark() const { return temp_.path() / "mark"; }
    TempFolder temp_;
};

std::string from_first(std::string const& call, int error, std::string const& part) {
    return call + ":1:from=" + std::to_string(error) + ":" + part;
}

}  // namespace

TEST_CASE("a scratch folder without room is told as that by every command at rest",
          "[e2e][offline][fault]") {
    Rest rest;
    for (char const* const command : {"verify", "audit", "salvage", "salvage --to", "rebuild"}) {
        for (char const* const call : {"pwrite", "create"}) {
            bool const rebuilds = std::string(command) == "rebuild";
            CAPTURE(command, call);
            auto const full = rest.ask(
                command, from_first(call, ENOSPC, rebuilds ? "/rebuild-" : "/.holdfast-scratch-"));
            INFO(full.errors << full.output);
            REQUIRE(rest.met());
            CHECK(full.exit_code == 76);
            CHECK_THAT(full.errors, Catch::Contains("free space on its disk"));
            CHECK_THAT(full.errors + full.output, !Catch::Contains("restore a backup"));
        }
    }
    CHECK(rest.ask("verify", "").exit_code == 0);
}

TEST_CASE("each write of a command at rest may be the first without room",
          "[e2e][offline][fault]") {
    Rest rest;
    for (char const* const command : {"verify", "audit", "salvage --to", "rebuild"}) {
        for (long n = 1;; n += 1 + n / 4) {
            CAPTURE(command, n);
            REQUIRE(n < 100'000);
            auto const full = rest.ask(command, "pwrite:" + std::to_string(n) + ":from=28:" +
                                                    rest.data().parent_path().filename().string());
            if (!rest.met()) break;
            INFO(full.errors << full.output);
            // Of some a rebuild can do without: the old file's WAL need not be moved into it.
            bool const is_no_matter = full.exit_code == 0 && std::string(command) == "rebuild";
            CHECK((is_no_matter || full.exit_code == 76));
            CHECK_THAT(full.errors, !Catch::Contains("damage") && !Catch::Contains("contradict"));
        }
    }
    CHECK(rest.ask("audit", "").exit_code == 0);
}

TEST_CASE("a file that the disk does not give is damage, of any command as of the start",
          "[e2e][offline][fault]") {
    Rest rest;
    struct Case {
        char const* part;
        bool salvage_needs_it;
    };
    for (auto const& [part, salvage_needs_it] :
         {Case{"/META.a", false}, Case{"/server.key", true}, Case{"/store.db", true},
          Case{"/journal/0000000000000001.hfj", true}}) {
        for (char const* const command : {"verify", "audit", "salvage --to", "rebuild", "serve"}) {
            bool const salvages = std::string(command) == "salvage --to";
            CAPTURE(command, part);
            if (salvages && !salvage_needs_it) continue;
            auto const bad = rest.ask(command, from_first("pread", EIO, part));
            INFO(bad.errors << bad.output);
            REQUIRE(rest.met());
            CHECK(bad.exit_code == 77);
            CHECK_THAT(bad.errors, Catch::Contains(std::filesystem::path(part).filename()));
        }
    }
    CHECK_THAT(rest.ask("verify", from_first("pread", EIO, "/META.a")).errors,
               Catch::Contains("if META.b is good, a start goes on without it"));
    CHECK_THAT(rest.ask("serve", from_first("pread", EIO, "/META.a")).errors,
               Catch::Contains("META.b is good") && Catch::Contains("move META.a out"));
}

TEST_CASE("a file that is not ours or for which there is no descriptor is no damage",
          "[e2e][offline][fault]") {
    Rest rest;
    for (int const error : {EACCES, EMFILE, ENFILE, ENOMEM}) {
        for (char const* const part :
             {"/META.a", "/server.key", "/store.db", "/journal/0000000000000001.hfj", "/LOCK"}) {
            for (char const* const command :
                 {"verify", "audit", "salvage", "salvage --to", "rebuild", "serve"}) {
                CAPTURE(command, part, error);
                std::string const name = command;
                // A start and a rebuild make LOCK if it is not there.
                bool const makes_it =
                    std::string(part) == "/LOCK" && (name == "serve" || name == "rebuild");
                auto const refused =
                    rest.ask(command, from_first(makes_it ? "create" : "open", error, part));
                INFO(refused.errors << refused.output);
                REQUIRE(rest.met());
                CHECK(refused.exit_code == 76);
                CHECK_THAT(refused.errors + refused.output,
                           !Catch::Contains("restore a backup") && !Catch::Contains("damaged"));
            }
        }
    }
}

TEST_CASE(
    "whatever size a file may have a command at rest ends well or with 76, and leaves nothing",
    "[e2e][offline][fault]") {
    Rest rest;
    auto const beside = rest.data().parent_path();
    for (char const* const command : {"verify", "audit", "salvage", "salvage --to", "rebuild"}) {
        for (int blocks = 1;; blocks *= 2) {
            CAPTURE(command, blocks);
            REQUIRE(blocks < 1 << 24);
            std::string line = "ulimit -f " + std::to_string(blocks) + "; exec";
            for (std::string const& word : rest.words(command)) line += " '" + word + "'";
            auto const finished = run({"/bin/sh", "-c", line});
            INFO(finished.errors << finished.output);
            CHECK((finished.exit_code == 0 || finished.exit_code == 76));
            std::filesystem::remove_all(rest.target());
            for (auto const& folder : {beside, rest.data()}) {
                for (auto const& entry : std::filesystem::directory_iterator(folder)) {
                    std::string const name = entry.path().filename().string();
                    CHECK_FALSE(
                        (name.starts_with(".holdfast-scratch") || name.starts_with("rebuild-")));
                }
            }
            if (finished.exit_code == 0) break;
        }
    }
}

TEST_CASE("with any number of descriptors a command at rest and a start end well or with 76",
          "[e2e][offline][descriptors]") {
    Rest rest;
    for (char const* const command : {"verify", "audit", "salvage", "rebuild"}) {
        for (int count = 4; count < 64; ++count) {
            CAPTURE(command, count);
            std::string line = "ulimit -n " + std::to_string(count) + "; exec";
            for (std::string const& word : rest.words(command)) line += " '" + word + "'";
            auto const finished = run({"/bin/sh", "-c", line});
            INFO(finished.errors << finished.output);
            bool const is_loader = finished.exit_code == 127;
            CHECK((is_loader || finished.exit_code == 0 || finished.exit_code == 76));
            if (finished.exit_code == 76) CHECK_THAT(finished.errors, Catch::Contains("; "));
            if (finished.exit_code == 0) break;
        }
    }
    for (std::uint64_t count = 8; count < 64; ++count) {
        CAPTURE(count);
        try {
            ServerProcess server(
                {.data = rest.data(), .flags = {}, .variables = {}, .descriptors = count});
            CHECK(server.stop() == 0);
            break;
        } catch (std::runtime_error const& refused) {
            CHECK_THAT(refused.what(), Catch::Contains("exit 76"));
        }
    }
}
