// Every code in openapi.json is one that the sources write, and the other way round; and each
// stands under its own status.
#include "api/schema_tables.hpp"
#include "api/times.hpp"
#include "tests/api/openapi_document.hpp"
#include "tests/api/source_words.hpp"

#include <regex>

namespace holdfast::test {
namespace {

namespace json = boost::json;

SourceWords words_of_enum(std::string_view schema) {
    SourceWords words;
    for (json::value const& word : component("schemas", schema).at("enum").as_array())
        CHECK(words.emplace(word.as_string()).second);
    return words;
}

/// The words in quotes of a statement that could be codes: no paths, no names of members.
void add_codes(std::string const& statement, SourceWords& codes) {
    static std::regex const asked(R"re((pointer_to|find)\("[^"]*"\))re");
    static std::regex const code(R"re("([a-z]+(?:-[a-z]+)*)")re");
    std::string const text = std::regex_replace(statement, asked, "");
    for (std::sregex_iterator at(text.begin(), text.end(), code), end; at != end; ++at)
        codes.insert((*at)[1].str());
}

struct InputCodes {
    SourceWords malformed;  // 400
    SourceWords wrong;      // 422
};

/// What api's sources, and the server before them, say of a request that is not accepted.
InputCodes written_codes() {
    InputCodes codes;
    for (auto const& [file, text] : sources_of("api")) {
        for (std::string_view const call : {"fail(", "InputError{", "error_at("}) {
            for (std::string const& statement : parts_between(text, call, ";")) {
                bool const in_reader = file == "json_handler.hpp";
                bool const malformed = in_reader || statement.starts_with("400");
                add_codes(statement, malformed ? codes.malformed : codes.wrong);
            }
        }
    }
    for (auto const& [file, text] : sources_of("http"))
        for (std::string const& fault : parts_between(text, "malformed(Fault::", ",\n"))
            add_codes(fault.substr(0, fault.find('"', fault.find('"') + 1) + 1), codes.malformed);
    using api::TimeError;
    for (TimeError const error : {TimeError::format, TimeError::no_such_time, TimeError::ambiguous,
                                  TimeError::wrong_offset})
        codes.wrong.emplace(to_string(error));
    return codes;
}

struct LintCodes {
    SourceWords errors;
    SourceWords warnings;
};

LintCodes written_lint_codes() {
    LintCodes codes;
    auto const add_first = [](std::string const& text, char const* call, SourceWords& to) {
        std::regex const pattern(std::string(call) + "\\(\\s*\"([^\"]*)\"");
        for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
            to.insert((*at)[1].str());
    };
    for (auto const& [file, text] : sources_of("services")) {
        add_first(text, R"re((?:lint_?\.error|refuse))re", codes.errors);
        add_first(text, R"re(\bwarning)re", codes.warnings);
        for (std::string const& chosen : parts_between(text, "auto const code = ", ";"))
            add_codes(chosen, codes.errors);
        for (std::string const& table : parts_between(text, "code_of(LayoutError::Kind", "\n}"))
            add_codes(table, codes.errors);
    }
    return codes;
}

/// The problems that a response of the document may be.
std::vector<json::object const*> problems_of(json::object const& response) {
    std::vector<json::object const*> problems;
    auto const* const content = response.if_contains("content");
    auto const* const media =
        content == nullptr ? nullptr : content->as_object().if_contains("application/problem+json");
    if (media == nullptr) return problems;
    json::object const& schema = media->at("schema").as_object();
    auto const* const some = schema.if_contains("oneOf");
    for (json::value const& one : some != nullptr ? some->as_array() : json::array{schema}) {
        REQUIRE(one.as_object().contains("$ref"));
        problems.push_back(&schemas().resolve(one));
    }
    CHECK_FALSE(problems.empty());
    return problems;
}

std::string code_of_problem(json::object const& problem) {
    return std::string(problem.at("properties").at("code").at("const").as_string());
}

}  // namespace

TEST_CASE("the document has every code of an input error and no other", "[reference]") {
    InputCodes const codes = written_codes();
    CHECK(codes.malformed == words_of_enum("MalformedCode"));
    CHECK(codes.wrong == words_of_enum("ValidationCode"));
    for (char const* const name : {"MalformedCode", "ValidationCode"}) {
        std::string const prose(component("schemas", name).at("description").as_string());
        for (std::string const& code : words_of_enum(name)) {
            CAPTURE(code);
            CHECK(prose.find("`" + code + "`") != std::string::npos);
        }
    }
}

TEST_CASE("the document has every code of the lint report and no other", "[reference]") {
    LintCodes const codes = written_lint_codes();
    SourceWords all = codes.errors;
    all.insert(codes.warnings.begin(), codes.warnings.end());
    CHECK(all == words_of_enum("LintCode"));
    // "Only ever warnings: `a`, `b`. Errors or warnings …: `c`. All others are errors."
    std::string const prose(component("schemas", "LintCode").at("description").as_string());
    auto const marked = [](std::string const& text) {
        SourceWords words;
        for (std::size_t at = 0; (at = text.find('`', at)) != std::string::npos;) {
            std::size_t const end = text.find('`', at + 1);
            words.insert(text.substr(at + 1, end - at - 1));
            at = end + 1;
        }
        return words;
    };
    std::size_t const second = prose.find("Errors or warnings");
    REQUIRE(second != std::string::npos);
    SourceWords warnings;
    SourceWords either{"disambiguate"};  // the member of the body that decides
    for (std::string const& code : codes.warnings)
        (codes.errors.contains(code) ? either : warnings).insert(code);
    CHECK(marked(prose.substr(0, second)) == warnings);
    CHECK(marked(prose.substr(second)) == either);
}

TEST_CASE("every problem stands under its status, and is told by its schema alone", "[reference]") {
    SourceWords told;
    auto const check = [&told](std::string const& status, json::object const& response) {
        std::string const prose(response.at("description").as_string());
        for (json::object const* const problem : problems_of(response)) {
            std::string const code = code_of_problem(*problem);
            CAPTURE(status, code);
            told.insert(code);
            // `default` is for those that any request may get.
            auto const own = problem->at("properties").at("status").at("const").as_int64();
            CHECK((status == "default" || status == std::to_string(own)));
            CHECK(prose.find("`" + code + "`") == std::string::npos);
        }
    };
    for (Operation const& one : operations()) {
        CAPTURE(one.name());
        for (auto const& [status, response] : one.described.at("responses").as_object())
            check(std::string(std::string_view(status)), schemas().resolve(response));
    }
    for (auto const& [key, schema] : openapi().at("components").at("schemas").as_object()) {
        std::string_view const name = key;
        if (!name.starts_with(api::problem_prefix)) continue;
        CAPTURE(name);
        CHECK(told.contains(name.substr(api::problem_prefix.size())));
    }
}

TEST_CASE("a response that many requests share is named after its problems", "[reference]") {
    for (auto const& [key, response] : openapi().at("components").at("responses").as_object()) {
        std::string_view name = key;
        if (name == "refused") continue;  // what any request may get
        // The same with the header of a refusal that is kept.
        if (name.ends_with("-or-kept")) name.remove_suffix(std::string_view("-or-kept").size());
        std::string joined;
        for (json::object const* const problem : problems_of(response.as_object()))
            joined.append(joined.empty() ? "" : "-or-").append(code_of_problem(*problem));
        CHECK(joined == name);
    }
}

}  // namespace holdfast::test
