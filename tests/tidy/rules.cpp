#include "rules.hpp"

#include "function_lengths.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace holdfast::tidy {
namespace {

using Words = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view text, Words words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_below(std::string_view path, Words folders) {
    return std::any_of(folders.begin(), folders.end(),
                       [path](std::string_view folder) { return path.starts_with(folder); });
}

void forbid_words(SourceFile const& file, Words words, std::string const& why, Report& report) {
    if (!file.is_cpp()) return;
    for (std::size_t i = 0; i < file.code.size(); ++i)
        for (auto const word : words)
            if (has_word(file.code[i], word)) report.at(i, std::string(word) + ": " + why);
}

void layering(SourceFile const& file, Layers const& layers, Report& report) {
    if (!file.is_cpp()) return;
    std::string const own = file.module();
    bool const in_graph = layers.modules.contains(own);
    bool const is_test = file.path.starts_with("tests/");
    if (!is_test && !in_graph && !file.path.starts_with("bench/"))
        report.whole_file("belongs to no module of CMakeLists.txt");
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        std::string const name = included(file, i);
        if (name.starts_with("<holdfast/")) {
            std::string const other = name.substr(10, name.find('/', 10) - 10);
            // A test may use any face that it can link, e.g. a sibling's header-only policy.
            if (in_graph && !is_test && !layers.may_include(own, other))
                report.at(i, own + " may not include " + other);
        }
        std::string const other = name.starts_with('"') ? name.substr(1, name.find('/') - 1) : "";
        if (!layers.modules.contains(other)) continue;
        if (file.path.starts_with("include/"))
            report.at(i, "a face may not include a private header");
        else if (in_graph && other != own && !(is_test && layers.may_include(own, other)))
            report.at(i, "private header of another module");
    }
}

void libraries(SourceFile const& file, Layers const&, Report& report) {
    if (!file.is_cpp() || !is_below(file.path, {"src/", "include/"})) return;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        std::string const name = included(file, i);
        std::string const module = file.module();
        if (name.starts_with("<boost/beast") && module != "http")
            report.at(i, "Beast belongs to src/http");
        // src/base/asio.cpp is Asio's compiled part, once for modules that may not know each other.
        bool const asio_at_home =
            is_one_of(module, {"http", "app", "loadgen"}) || file.path == "src/base/asio.cpp";
        if (name.starts_with("<boost/asio") && !asio_at_home)
            report.at(i, "Asio belongs to http, app and loadgen");
        bool const json_at_home = is_one_of(module, {"api", "services", "loadgen"}) ||
                                  file.path == "src/app/manifest_text.cpp" ||
                                  file.path == "src/app/backup_answer.cpp";
        if (name.starts_with("<boost/json") && !json_at_home)
            report.at(i, "JSON belongs to api, services, loadgen and backups");
        if (name == "<sqlite3.h" && module != "store") report.at(i, "SQLite belongs to store");
    }
}

void atomics(SourceFile const& file, Layers const&, Report& report) {
    if (!file.is_cpp() || is_below(file.path, {"tests/", "bench/"})) return;
    if (is_one_of(file.module(), {"inventory", "timer", "journal"})) return;
    std::string const stem = file.path.substr(0, file.path.find_last_of('.'));
    for (Words const allowed = {"base/published", "http/counters", "http/waiting_line"};
         auto const end : allowed)
        if (stem.ends_with("/" + std::string(end))) return;
    for (std::size_t i = 0; i < file.lines.size(); ++i)
        if (included(file, i) == "<atomic")
            report.at(i, "<atomic> only where STYLE 8 allows it; base/published.hpp may do");
}

void sizes(SourceFile const& file, Layers const&, Report& report) {
    if (!file.is_cpp()) return;
    if (file.lines.size() > file_lines_max)
        report.whole_file(std::to_string(file.lines.size()) + " lines");
    for (auto const& function : function_lengths(file))
        if (function.lines > function_lines_max)
            report.at(function.first_line - 1,
                      "function of " + std::to_string(function.lines) + " lines");
}

void columns(SourceFile const& file, Layers const&, Report& report) {
    if (!file.is_cpp()) return;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        auto const continues = [](char c) {
            return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
        };
        auto const bytes_more =
            std::count_if(file.lines[i].begin(), file.lines[i].end(), continues);
        if (file.lines[i].size() - static_cast<std::size_t>(bytes_more) > columns_max)
            report.at(i, "over 100 columns");
    }
}

/// The parts of names, in lower case: `SeatMapUtil` and `seat_map_util` both end in "util".
std::vector<std::string> name_parts(std::string_view text) {
    std::vector<std::string> parts(1);
    char before = '\0';
    for (char const c : text) {
        bool const upper = std::isupper(static_cast<unsigned char>(c)) != 0;
        bool const letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
        bool const hump = upper && std::islower(static_cast<unsigned char>(before)) != 0;
        if ((!letter || hump) && !parts.back().empty()) parts.emplace_back();
        if (letter) parts.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        before = c;
    }
    return parts;
}

