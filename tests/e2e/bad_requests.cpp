#include "tests/e2e/bad_requests.hpp"

namespace holdfast::test {

using namespace std::string_literals;

std::string line(std::string_view request_line, std::string_view fields) {
    return std::string{request_line} + "\r\nHost: t.example\r\n" + std::string{fields} + "\r\n";
}

namespace {

std::string head(std::string_view fields) {
    return "POST "s.append(night_claims).append(" HTTP/1.1\r\nHost: t.example\r\n") +
           "Content-Type: application/json\r\n" + std::string{fields} + "\r\n";
}
std::string const second = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
std::string const chunked = "Transfer-Encoding: chunked\r\n";

std::vector<BadRow> framing() {
    std::vector<BadRow> rows{
        {"A1", head("Content-Length: 6\r\n" + chunked) + "0\r\n\r\nG", "400 framing"},
        {"A2", head(chunked + "Content-Length: 6\r\n") + "0\r\n\r\nG", "400 framing"},
        {"A3", head("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n") + "hello", "400 framing"},
        {"A8",
         head("Transfer-Encoding: \xA0"
              "chunked\r\n") +
             "0\r\n\r\n",
         "400 framing"},
        {"A9",
         head("Transfer-Encoding: \x0B"
              "chunked\r\n") +
             "0\r\n\r\n",
         "400 header"},
        {"A10", head("Transfer-Encoding : chunked\r\n") + "0\r\n\r\n", "400 header"},
        {"A12",
         "POST "s.append(night_claims).append(" HTTP/1.0\r\nConnection: keep-alive\r\n") + chunked +
             "\r\n0\r\n\r\n",
         "400 framing"},
        {"A13", head(chunked) + "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n" + second,
         "422 one-of-seats-candidates-best-section 200"},
        {"A14", head("Content-Length: 5\r\nContent-Length: 6\r\n") + "hello!", "400 framing"},
        {"A15", head("Content-Length: 5\r\nContent-Length: 5\r\n") + "hello", "400 framing"},
        {"A15", head("Content-Length: 5, 5\r\n") + "hello", "400 framing"},
        {"A16", head("Content-Length: 18446744073709551615\r\n") + "hello",
         "413 content-too-large"},
        {"A17", head("Content-Length: 0000000000000000000005\r\n") + "hello", "400 framing"},
        {"A18", head("Content-Length:\r\n 5\r\n") + "hello", "400 framing"},
        {"A20", line("GET /healthz HTTP/1.1", "Content-Length: 5\r\n") + "hello" + second,
         "400 unexpected-body"},
        {"A22", head("Content-Length: 5\r\n") + "he", ""},
        {"A23", head(chunked) + "2\r\n{}\r\n0\r\nAuthorization: Bearer forged\r\n\r\n" + second,
         "400 framing"},
        {"A24", head(chunked) + "2\r\n{}\r\n0\r\nX-A: " + std::string(70'000, 'v') + "\r\n\r\n",
         "400 framing"},
        {"A25", head(chunked) + "0\r\n\r\n" + second, "400 malformed 200"},
    };
    for (std::string const value : {"gzip", "chunked, gzip", "identity"})
        rows.push_back({"A4-A6", head("Transfer-Encoding: " + value + "\r\n") + second,
                        "501 not-implemented"});
    for (std::string const value : {"xchunked", "chunkedx", "chunk", "\"chunked\""})
        rows.push_back({"A7", head("Transfer-Encoding: " + value + "\r\n") + "0\r\n\r\n",
                        "501 not-implemented"});
    for (std::string const value : {"+5", "-1", "0x5", "5 5", "", "18446744073709551616"})
        rows.push_back({"A16", head("Content-Length: " + value + "\r\n") + "hello", "400 framing"});
    return rows;
}

std::vector<BadRow> lines() {
    std::string const good = line("GET /healthz HTTP/1.1");
    return {
        {"A27", "GET / HTTP/1.1\r\n\r\n" + second, "400 bad-host"},
        {"A27", line("GET / HTTP/1.1", "Host: b\r\n"), "400 bad-host"},
        {"A27", "GET / HTTP/1.1\r\nHost: \r\n\r\n", "400 bad-host"},
        {"A27", "GET / HTTP/1.1\r\nHost: a b/c\r\n\r\n", "400 bad-host"},
        {"A29", line("GET http://evil/ HTTP/1.1"), "400 bad-host"},
        {"A29", line("CONNECT db:5432 HTTP/1.1"), "405 method-not-allowed"},
        {"A29", line("OPTIONS * HTTP/1.1"), "204"},
        {"A30", "GET / HTTP/1.1\nHost: a\n\n", "400 line-ending"},
        {"A30", "GET / HTTP/1.1\rHost: a\r\r", "400 line-ending"},
        {"A31", "\r\n" + good, "200"},
        {"A31", " " + good, "400 request-line"},
        {"A31", line("GET  / HTTP/1.1"), "400 target"},
        {"A31", line("GET\t/\tHTTP/1.1"), "400 request-line"},
        {"A32", line("GET /a\0b HTTP/1.1"s), "400 target"},
        {"A32", line("GET /\xFF HTTP/1.1"), "400 target"},
        {"A32", line("GET /a b HTTP/1.1"), "400 request-line"},
        {"A32", line("GET /a#b HTTP/1.1"), "400 target"},
        {"A32", line("GET /" + std::string(10'000, 'a') + " HTTP/1.1"), "414 uri-too-long"},
        {"A34", "GET /\r\n\r\n", "400 request-line"},
        {"A34", line("GET / HTTP/0.9"), "505 http-version-not-supported"},
        {"A34", line("GET / HTTP/1.2"), "505 http-version-not-supported"},
        {"A34", line("GET / HTTP/2.0"), "505 http-version-not-supported"},
        {"A34", line("GET / http/1.1"), "400 request-line"},
        {"A34", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400 target"},
        {"A34", "\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03"s + std::string(64, '\0'),
         "400 request-line"},
        {"A54", line("GET /static/../../etc/passwd HTTP/1.1"), "404 not-found"},
        {"A54", line("GET /docs/%2e%2e%2fetc HTTP/1.1"), "404 not-found"},
        {"A54", line("GET /docs/%252e/a HTTP/1.1"), "404 not-found"},
        {"A54", line("GET //docs HTTP/1.1"), "404 not-found"},
        {"A54", line("GET /docs;x HTTP/1.1"), "404 not-found"},
        {"A54", line("GET /docs\\x HTTP/1.1"), "404 not-found"},
        {"A54", line("GET /docs/%00 HTTP/1.1"), "400 target"},
        {"A54", line("GET /docs/%zz HTTP/1.1"), "400 target"},
    };
}

std::vector<BadRow> fields() {
    std::string const get = "GET /healthz HTTP/1.1";
    std::string many;
    for (int i = 0; i < 64; ++i) many += "A" + std::to_string(i) + ": 1\r\n";
    std::string more;
    for (int i = 0; i < 1'000; ++i) more += "A" + std::to_string(i) + ": 1\r\n";
    std::string const too_large = "431 request-header-fields-too-large";
    return {
        {"A35",
         line(get, "X: " + std::string(8'100, 'a') + "\r\nY: " + std::string(8'100, 'a') +
                       "\r\nZ: " + std::string(200, 'a') + "\r\n"),
         too_large},
        {"A35", line(get, many), too_large},
        {"A35", line(get, more), too_large},
        {"A35", line(get, "X: " + std::string(9'000, 'a') + "\r\n"), too_large},
        {"A35",
         line(get, "Cookie: " + std::string(2'500, 'a') + "\r\nCookie: " + std::string(2'500, 'b') +
                       "\r\n"),
         too_large},
        {"A36", line(get, ": v\r\n"), "400 header"},
        {"A36", line(get, "abc\r\n"), "400 line-ending"},
        {"A36", line(get, "X: a\0b\r\n"s), "400 header"},
        {"A36", line(get, "X: a\rb\r\n"), "400 line-ending"},
        {"A36", line(get, "X: a\nContent-Length: 3\r\n"), "400 line-ending"},
        {"A36", get + "\r\n Host: a\r\n\r\n", "400 header"},
        {"A38", line(get, "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"),
         "400 duplicate-header"},
        {"A38", line(get, "Idempotency-Key: a\r\nIdempotency-Key: b\r\n"), "400 duplicate-header"},
        {"A38", line(get, "Content-Type: a\r\nContent-Type: a\r\n"), "400 duplicate-header"},
        {"A39", line(get, "Connection: close, authorization\r\nAuthorization: Bearer a\r\n"),
         "200"},
        {"A40", head("Expect: 200-maybe\r\nContent-Length: 2\r\n") + "{}",
         "417 expectation-failed"},
        {"A40", head("Expect: 100-continue\r\nContent-Length: 70000\r\n"), "413 content-too-large"},
        {"A41",
         line(get,
              "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
              "HTTP2-Settings: AAA\r\n"),
         "200"},
        {"A42", second + second + second + second + second, "200 200 200 200 200"},
        {"A53",
         line("GET /v1/events/night HTTP/1.1", "Accept: text/html\r\nAccept-Encoding: gzip\r\n"),
         "200"},
        {"A56", line("GET /healthz HTTP/1.1", "X-HTTP-Method-Override: DELETE\r\n"), "200"},
        {"A57", line("GET /healthz HTTP/1.1", "X-Forwarded-For: 1.2.3.4\r\n"), "200"},
        {"B17",
         "POST "s.append(night_claims)
             .append(" HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n{}"),
         "415 unsupported-media-type"},
    };
}

}  // namespace

std::vector<BadRow> bad_requests() {
    std::vector<BadRow> all = framing();
    for (auto const& part : {lines(), fields()}) all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace holdfast::test
