// Every rule against a snippet it must find and one it must leave alone: a rule that cannot fail
// checks nothing.
#include "rules.hpp"

#include "function_lengths.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace holdfast::tidy;

namespace {

constexpr char const* small_graph =
    "# L0\nholdfast_module(base)\n# L1\nholdfast_module(domain DEPENDS base)\n"
    "# L2\nholdfast_module(journal DEPENDS domain)\nholdfast_module(store\n    DEPENDS domain)\n"
    "# L3\nholdfast_module(engine DEPENDS journal store)\n";

struct Example {
    std::string rule;
    std::string path;
    std::string bad;
    std::string good;
    std::string good_path{};  // where it differs
};

std::string repeat(std::string const& line, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += line;
    return text;
}

std::vector<Example> layer_examples() {
    return {
        {"layering", "src/store/x.cpp", "#include <holdfast/journal/journal.hpp>",
         "#include <holdfast/base/clock.hpp>\n// #include <holdfast/engine/engine.hpp>"},
        {"layering", "include/holdfast/domain/x.hpp", "#include <holdfast/engine/engine.hpp>",
         "#include <holdfast/domain/ids.hpp>"},
        {"layering", "src/engine/x.cpp", "#include \"journal/buffer.hpp\"",
         "#include \"engine/sink.hpp\""},
        {"layering", "include/holdfast/engine/x.hpp", "#include \"engine/sink.hpp\"",
         "#include <holdfast/store/store.hpp>"},
        {"layering", "src/lost/x.cpp", "int x;", "int x;", "src/base/x.cpp"},
        {"layering", "tests/store/x_test.cpp", "#include \"journal/buffer.hpp\"",
         "#include \"store/schema.hpp\"\n#include \"tests/support/folder.hpp\""},
        {"libraries", "src/engine/x.cpp", "#include <boost/asio/post.hpp>", "#include <span>"},
        {"libraries", "src/journal/x.cpp", "#include <sqlite3.h>", "// #include <sqlite3.h>"},
        {"libraries", "src/engine/y.cpp", "#include <boost/beast/http.hpp>", "int boost;"},
        {"libraries", "src/domain/x.cpp", "#include <boost/json.hpp>", "int json;"},
        {"atomics", "src/store/x.cpp", "#include <atomic>", "#include <array>"},
        {"atomics", "include/holdfast/base/unpublished.hpp", "#include <atomic>", "// <atomic>"},
    };
}

std::vector<Example> text_examples() {
    std::string const fix = std::string("FIX") + "ME";
    std::string const todo = std::string("TO") + "DO";
    std::string const machine = std::string("/wo") + "rk/main";
    std::string const address = "https://example.org" + machine;
    return {
        {"sizes", "src/base/x.cpp", repeat("int x;\n", 501), repeat("int x;\n", 500)},
        {"sizes", "src/base/x.cpp", "void f() {\n" + repeat("g();\n", 69) + "}\n",
         "void f() {\n" + repeat("g();\n", 68) + "}\n" + repeat("int x;\n", 80)},
        {"columns", "src/base/x.cpp", std::string(101, 'x'), repeat("\xC3\xA9", 100)},
        {"names", "src/base/string_utils.cpp", "", "", "src/base/strings.cpp"},
        {"names", "src/base/x.cpp", "class HoldManager {};", "std::common_type_t<int> x;"},
        {"names", "src/base/x.cpp", "int misc_count;", "// miscellaneous, common\nint helped;"},
        {"leftovers", "docs/x.md", "a " + fix + " here", "fixed"},
        {"leftovers", "src/base/x.cpp", "// " + todo + ": later",
         "// " + todo + "(ada): needs a newer compiler"},
        {"workplace", "docs/x.md", "see `" + machine + "`", "see " + address},
        {"concurrency", "src/base/x.cpp", "volatile int x;", "// volatile\nauto s = \"volatile\";"},
        {"concurrency", "src/journal/x.cpp", "std::atomic_thread_fence(order);", "int fence;"},
        {"concurrency", "tests/base/x_test.cpp", "std::this_thread::sleep_for(1ms);", "int rest;"},
        {"concurrency", "src/http/x.cpp", "co_await run([self] {});",
         "auto [ec] = co_await run(self);"},
        {"clocks", "src/domain/x.cpp", "auto t = std::chrono::system_clock::now();", "now();"},
        {"headers", "include/holdfast/base/x.hpp", "// Thread safety: values.\nint x;",
         "// X: a thing.\n//\n// Thread safety: values.\n#pragma once\n"},
        {"headers", "include/holdfast/base/x.hpp", "// X: a thing.\n#pragma once\n",
         "// X. Thread safety: none needed.\n#pragma once\n"},
        {"headers", "src/base/x.hpp", "#pragma once\n", "// X: a thing.\n#pragma once\n"},
    };
}

std::vector<Finding> findings_of(Rule const& rule, std::string const& path, std::string text) {
    static Layers const layers = parse_layers(small_graph);
    std::vector<Finding> findings;
    SourceFile const file = make_source_file(path, std::move(text));
    Report report(file, findings);
    rule.check(file, layers, report);
    return findings;
}

Tree tree_of(std::vector<std::pair<std::string, std::string>> const& files) {
    Tree tree;
    for (auto const& [path, text] : files) tree.files.emplace(path, make_source_file(path, text));
    return tree;
}

}  // namespace