void names(SourceFile const& file, Layers const&, Report& report) {
    auto const banned = [](std::string_view text) {
        for (auto const& part : name_parts(text))
            if (is_one_of(part,
                          {"util", "utils", "helper", "helpers", "common", "manager", "misc"}))
                return true;
        return false;
    };
    if (banned(file.path)) report.whole_file("a file's name says nothing");
    if (!file.is_cpp()) return;
    for (std::size_t i = 0; i < file.code.size(); ++i) {
        std::string line = file.code[i];
        for (std::string_view const foreign :
             {"std::common_", "std::basic_common_", "NID_commonName"})
            if (auto const at = line.find(foreign); at != std::string::npos)
                line.erase(at, foreign.size());
        if (!line.starts_with("#include") && banned(line)) report.at(i, "a name says nothing");
    }
}

void leftovers(SourceFile const& file, Layers const&, Report& report) {
    std::string const fix = std::string("FIX") + "ME";  // in pieces: this file is read too
    std::string const todo = std::string("TO") + "DO";
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        auto const& line = file.lines[i];
        if (has_word(line, fix)) report.at(i, fix);
        if (has_word(line, todo) && line.find(todo + "(") == std::string::npos)
            report.at(i, todo + " without a name");
    }
}

void workplace(SourceFile const& file, Layers const&, Report& report) {
    for (std::size_t i = 0; i < file.lines.size(); ++i)
        for (std::string const folder : {"work", "farm", "home", "tmp/bash_jobs"})
            for (char const before : {' ', '"', '\'', '`', '(', '='})
                if ((' ' + file.lines[i]).find(before + ("/" + folder) + "/") != std::string::npos)
                    report.at(i, "an absolute path of somebody's machine");
}

void concurrency(SourceFile const& file, Layers const&, Report& report) {
    forbid_words(file, {"volatile"}, "it orders nothing between threads", report);
    forbid_words(file, {"atomic_thread_fence", "atomic_signal_fence"},
                 "TSan cannot see fences; order the accesses themselves", report);
    if (file.path.starts_with("tests/"))
        forbid_words(file, {"sleep_for", "sleep_until", "usleep", "nanosleep", "sleep"},
                     "wait for an event with a deadline", report);
    if (!file.is_cpp()) return;
    for (std::size_t i = 0; i < file.code.size(); ++i) {
        std::size_t const wait = file.code[i].find("co_await ");
        if (wait != std::string::npos && file.code[i].find('[', wait) != std::string::npos)
            report.at(i, "GCC 12 destroys a lambda made inside co_await twice; name it first");
    }
}

void clocks(SourceFile const& file, Layers const&, Report& report) {
    if (!is_one_of(file.module(), {"domain", "inventory", "api", "services", "web"})) return;
    if (!file.is_cpp() || file.path.starts_with("tests/")) return;
    for (std::size_t i = 0; i < file.code.size(); ++i)
        if (file.code[i].find("_clock::now") != std::string::npos)
            report.at(i, "time is an argument here");
}

void headers(SourceFile const& file, Layers const&, Report& report) {
    if (!file.is_header()) return;
    std::size_t const pragma = file.text.find("#pragma once");
    if (pragma == std::string::npos) return report.whole_file("no #pragma once");
    std::string opening = file.text.substr(0, pragma);
    if (!opening.starts_with("// ")) return report.whole_file("does not open with a comment");
    for (auto at = opening.find("\n//"); at != std::string::npos; at = opening.find("\n//"))
        opening.erase(at, 3);  // a line break may stand inside "Thread safety"
    if (file.path.starts_with("include/") && opening.find("Thread safety:") == std::string::npos)
        report.whole_file("a face's opening comment says nothing about thread safety");
}

constexpr std::array all_rules{
    Rule{"layering", layering},   Rule{"libraries", libraries},     Rule{"atomics", atomics},
    Rule{"sizes", sizes},         Rule{"columns", columns},         Rule{"names", names},
    Rule{"leftovers", leftovers}, Rule{"workplace", workplace},     Rule{"clocks", clocks},
    Rule{"headers", headers},     Rule{"concurrency", concurrency},
};

}  // namespace

void Report::at(std::size_t line_index, std::string what) {
    findings_.push_back({file_.path + ":" + std::to_string(line_index + 1), std::move(what)});
}

void Report::whole_file(std::string what) {
    findings_.push_back({file_.path, std::move(what)});
}

std::span<Rule const> rules() {
    return all_rules;
}

}  // namespace holdfast::tidy
