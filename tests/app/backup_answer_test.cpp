#include "app/backup_answer.hpp"

#include <catch2/catch.hpp>

using namespace holdfast::app;

TEST_CASE("what a server says against a backup is told in a sentence", "[app][backup]") {
    auto const told = [](unsigned status, char const* body) {
        return sentence_of(status, read_backup_answer(body));
    };
    CHECK(told(409, R"({"type":"/problems/backup-space","title":"Too little space","status":409,)"
                    R"("code":"backup-space","detail":"12 bytes are missing."})") ==
          "12 bytes are missing (409 backup-space)");
    CHECK(told(409, R"({"title":"A backup is being made","code":"backup-running"})") ==
          "A backup is being made (409 backup-running)");
    CHECK(told(401, R"({"title":"Who are you?","code":"unauthenticated"})") ==
          "Who are you?; name the operator's token with --token or in HOLDFAST_ADMIN_TOKEN "
          "(401 unauthenticated)");
    for (char const* const body : {"", "<html>", "[]", R"({"title":7})"})
        CHECK(told(404, body) == "answers 404, not as holdfast does");
    auto const failed = read_backup_answer(R"({"state":"failed","why":"no room","exit_code":77})");
    CHECK(failed.why == "no room");
    CHECK(failed.exit_code == 77);
}
