#include "http/chunked.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace holdfast;
using namespace holdfast::http;

namespace {

struct Decoded {
    std::string body;
    Fault fault{};
    bool done{};
    std::size_t consumed{};
};

/// Decodes in place, as the session does, with `step` new bytes at a time.
Decoded decode(std::string_view sent, std::size_t step, std::size_t body_bytes_max = 65'536) {
    ChunkDecoder decoder{body_bytes_max};
    std::string buffer{sent};
    Decoded decoded;
    std::size_t body = 0;
    while (decoded.consumed < buffer.size() && !decoder.done() && decoder.fault() == Fault::none) {
        std::size_t const bytes = std::min(step, buffer.size() - decoded.consumed);
        auto const made = decoder.feed(std::string_view{buffer}.substr(decoded.consumed, bytes),
                                       buffer.data() + body);
        decoded.consumed += made.consumed;
        body += made.produced;
    }
    decoded.body = buffer.substr(0, body);
    decoded.fault = decoder.fault();
    decoded.done = decoder.done();
    return decoded;
}

}  // namespace

TEST_CASE("a chunked body is decoded in place, whatever the packets are", "[chunked]") {
    std::string const sent =
        "5\r\nhello\r\n1\r\n,\r\n00000006\r\n world\r\na\r\n0123456789\r\n"
        "B\r\nabcdefghijk\r\n0000\r\n\r\nGET";
    for (std::size_t step = 1; step <= sent.size(); ++step) {
        CAPTURE(step);
        Decoded const decoded = decode(sent, step);
        REQUIRE(decoded.done);
        REQUIRE(decoded.body == "hello, world0123456789abcdefghijk");
        REQUIRE(decoded.consumed == sent.size() - 3);  // the next request stays
    }
    CHECK(decode("0\r\n\r\n", 1).done);  // A25
    CHECK(decode("0\r\n\r\n", 1).body.empty());
}

TEST_CASE("anything but plain chunks is refused, whole and byte by byte", "[chunked]") {
    std::string const bad = GENERATE(
        as<std::string>{}, "0x5\r\nhello\r\n0\r\n\r\n", "+5\r\nhello", "-0\r\n\r\n", "\r\n\r\n",
        " 5\r\nhello", "5 \r\nhello", "10000000000000005\r\n", "ffffffffffffffff\r\n",
        "000000005\r\nhello", "0_5\r\nhello", "5;a=b\r\nhello", "5;\nxx\r\n", "5 ;a\r\nhello",
        "5;a=\"b\r\nhello", "5\nhello\n0\n\n", "5\r\nhelloX0\r\n\r\n", "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello\r0\r\n\r\n", "5\r\nhello\r\n0\r\nAuthorization: Bearer forged\r\n\r\n",
        "0\r\nHost: other\r\n\r\n", "0\r\n\rX", "0\r\n\n", "0\n", "g\r\n", "5\rhello");
    CAPTURE(bad);
    for (std::size_t const step : {std::size_t{1}, bad.size()}) {
        Decoded const decoded = decode(bad, step);
        CHECK(decoded.fault == Fault::framing);
        CHECK_FALSE(decoded.done);
    }
}

TEST_CASE("an extension is refused at its first byte, so none can fill the memory", "[chunked]") {
    Decoded const decoded = decode("5;a=" + std::string(1'000'000, 'x'), 1'000'004);
    CHECK(decoded.fault == Fault::framing);
    CHECK(decoded.consumed == 1);
}

TEST_CASE("a chunked body is bounded in bytes and in chunks", "[chunked]") {
    CHECK(decode("5\r\nhello\r\n0\r\n\r\n", 100, 5).done);
    CHECK(decode("5\r\nhello\r\n0\r\n\r\n", 100, 4).fault == Fault::body_too_large);
    CHECK(decode("3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", 1, 4).fault == Fault::body_too_large);
    CHECK(decode("ffffffff\r\n", 1).fault == Fault::body_too_large);
    std::string many;
    for (int i = 0; i < 1'024; ++i) many += "1\r\na\r\n";
    CHECK(decode(many + "0\r\n\r\n", 7).done);
    CHECK(decode(many + "1\r\na\r\n", 7).fault == Fault::framing);
}
