#include "http/reply_writer.hpp"

#include <holdfast/http/problem.hpp>

#include <catch2/catch.hpp>

using namespace holdfast;
using namespace holdfast::http;
using namespace std::chrono;

namespace {

TimePoint at(seconds since_1970) {
    return TimePoint{Milliseconds{since_1970}};
}

}  // namespace

TEST_CASE("a reply is written with every header it must have", "[writer]") {
    ReplyWriter writer{at(784'111'777s)};
    Reply reply;
    reply.status = 201;
    reply.body = "{}";
    reply.add_header("Location", "/v1/holds/h_1");
    std::string out;
    writer.append(out, reply, ReplyStyle{false, false, "id-1"});
    CHECK(out ==
          "HTTP/1.1 201 Created\r\nServer: holdfast\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
          "X-Content-Type-Options: nosniff\r\nX-Request-Id: id-1\r\n"
          "Content-Type: application/json\r\nContent-Length: 2\r\nCache-Control: no-store\r\n"
          "Location: /v1/holds/h_1\r\n\r\n{}");
}

TEST_CASE("HEAD, 204 and 304 have no body; a handler's Cache-Control stands alone", "[writer]") {
    ReplyWriter writer{at(0s)};
    Reply reply;
    reply.body = "12345";
    reply.add_header("ETag", "\"1\"");
    reply.add_header("cache-control", "public, max-age=60");
    std::string head;
    writer.append(head, reply, ReplyStyle{true, true, "x"});
    CHECK(head.find("Content-Length: 5\r\n") != std::string::npos);
    CHECK(head.find("no-store") == std::string::npos);
    CHECK(head.find("Connection: close\r\n") != std::string::npos);
    CHECK(head.ends_with("\r\n\r\n"));
    for (unsigned const status : {204U, 304U}) {
        reply.status = status;
        std::string out;
        writer.append(out, reply, ReplyStyle{false, false, "x"});
        CHECK(out.find("\r\nContent-") == std::string::npos);
        CHECK(out.ends_with("\r\n\r\n"));
    }
}

TEST_CASE("constant bytes are sent instead of the body, and not with a problem", "[writer]") {
    ReplyWriter writer{at(0s)};
    Reply reply;
    reply.body = "12345";
    reply.constant_body = "constant";
    std::string out;
    writer.append(out, reply, ReplyStyle{});
    CHECK(out.find("Content-Length: 8\r\n") != std::string::npos);
    CHECK(out.ends_with("\r\n\r\nconstant"));
    Problem problem;
    problem.status = 404;
    problem.slug = "not-found";
    write_problem(reply, Request{}, problem);
    out.clear();
    writer.append(out, reply, ReplyStyle{});
    CHECK(out.find("constant") == std::string::npos);
    CHECK(out.ends_with("}"));
}

TEST_CASE("the date moves with the second", "[writer]") {
    ReplyWriter writer{at(0s)};
    auto const date = [&] {
        std::string out;
        writer.append(out, Reply{}, ReplyStyle{});
        std::size_t const begin = out.find("Date: ") + 6;
        return out.substr(begin, out.find("\r\n", begin) - begin);
    };
    CHECK(date() == "Thu, 01 Jan 1970 00:00:00 GMT");
    writer.set_date(at(951'827'696s) + Milliseconds{999});
    CHECK(date() == "Tue, 29 Feb 2000 12:34:56 GMT");
    writer.set_date(at(1'798'761'599s));
    CHECK(date() == "Thu, 31 Dec 2026 23:59:59 GMT");
}

TEST_CASE("every status the server or API.md uses has its phrase", "[writer]") {
    for (unsigned const status :
         {200U, 201U, 202U, 204U, 304U, 400U, 401U, 402U, 403U, 404U, 405U, 408U, 409U,
          410U, 413U, 414U, 415U, 417U, 421U, 422U, 429U, 431U, 500U, 501U, 503U, 505U}) {
        CAPTURE(status);
        CHECK(reason_phrase(status) != "Unknown");
    }
}

TEST_CASE("a page is framed by nobody, and keeps a policy of its own", "[writer]") {
    ReplyWriter writer{at(0s)};
    Reply reply;
    reply.content_type = "text/html; charset=utf-8";
    reply.body = "<p>";
    std::string out;
    writer.append(out, reply, ReplyStyle{});
    CHECK(out.find("\r\nReferrer-Policy: no-referrer\r\n") != out.npos);
    CHECK(out.find("\r\nX-Frame-Options: DENY\r\n") != out.npos);
    CHECK(out.find("\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n") !=
          out.npos);
    reply.add_header("Content-Security-Policy", "default-src 'self'");
    out.clear();
    writer.append(out, reply, ReplyStyle{});
    CHECK(out.find("\r\nContent-Security-Policy: default-src 'self'\r\n") != out.npos);
    CHECK(out.find("default-src 'none'") == out.npos);
    CHECK(out.find("Strict-Transport-Security") == out.npos);
}

TEST_CASE("with TLS every reply says for how long to stay with it", "[writer]") {
    ReplyWriter writer{at(0s), 60};
    std::string out;
    writer.append(out, Reply{}, ReplyStyle{false, false, "x", "\r\nVary: Origin"});
    CHECK(out.find("\r\nStrict-Transport-Security: max-age=60\r\n") != out.npos);
    CHECK(out.find("\r\nVary: Origin\r\n") != out.npos);
    CHECK(out.ends_with("\r\n\r\n"));
}
