#include "api/reference_calls.hpp"

#include <boost/json/value.hpp>

namespace holdfast::api {
namespace {

namespace json = boost::json;

/// Where the public listener is by default. The document names it relative to itself; a shell
/// cannot.
constexpr std::string_view public_origin = "http://localhost:8080";

std::string with_examples(ReferenceDocument const& document, std::string path) {
    for (auto const& [key, parameter] : document.components("parameters")) {
        std::string const mark = "{" + std::string(std::string_view(key)) + "}";
        if (std::size_t const at = path.find(mark); at != std::string::npos)
            path.replace(at, mark.size(), text_of(parameter.as_object(), "example"));
    }
    return path;
}

/// Whether the answer goes on and on, and curl must not keep it back.
bool streams(json::object const& request) {
    auto const* const good = request.at("responses").as_object().if_contains("200");
    auto const* const content =
        good != nullptr ? good->as_object().if_contains("content") : nullptr;
    return content != nullptr && content->as_object().contains("text/event-stream");
}

}  // namespace

std::string_view call_credentials(json::object const& request, json::object const* example) {
    std::string_view const own =
        example != nullptr ? text_of(*example, "x-credentials") : std::string_view{};
    if (!own.empty()) return own;
    json::object const& way = request.at("security").as_array().front().as_object();
    return way.empty() ? std::string_view{} : std::string_view(way.begin()->key());
}

std::string curl_line(ReferenceDocument const& document, ReferenceCall const& call) {
    std::string line = streams(call.request) ? "curl -N " : "curl ";
    if (call.method != "GET") line.append("-X ").append(call.method).append(" ");
    auto const* const own = call.request.if_contains("servers");
    line.append(own != nullptr ? text_of(own->as_array().front().as_object(), "url")
                               : public_origin);
    line += with_examples(document, std::string(call.path));
    std::string_view const credentials = call_credentials(call.request, call.example);
    if (credentials == "hold") line += " \\\n  -H \"authorization: Hold $token\"";
    if (credentials == "operator") line += " \\\n  -H \"authorization: Bearer $operator_token\"";
    if (call.example != nullptr) {
        line += " \\\n  -H 'content-type: application/json' -d '";
        append_pretty(line, call.example->at("value"));
        line += '\'';
    }
    return line;
}

}  // namespace holdfast::api
