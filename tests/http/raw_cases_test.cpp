// The house list of raw requests (../shared/cases/raw_http/gen.py), against a live server: the
// right status, the end of the connection after a refusal, nothing behind it run, and the same
// answer when the request comes in two pieces or one byte at a time.
#include "tests/http/live.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>

using namespace live;
namespace fs = std::filesystem;

namespace {

/// By the start of a name: the statuses, all of them, in order. This server has neither
/// /v1/holds nor /v1/events, so what is accepted is 404.
std::map<std::string, std::string> const expected = {
    {"s01", "400"}, {"s02", "400"}, {"s03", "400"}, {"s04", "501"},
    {"s05", "501"}, {"s06", "501"}, {"s07", "501"}, {"s08", "400"},
    {"s09", "400"}, {"s10", "400"}, {"s11", "400"}, {"s12", "400"},
    {"s13", "400"}, {"s14", "400"}, {"s15", "400"}, {"s16", "400"},
    {"s17", "400"}, {"s18", "400"}, {"s19", "400"}, {"s20", "400"},
    {"s21", "400"}, {"s22", "400"}, {"s23", "400"}, {"s24", "413"},
    {"s25", "400"}, {"s26", "400"}, {"s27", "400"}, {"s28", "404"},
    {"s29", "400"}, {"s30", "400"}, {"c01", "400"}, {"c02", "400"},
    {"c03", "400"}, {"c04", "400"}, {"c05", "400"}, {"c06", "400"},
    {"c07", "400"}, {"c08", "400"}, {"c09", "400"}, {"c10", "400"},
    {"c11", "400"}, {"c12", "400"}, {"c13", "400"}, {"c14", "400"},
    {"c15", "400"}, {"c16", "400"}, {"c17", "400"}, {"c18", "400"},
    {"c19", "400"}, {"c20", "400"}, {"c21", "400"}, {"c22", "400"},
    {"c23", "400"}, {"c24", "400"}, {"c25", "400"}, {"c26", "404 400"},
    {"c27", "404"}, {"c28", "404"}, {"r01", "400"}, {"r02", "400"},
    {"r03", "400"}, {"r04", "400"}, {"r05", "400"}, {"r06", "405"},
    {"r07", "204"}, {"r08", "400"}, {"r09", "400"}, {"r10", "200"},
    {"r11", "400"}, {"r12", "400"}, {"r13", "400"}, {"r14", "400"},
    {"r15", "400"}, {"r16", "400"}, {"r17", "414"}, {"r18", "405"},
    {"r19", "501"}, {"r20", "400"}, {"r21", "505"}, {"r22", "505"},
    {"r23", "400"}, {"r24", "400"}, {"r25", "400"}, {"r26", "431"},
    {"r27", "431"}, {"r28", "400"}, {"r29", "400"}, {"r30", "400"},
    {"r31", "400"}, {"r32", "400"}, {"r33", "400"}, {"r34", "400"},
    {"r35", "400"}, {"r36", "417"}, {"r37", "200"}, {"r38", "404 404 404 404 404"},
    {"r39", "400"}, {"r40", "400"}, {"r41", "400"}, {"r42", "200"},
    {"r43", ""},    {"r44", "404"}, {"r45", "404"}, {"r46", "400"},
    {"r47", "400"}, {"r48", "413"}, {"r49", "400"},
};

struct Cases {
    test::TempFolder own;
    fs::path const& folder = own.path();
    [[nodiscard]] bool generate() const {
        fs::path const script = fs::path{HOLDFAST_SOURCE_DIR} / "../shared/cases/raw_http/gen.py";
        if (!fs::exists(script)) return false;
        fs::create_directory(folder / "own");
        std::string const command =
            "cd '" + folder.string() + "' && python3 '" + script.string() + "' >/dev/null 2>&1";
        return std::system(command.c_str()) == 0;
    }
};

std::string statuses(std::string_view answers) {
    std::string list;
    for (std::size_t at = answers.find("HTTP/1.1 "); at != answers.npos;
         at = answers.find("HTTP/1.1 ", at + 1)) {
        if (at != 0 && answers[at - 1] != '}' && answers[at - 1] != '\n' &&
            answers.substr(at - 6, 6) != "query=") {
            continue;  // inside a text
        }
        if (!list.empty()) list += ' ';
        list += answers.substr(at + 9, 3);
    }
    return list;
}

enum class Sending { whole, cut, bytewise };

/// The server may refuse it, and close, before all is sent.
void send(LiveServer const& live, Client& client, std::string_view request, Sending sending,
          std::mt19937_64& random) {
    if (sending == Sending::bytewise) {
        for (char const byte : request)
            if (!client.send({&byte, 1})) return;
        return;
    }
    std::size_t const cut = sending == Sending::cut ? 1 + random() % (request.size() - 1) : 0;
    std::uint64_t const before = live.server->counts().bytes_in;
    client.send(request.substr(0, cut));
    if (cut != 0 && cut < 60) {
        CHECK(live.until(
            [&](ServerCounts const& counts) { return counts.bytes_in >= before + cut; }));
    }
    client.send(request.substr(cut));
}

}  // namespace

TEST_CASE("every raw request of the house list is answered as it should be", "[live][raw]") {
    Cases const cases;
    if (!cases.generate()) {
        std::cout << "skipped: no cases/raw_http/gen.py or no python3\n";
        return;
    }
    LiveServer live;
    std::mt19937_64 random{20'261};
    std::size_t count = 0;
    for (fs::directory_entry const& entry : fs::directory_iterator{cases.folder / "own"}) {
        std::string const name = entry.path().filename().string();
        std::ostringstream text;
        text << std::ifstream{entry.path(), std::ios::binary}.rdbuf();
        std::string const request = text.str();
        CAPTURE(name);
        auto const row = expected.find(name.substr(0, 3));
        REQUIRE(row != expected.end());
        for (Sending const sending : {Sending::whole, Sending::cut, Sending::bytewise}) {
            CAPTURE(static_cast<int>(sending));
            Client client = live.connect();
            send(live, client, request, sending, random);
            client.end_sending();
            std::string const answers = client.rest();
            CHECK(statuses(answers) == row->second);
            bool const refused = row->second >= "400" && row->second != "404";
            if (refused) CHECK(answers.find("\"type\":\"/problems/") != answers.npos);
        }
        ++count;
    }
    CHECK(count == 107);
    CHECK(live.server->counts().handler_exceptions == 0);
    Client client = live.connect();
    REQUIRE(client.send(get("/")));
    CHECK(client.answer().status == 200);
}
