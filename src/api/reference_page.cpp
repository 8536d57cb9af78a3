#include "api/reference_page.hpp"

#include "api/html_text.hpp"
#include "api/reference_calls.hpp"
#include "api/reference_document.hpp"
#include "api/schema_tables.hpp"

#include <algorithm>
#include <cctype>

namespace holdfast::api {

namespace embedded {
extern std::string_view const reference_css;  // from reference.css, at build time
}  // namespace embedded

namespace {

namespace json = boost::json;

std::string upper(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return out;
}

class Page {
public:
    explicit Page(std::string_view document) : document_(document) {}

    std::string write() {
        json::object const& info = document_.root().at("info").as_object();
        std::string const title =
            std::string(text_of(info, "title")) + " " + std::string(text_of(info, "version"));
        out_ =
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\"><title>";
        append_escaped(out_, title);
        out_.append("</title><style>").append(reference_style());
        out_ += "</style></head><body>\n<main><h1>";
        append_escaped(out_, title);
        out_ += "</h1>\n<p>";
        append_line(out_, text_of(info, "summary"));
        out_ += " This page is made from <a href=\"/openapi.json\">openapi.json</a>.</p>\n";
        append_prose(out_, text_of(info, "description"));
        contents();
        credentials();
        for (json::value const& tag : document_.root().at("tags").as_array())
            requests_of(tag.as_object());
        schemas("Forms of bodies and answers", false);
        schemas("Problems", true);
        out_ += "</main></body></html>\n";
        return std::move(out_);
    }

private:
    template <class Visit>
    void each_request(std::string_view tag, Visit visit) {
        for (auto const& [path, item] : document_.root().at("paths").as_object()) {
            for (auto const& [method, request] : item.as_object()) {
                if (!request.is_object()) continue;
                json::object const& described = request.get_object();
                if (std::string_view(described.at("tags").as_array().front().as_string()) != tag)
                    continue;
                visit(upper(method), std::string(path), described, item.as_object());
            }
        }
    }

    void contents() {
        out_ += "<nav aria-label=\"Requests\"><ul>\n";
        for (json::value const& tag : document_.root().at("tags").as_array()) {
            each_request(text_of(tag.as_object(), "name"),
                         [this](std::string const& method, std::string const& path,
                                json::object const& request, json::object const&) {
                             out_ += "<li>";
                             append_link(out_, text_of(request, "operationId"),
                                         method + " " + path);
                             out_ += "</li>\n";
                         });
        }
        out_ +=
            "<li><a href=\"#forms\">Forms of bodies and answers</a></li>"
            "<li><a href=\"#problems\">Problems</a></li></ul></nav>\n";
    }

    void credentials() {
        out_ += "<h2>Credentials</h2>\n<dl>";
        for (auto const& [name, scheme] : document_.components("securitySchemes")) {
            out_ += "<dt>";
            append_code(out_, name);
            out_ += "</dt><dd>";
            append_line(out_, text_of(scheme.as_object(), "description"));
            out_ += "</dd>";
        }
        out_ += "</dl>\n";
    }

    void requests_of(json::object const& tag) {
        std::string_view const name = text_of(tag, "name");
        out_ += "<h2>";
        append_escaped(out_, name);
        out_ += "</h2>\n";
        append_prose(out_, text_of(tag, "description"));
        each_request(name, [this](auto const&... parts) { request(parts...); });
    }

    void request(std::string const& method, std::string const& path, json::object const& request,
                 json::object const& item) {
        section(text_of(request, "operationId"));
        out_ += "<span class=\"method\">";
        append_escaped(out_, method);
        out_ += "</span> ";
        append_escaped(out_, path);
        out_ += "</h3>\n<p><strong>";
        append_line(out_, text_of(request, "summary"));
        out_ += "</strong></p>\n";
        append_prose(out_, text_of(request, "description"));
        who(request);
        parameters(request, item);
        body_and_calls(method, path, request);
        answers(request.at("responses").as_object());
        out_ += "</section>\n";
    }

    /// Up to the text of its heading.
    void section(std::string_view id) {
        out_ += "<section><h3 id=\"";
        append_escaped(out_, id);
        out_ += "\">";
    }

    void who(json::object const& request) {
        out_ += "<p class=\"quiet\">Who: ";
        bool first = true;
        for (json::value const& way : request.at("security").as_array()) {
            if (!first) out_ += ", ";
            first = false;
            if (way.as_object().empty()) {
                out_ += "anyone";
            } else {
                append_code(out_, way.as_object().begin()->key());
            }
        }
        if (auto const* const servers = request.if_contains("servers")) {
            out_ += ". Where: ";
            append_line(out_, text_of(servers->as_array().front().as_object(), "description"));
        }
        out_ += "</p>\n";
    }

