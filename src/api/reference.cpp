#include "api/reference.hpp"

#include "api/conditional_reply.hpp"
#include "api/problems.hpp"
#include "api/reference_page.hpp"
#include "api/schema_tables.hpp"

#include <array>
#include <boost/json/parse.hpp>
#include <openssl/evp.h>
#include <set>
#include <string>

namespace holdfast::api {

namespace embedded {
extern std::string_view const openapi_json;  // from openapi.json, at build time
}  // namespace embedded

namespace {

using http::Reply;
using http::Request;

/// A new version of the server may answer something else at once.
constexpr std::string_view ask_always = "no-cache";

/// The page may use its own style and nothing else: no script, no picture, no other host.
std::string page_policy() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned int size = 0;
    std::string_view const style = reference_style();
    EVP_Digest(style.data(), style.size(), hash.data(), &size, EVP_sha256(), nullptr);
    std::array<unsigned char, EVP_MAX_MD_SIZE * 2> base64{};
    int const length = EVP_EncodeBlock(base64.data(), hash.data(), static_cast<int>(size));
    std::string policy = "default-src 'none'; style-src 'sha256-";
    policy.append(base64.begin(), base64.begin() + length);
    return policy + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

/// The codes of all problems.
std::set<std::string, std::less<>> problem_codes() {
    auto const document = boost::json::parse(openapi_document());
    std::set<std::string, std::less<>> codes;
    for (auto const& schema : document.at("components").at("schemas").as_object()) {
        std::string_view const name = schema.key();
        if (name.starts_with(problem_prefix)) codes.emplace(name.substr(problem_prefix.size()));
    }
    return codes;
}

/// What the routes answer, and under which names.
struct Reference {
    std::string document_tag = entity_tag(openapi_document());
    std::string page = reference_page(openapi_document());
    std::string page_tag = entity_tag(page);
    std::string policy = page_policy();
    std::set<std::string, std::less<>> problems = problem_codes();
};

Reference const& reference() {
    static Reference const made{};
    return made;
}

void answer_document(Request const& request, Reply& reply) {
    answer_constant(request, reply, {openapi_document(), reference().document_tag}, ask_always);
}

void answer_page(Request const& request, Reply& reply) {
    reply.content_type = "text/html; charset=utf-8";
    reply.add_header("Content-Security-Policy", reference().policy);
    answer_constant(request, reply, {reference().page, reference().page_tag}, ask_always);
}

/// The `type` of a problem leads here (RFC 9457, 3.1.1).
void answer_problem(Request const& request, Reply& reply) {
    std::string_view const code = request.parameters[0];
    if (!reference().problems.contains(code)) return write_not_found(reply, request);
    reply.status = 302;
    reply.add_header("Location", "/docs#" + schema_id(std::string(problem_prefix).append(code)));
}

}  // namespace

std::string_view openapi_document() noexcept {
    return embedded::openapi_json;
}

void add_reference_routes(std::vector<http::Route>& routes) {
    using http::Method;
    using http::RunsOn;
    static_cast<void>(reference());  // made now, not by an io thread
    routes.push_back({Method::get, "/openapi.json", RunsOn::io, answer_document,
                      "This interface as an OpenAPI 3.1 document", 0});
    routes.push_back(
        {Method::get, "/docs", RunsOn::io, answer_page, "The same document as a page", 0});
    routes.push_back({Method::get, "/problems/{code}", RunsOn::io, answer_problem,
                      "Where the page tells of a problem", 0});
}

}  // namespace holdfast::api
