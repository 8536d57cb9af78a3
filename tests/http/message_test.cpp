#include <holdfast/http/message.hpp>

#include <catch2/catch.hpp>
#include <vector>

using namespace holdfast;
using namespace holdfast::http;

TEST_CASE("a field is found by its name in any letter case, the first one of several") {
    std::vector<Field> const fields{{"Host", "a"}, {"X-Id", "1"}, {"x-id", "2"}};
    Request request;
    request.fields = fields;
    CHECK(request.field("host") == "a");
    CHECK(request.field("X-ID") == "1");
    CHECK(request.field("X-I").empty());
    CHECK(request.field("").empty());
}

TEST_CASE("a field has a name in any letter case") {
    Field const field{"If-None-Match", "x"};
    CHECK(field.is("if-none-match"));
    CHECK(field.is("IF-NONE-MATCH"));
    CHECK_FALSE(field.is("If-None_Match"));
    CHECK_FALSE(field.is("If\rNone-Match"));  // differs from `-` in one bit
    CHECK_FALSE(field.is("If-None-Matc"));
    CHECK_FALSE(Field{}.is("x"));
}

TEST_CASE("a query value is found by its whole key, and is percent-decoded") {
    Request request;
    request.query = "ab=1&a=2&flag&c=x%20y&a=3&d=&e=1=2&f=%30%7A%7a%2B+&g=%&h=%4&i=%4g%00x&%61=4";
    CHECK(request.query_value("f") == "0zz++");
    CHECK(request.query_value("g") == "%");  // no escape
    CHECK(request.query_value("h") == "%4");
    CHECK(request.query_value("i") == std::string{"%4g\0x", 5});
    CHECK(request.query_value("a") == "2");
    CHECK(request.query_value("ab") == "1");
    CHECK(request.query_value("flag").empty());
    CHECK(request.query_value("c") == "x y");
    CHECK(request.query_value("d").empty());
    CHECK(request.query_value("e") == "1=2");
    CHECK(request.query_value("b").empty());
    request.query = "&&=&";
    CHECK(request.query_value("a").empty());
}

TEST_CASE("a reset reply is a fresh 200 that keeps its capacity") {
    Reply reply;
    reply.status = 409;
    reply.content_type = "text/plain";
    reply.body.assign(5'000, 'x');
    reply.constant_body = "constant";
    CHECK(reply.content() == "constant");
    reply.add_header("ETag", "\"1\"");
    reply.lsn = Lsn{7};
    reply.close = true;
    CHECK(reply.headers == "ETag: \"1\"\r\n");
    std::size_t const capacity = reply.body.capacity();
    reply.reset();
    CHECK(reply.status == 200);
    CHECK(reply.content_type == "application/json");
    CHECK(reply.content().empty());
    CHECK(reply.body.capacity() == capacity);
    CHECK(reply.headers.empty());
    CHECK(reply.lsn == no_lsn);
    CHECK_FALSE(reply.close);
}

TEST_CASE("every method but `other` has the name it is sent with") {
    CHECK(to_string(Method::del) == "DELETE");
    CHECK(to_string(Method::get) == "GET");
    CHECK(to_string(Method::options) == "OPTIONS");
}