    void parameters(json::object const& request, json::object const& item) {
        out_ +=
            "<table><thead><tr><th>parameter</th><th>in</th><th>what</th><th></th></tr></thead>"
            "<tbody>\n";
        for (json::object const* const owner : {&item, &request}) {
            auto const* const list = owner->if_contains("parameters");
            if (list == nullptr) continue;
            for (json::value const& given : list->get_array()) {
                json::object const& parameter = document_.resolve(given);
                out_ += "<tr><td>";
                append_code(out_, text_of(parameter, "name"));
                out_ += "</td><td>";
                append_escaped(out_, text_of(parameter, "in"));
                out_ += "</td><td>";
                append_type(out_, parameter.at("schema").as_object());
                out_ += "</td><td>";
                append_line(out_, text_of(parameter, "description"));
                out_ += "</td></tr>\n";
            }
        }
        out_ += "</tbody></table>\n";
    }

    void body_and_calls(std::string const& method, std::string const& path,
                        json::object const& request) {
        auto const* const body = child(request, "requestBody");
        if (body == nullptr) return block(curl_line(document_, {method, path, request}));
        json::object const& media =
            body->at("content").as_object().at("application/json").as_object();
        out_ += "<p>Body: ";
        append_type(out_, media.at("schema").as_object());
        out_ += ". ";
        append_line(out_, text_of(*body, "description"));
        out_ += "</p>\n";
        for (auto const& [name, example] : media.at("examples").as_object()) {
            out_ += "<p>";
            append_line(out_, text_of(example.as_object(), "summary"));
            out_ += ":</p>\n";
            block(curl_line(document_, {method, path, request, &example.as_object()}));
        }
    }

    void block(json::value const& example) {
        std::string text;
        append_pretty(text, example);
        block(text);
    }
    /// One click marks it all.
    void block(std::string const& text) {
        out_ += "<pre tabindex=\"0\">";
        append_escaped(out_, text);
        out_ += "</pre>\n";
    }

    void answers(json::object const& responses) {
        out_ += "<table><thead><tr><th>answer</th><th></th><th>headers</th></tr></thead><tbody>\n";
        for (auto const& [status, given] : responses) {
            json::object const& response = document_.resolve(given);
            out_ += "<tr><td>";
            append_code(out_, status);
            out_ += "</td><td>";
            answer(response);
            out_ += "</td><td>";
            auto const* const headers = child(response, "headers");
            for (auto const& header : headers != nullptr ? *headers : json::object{}) {
                append_code(out_, header.key());
                out_ += ' ';
            }
            out_ += "</td></tr>\n";
        }
        out_ += "</tbody></table>\n";
    }

    /// Problems are told by their links; other answers by what they say and their form.
    void answer(json::object const& response) {
        auto const* const content = child(response, "content");
        if (content == nullptr) return append_line(out_, text_of(response, "description"));
        auto const& [type, media] = *content->begin();
        if (std::string_view(type) != "application/problem+json") {
            append_line(out_, text_of(response, "description"));
            out_ += ' ';
        }
        append_type(out_, media.as_object().at("schema").as_object());
        if (auto const* const example = media.as_object().if_contains("example")) block(*example);
    }

    void schemas(std::string_view title, bool problems) {
        out_ += problems ? "<h2 id=\"problems\">" : "<h2 id=\"forms\">";
        append_escaped(out_, title);
        out_ += "</h2>\n";
        for (auto const& [key, value] : document_.components("schemas")) {
            std::string_view const name = key;
            if (name.starts_with(problem_prefix) != problems) continue;
            json::object const& schema = value.as_object();
            section(schema_id(name));
            append_escaped(out_, problems ? name.substr(problem_prefix.size()) : name);
            out_ += "</h3>\n";
            append_prose(out_, text_of(schema, "description"));
            if (!problems && !schema.contains("properties") && !schema.contains("oneOf")) {
                out_ += "<p>";
                append_type(out_, schema);
                out_ += "</p>\n";
            }
            append_members_table(out_, schema);
            if (auto const* const examples = schema.if_contains("examples"))
                block(examples->get_array().front());
            out_ += "</section>\n";
        }
    }

    ReferenceDocument document_;
    std::string out_;
};

}  // namespace

std::string reference_page(std::string_view document) {
    return Page(document).write();
}

std::string_view reference_style() noexcept {
    return embedded::reference_css;
}

}  // namespace holdfast::api
