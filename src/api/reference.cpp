#include "api/reference.hpp"

#include "api/conditional_reply.hpp"
#include "api/reference_page.hpp"

#include <array>
#include <openssl/evp.h>
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

/// What the routes answer, and under which names.
struct Reference {
    std::string document_tag = entity_tag(openapi_document());
    std::string page = reference_page(openapi_document());
    std::string page_tag = entity_tag(page);
    std::string policy = page_policy();
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
}

}  // namespace holdfast::api
