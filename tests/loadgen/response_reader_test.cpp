#include "loadgen/response_reader.hpp"

#include <catch2/catch.hpp>
#include <string>

using holdfast::loadgen::ResponseReader;
using Progress = ResponseReader::Progress;

namespace {

std::string const created =
    "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nLOCATION:\t/v1/holds/h_1 \r\n"
    "content-length: 12\r\n\r\n{\"hold\":\"h\"}";

ResponseReader read_whole(std::string_view bytes) {
    ResponseReader reader;
    reader.feed(bytes);
    return reader;
}

}  // namespace

TEST_CASE("a reply is the same wherever its bytes are cut", "[loadgen]") {
    auto const first = GENERATE_REF(range(std::size_t{0}, created.size() + 1));
    CAPTURE(first);
    ResponseReader reader;
    std::string_view const bytes = created;
    CHECK(reader.feed(bytes.substr(0, first)) == first);
    CHECK((reader.progress() == Progress::done) == (first == created.size()));
    CHECK(reader.feed(bytes.substr(first)) == created.size() - first);
    REQUIRE(reader.progress() == Progress::done);
    CHECK(reader.reply().status == 201);
    CHECK(reader.reply().field("location") == "/v1/holds/h_1");
    CHECK(reader.reply().field("absent").empty());
    CHECK(reader.reply().body == "{\"hold\":\"h\"}");
    CHECK(reader.keep_alive());
}

TEST_CASE("a reply that comes byte by byte is read", "[loadgen]") {
    ResponseReader reader;
    for (char const& byte : created) {
        REQUIRE(reader.progress() == Progress::more);
        REQUIRE(reader.feed({&byte, 1}) == 1);
    }
    REQUIRE(reader.progress() == Progress::done);
    CHECK(reader.reply().body.size() == 12);
}

TEST_CASE("bytes of the next reply are left alone", "[loadgen]") {
    ResponseReader reader;
    CHECK(reader.feed(created + created) == created.size());
    REQUIRE(reader.progress() == Progress::done);
    reader.reset();
    CHECK(reader.feed(created) == created.size());
    REQUIRE(reader.progress() == Progress::done);
    CHECK(reader.reply().fields.size() == 3);
}

TEST_CASE("204 and 304 have no body", "[loadgen]") {
    auto const bytes = GENERATE(as<std::string>{}, "HTTP/1.1 204 No Content\r\n\r\n",
                                "HTTP/1.1 204\r\nContent-Length: 0\r\n\r\n",
                                "HTTP/1.1 304 Not Modified\r\nContent-Length: 512\r\n\r\n");
    ResponseReader reader;
    CHECK(reader.feed(bytes) == bytes.size());
    CHECK(reader.progress() == Progress::done);
    CHECK(reader.reply().body.empty());
}

TEST_CASE("a server that wants to close is believed", "[loadgen]") {
    auto const reader =
        read_whole("HTTP/1.1 400 No\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n");
    REQUIRE(reader.progress() == Progress::done);
    CHECK_FALSE(reader.keep_alive());
}

TEST_CASE("a reply with broken framing is bad, and says why", "[loadgen]") {
    auto const bytes =
        GENERATE(as<std::string>{}, "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
                 "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
                 "HTTP/1.1 20x OK\r\nContent-Length: 0\r\n\r\n",
                 "HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n", "SSH-2.0-x\r\n\r\n",
                 "HTTP/1.1 200 OK\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nContent-Length: 1 2\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nbad name: 1\r\nContent-Length: 0\r\n\r\n",
                 "HTTP/1.1 200 OK\r\n: 1\r\nContent-Length: 0\r\n\r\n");
    CAPTURE(bytes);
    auto const reader = read_whole(bytes);
    CHECK(reader.progress() == Progress::bad);
    CHECK_FALSE(reader.error().empty());
}

TEST_CASE("a head without an end is bad, not an endless wait", "[loadgen]") {
    ResponseReader reader;
    std::string const junk(1'000, 'x');
    for (int round = 0; round < 40; ++round) reader.feed(junk);
    CHECK(reader.progress() == Progress::bad);
}