TEST_CASE("each rule finds its bad example and leaves the good one alone", "[tidy]") {
    std::vector<Example> examples = layer_examples();
    for (auto& example : text_examples()) examples.push_back(std::move(example));
    for (auto const& rule : rules()) {
        bool has_example = false;
        for (auto const& example : examples) {
            if (example.rule != rule.name) continue;
            has_example = true;
            CAPTURE(example.rule, example.path, example.bad, example.good);
            CHECK_FALSE(findings_of(rule, example.path, example.bad).empty());
            auto const& path = example.good_path.empty() ? example.path : example.good_path;
            CHECK(findings_of(rule, path, example.good).empty());
        }
        CAPTURE(rule.name);
        CHECK(has_example);
    }
    for (auto const& example : examples)
        CHECK(std::any_of(rules().begin(), rules().end(),
                          [&](Rule const& rule) { return rule.name == example.rule; }));
}

TEST_CASE("the layer graph is closed downwards and siblings are strangers", "[tidy]") {
    Layers const layers = parse_layers(small_graph);
    CHECK(layers.faults().empty());
    CHECK(layers.may_include("engine", "base"));
    CHECK(layers.may_include("store", "store"));
    CHECK_FALSE(layers.may_include("store", "journal"));
    CHECK_FALSE(layers.may_include("domain", "engine"));
    std::string const sideways =
        std::string(small_graph) + "holdfast_module(copy DEPENDS engine)\n";
    CHECK(parse_layers(sideways).faults().size() == 1);
    std::string const unknown = std::string(small_graph) + "# L4\nholdfast_module(x DEPENDS y)\n";
    CHECK(parse_layers(unknown).faults().size() == 1);
}

TEST_CASE("files outside the build are found", "[tidy]") {
    Tree tree =
        tree_of({{"CMakeLists.txt", "add_executable(holdfast src/app/main.cpp)"},
                 {"bench/CMakeLists.txt", "holdfast_bench(claim LINKS x SOURCES claim/part.cpp)"},
                 {"bench/claim.cpp", ""},
                 {"bench/claim/part.cpp", ""},
                 {"src/app/main.cpp", ""},
                 {"src/base/sources.cmake", "set(SOURCES clock.cpp # old.cpp\n x.cpp)"},
                 {"tests/e2e/sources.cmake", "set(SOURCES ../support/child.cpp)"},
                 {"tests/support/child.cpp", ""},
                 {"src/base/clock.cpp", "#include \"base/inner.hpp\""},
                 {"src/base/inner.hpp", ""},
                 {"src/base/x.cpp", ""}});
    CHECK(check_listed(tree).empty());
    tree.files.erase("src/base/x.cpp");
    CHECK(check_listed(tree).size() == 1);
    for (std::string const dead :
         {"src/base/old.cpp", "src/base/lock.cpp", "src/base/unused.hpp", "bench/forgotten.cpp",
          "bench/claim/lost.cpp", "tests/base/x_test.cpp"}) {
        tree.files.emplace(dead, make_source_file(dead, ""));
        CAPTURE(dead);
        CHECK(check_listed(tree).back().what.size() > 0);
        CHECK(check_listed(tree).size() == 2);
        tree.files.erase(dead);
    }
}

