// Conditional replies: who has the bytes already, and how they are sent to whom has not.
#include "api/conditional_reply.hpp"

#include <holdfast/domain/limits.hpp>

#include <catch2/catch.hpp>
#include <vector>

namespace holdfast::test {
namespace {

using http::Field;
using http::Reply;
using http::Request;

constexpr std::string_view brief_cache = "public, max-age=1";

struct AskedWith {
    explicit AskedWith(std::vector<Field> lines) : fields(std::move(lines)) {
        request.fields = fields;
    }
    AskedWith(AskedWith const&) = delete;
    AskedWith& operator=(AskedWith const&) = delete;
    std::vector<Field> fields;
    Request request;
};

/// The status of constant bytes with the tag "a" for a request with these lines.
unsigned status_of_lines(std::vector<Field> lines) {
    AskedWith const asked(std::move(lines));
    Reply reply;
    api::answer_constant(asked.request, reply, {"bytes", "\"a\""}, brief_cache);
    CHECK(reply.headers == "ETag: \"a\"\r\nCache-Control: public, max-age=1\r\n");
    CHECK(reply.content() == (reply.status == 304 ? "" : "bytes"));
    return reply.status;
}

}  // namespace

TEST_CASE("who has the bytes is told so, however the tag is written", "[conditional]") {
    CHECK(status_of_lines({}) == 200);
    CHECK(status_of_lines({{"If-None-Match", "\"a\""}}) == 304);
    CHECK(status_of_lines({{"if-NONE-match", "\"a\""}}) == 304);
    CHECK(status_of_lines({{"If-None-Match", "W/\"a\""}}) == 304);  // the comparison is a weak one
    CHECK(status_of_lines({{"If-None-Match", "*"}}) == 304);
    CHECK(status_of_lines({{"If-None-Match", "\"b\" ,\t\"a\""}}) == 304);
    CHECK(status_of_lines({{"If-None-Match", "\"b\""}, {"If-None-Match", "\"a\""}}) == 304);
    CHECK(status_of_lines({{"If-None-Match", "\"b\""}}) == 200);
    CHECK(status_of_lines({{"If-None-Match", "a"}}) == 200);
    CHECK(status_of_lines({{"If-None-Match", ""}}) == 200);
    CHECK(status_of_lines({{"If-None-Match", ",,"}}) == 200);
    for (auto const* const other : {"If-Match", "If_None_Match", "If\rNone\rMatch", "X"})
        CHECK(status_of_lines({{other, "\"a\""}}) == 200);
}

TEST_CASE("few bytes are copied, many are shared, and 304 has none", "[conditional]") {
    for (std::size_t const size :
         {limits::body_bytes_apart_min - 1, limits::body_bytes_apart_min}) {
        auto const bytes = std::make_shared<api::TaggedBytes const>(
            api::TaggedBytes{std::string(size, 'x'), "\"t\""});
        Reply reply;
        api::answer_conditional(Request{}, reply, bytes, brief_cache);
        CHECK(reply.status == 200);
        CHECK(reply.content() == bytes->body);
        bool const shares = size >= limits::body_bytes_apart_min;
        CHECK((reply.shared_body.get() == &bytes->body) == shares);
        CHECK(bytes.use_count() == (shares ? 2 : 1));
        AskedWith const known(std::vector<Field>{{"If-None-Match", "\"t\""}});
        reply.reset();
        api::answer_conditional(known.request, reply, bytes, brief_cache);
        CHECK(reply.status == 304);
        CHECK(reply.content().empty());
        CHECK(bytes.use_count() == 1);
    }
}

TEST_CASE("a reply that was made has a tag of its bytes", "[conditional]") {
    Reply reply;
    reply.body = "document";
    api::make_conditional(Request{}, reply, brief_cache);
    CHECK(reply.body == "document");
    std::string const tag = api::entity_tag("document");
    CHECK(reply.headers.find("ETag: " + tag + "\r\n") == 0);
    CHECK(tag == api::entity_tag(std::string("docu") + "ment"));
    CHECK(tag != api::entity_tag("documents"));
    CHECK(tag.size() == 18);
    AskedWith const known(std::vector<Field>{{"If-None-Match", tag}});
    Reply again;
    again.body = "document";
    api::make_conditional(known.request, again, brief_cache);
    CHECK(again.status == 304);
    CHECK(again.body.empty());
}

}  // namespace holdfast::test
