// The tree against the rules. That each rule can fail is shown by rules_test.cpp.
#include "rules.hpp"

#include <catch2/catch.hpp>
#include <iostream>

using namespace holdfast::tidy;

namespace {

Tree const& tree() {
    static Tree const read = read_tree(HOLDFAST_SOURCE_DIR);
    return read;
}

void expect_none(std::vector<Finding> const& findings) {
    for (auto const& [where, what] : findings) FAIL_CHECK(where << ": " << what);
}

}  // namespace

TEST_CASE("every file keeps the rules", "[tidy]") {
    REQUIRE(tree().files.size() > 60);
    std::vector<Finding> findings;
    for (auto const& [path, file] : tree().files) {
        Report report(file, findings);
        for (auto const& rule : rules()) rule.check(file, tree().layers, report);
        bool const large = file.is_cpp() && file.lines.size() > file_lines_wanted;
        if (large) std::cout << "large: " << path << ", " << file.lines.size() << " lines\n";
    }
    expect_none(findings);
}

TEST_CASE("dependencies of modules go down only", "[tidy]") {
    REQUIRE(tree().layers.modules.size() >= 13);
    for (auto const& fault : tree().layers.faults()) FAIL_CHECK(fault);
}

TEST_CASE("every source is built and every listed source exists", "[tidy]") {
    expect_none(check_listed(tree()));
}

TEST_CASE("every promise and fault of docs/durability.md names tests that exist", "[tidy]") {
    expect_none(check_promises(tree()));
    expect_none(check_faults(tree()));
}

TEST_CASE("the README shows the commands a newcomer needs", "[tidy]") {
    expect_none(check_readme(tree()));
    expect_none(check_links(tree()));
}