TEST_CASE("a README without the commands is found", "[tidy]") {
    CHECK(check_readme(tree_of({{"README.md", "scripts/run.sh"}})).size() == 5);
}

TEST_CASE("a promise without a test, and a test that is not there, are found", "[tidy]") {
    CHECK(check_promises(tree_of({{"README.md", ""}})).size() == 1);
    std::string page;
    for (int number = 1; number <= 15; ++number)
        page += "| P" + std::to_string(number) + " words | `P1 P" + std::to_string(number) +
                ": x` | |\n";
    std::string test;
    for (int number = 1; number <= 15; ++number)
        test += "TEST_CASE(\"P1 P" + std::to_string(number) + ": x\")\n";
    auto const findings = [&test](std::string const& text) {
        return check_promises(tree_of({{"docs/durability.md", text}, {"tests/a_test.cpp", test}}));
    };
    CHECK(findings(page).empty());
    CHECK(findings(page.substr(page.find("| P2"))).size() == 1);
    CHECK(findings("| P3 words | | |\n" + page).front().what == "P3 has no test");
    CHECK(findings("| P3 words | none: why | |\n" + page).empty());
    CHECK(findings("| P3 words | `P3: y` | |\n" + page).front().what == "no such test: P3: y");
    CHECK(findings("| P3 words | `P1 P4: x` | |\n" + page).size() == 1);
}

TEST_CASE("a link to nowhere is found", "[tidy]") {
    Tree const tree = tree_of({{"README.md", "[a](docs/a.md) [b](docs/) [c](https://example.org)"},
                               {"docs/a.md", "[up](../README.md#x) [lost](b.md) [top](#here)"}});
    REQUIRE(check_links(tree).size() == 1);
    CHECK(check_links(tree).front().where == "docs/a.md");
}

TEST_CASE("function lengths are measured on formatted code", "[tidy]") {
    auto const lengths = [](std::string text) {
        std::vector<std::size_t> lines;
        for (auto const& found : function_lengths(make_source_file("src/base/x.cpp", text)))
            lines.push_back(found.lines);
        return lines;
    };
    using Lines = std::vector<std::size_t>;
    CHECK(lengths("namespace a {\nint f() {\n    return 1;\n}\n}\n") == Lines{3});
    CHECK(lengths("struct X {\n    int a{1};\n    int f() const { return a; }\n};\n") == Lines{1});
    CHECK(lengths("X::X(int a)\n    : a_{a}, b_{f(a)} {\n    g();\n    h();\n}\n") == Lines{4});
    CHECK(lengths("template <class T>\nrequires(x<T>)\nclass alignas(64) Y {\n};\n") == Lines{});
    CHECK(lengths("auto const table = std::array{f(1), X{2}};\nint g() {\n}\n") == Lines{2});
    CHECK(lengths("void f() {\n    auto const g = [&](int x) {\n        if (x) {\n        }\n"
                  "    };\n}\n#define M(x) \\\n    {  \nvoid h() {\n}\n") == Lines{6, 2});
    CHECK(lengths("char const* s = \"{ f(\";\nint const n = 1'000;\nvoid f() { /* } */ }\n") ==
          Lines{1});
}
