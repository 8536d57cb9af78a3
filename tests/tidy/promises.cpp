// The tables of docs/durability.md: every promise and every planned fault has a row, and every test
// that they name exists.
#include "rules.hpp"

#include <algorithm>

namespace holdfast::tidy {
namespace {

/// The texts between backquotes.
std::vector<std::string> quoted(std::string const& text) {
    std::vector<std::string> found;
    for (std::size_t at = 0; (at = text.find('`', at)) != std::string::npos;) {
        std::size_t const end = text.find('`', at + 1);
        if (end == std::string::npos) break;
        found.push_back(text.substr(at + 1, end - at - 1));
        at = end + 1;
    }
    return found;
}

bool is_test(Tree const& tree, std::string const& name) {
    return std::ranges::any_of(tree.files, [&name](auto const& entry) {
        return entry.first.starts_with("tests/") && entry.first.ends_with("_test.cpp") &&
               entry.second.text.find("\"" + name + "\"") != std::string::npos;
    });
}

/// Whether "P3" stands before the first sentence of "P3 P4: …".
bool is_named_after(std::string const& test, std::string const& promise) {
    std::string const names = " " + test.substr(0, test.find(':')) + " ";
    return names.find(" " + promise + " ") != std::string::npos;
}

char const* const promises_page = "docs/durability.md";

}  // namespace

std::vector<Finding> check_faults(Tree const& tree) {
    auto const page = tree.files.find(promises_page);
    if (page == tree.files.end()) return {{promises_page, "is missing"}};
    auto const& lines = page->second.lines;
    auto const table = std::ranges::find(lines, "## Fault by fault");
    std::vector<Finding> findings;
    for (int number = 1; number <= 32; ++number) {
        std::string const begin = "| " + std::to_string(number) + " | ";
        auto const row = std::find_if(table, lines.end(), [&begin](std::string const& line) {
            return line.starts_with(begin);
        });
        if (row == lines.end()) {
            findings.push_back({promises_page, "has no row for fault " + std::to_string(number)});
            continue;
        }
        auto const tests = quoted(*row);
        if (tests.empty() && row->find("not tested, because ") == std::string::npos)
            findings.push_back({promises_page, "fault " + std::to_string(number) + " has no test"});
        for (std::string const& test : tests)
            if (!is_test(tree, test)) findings.push_back({promises_page, "no such test: " + test});
    }
    return findings;
}

std::vector<Finding> check_promises(Tree const& tree) {
    char const* const path = promises_page;
    auto const page = tree.files.find(path);
    if (page == tree.files.end()) return {{path, "is missing"}};
    std::vector<Finding> findings;
    for (int number : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15}) {
        std::string const promise = "P" + std::to_string(number);
        auto const& lines = page->second.lines;
        auto const row = std::ranges::find_if(lines, [&promise](std::string const& line) {
            return line.starts_with("| " + promise + " ");
        });
        if (row == lines.end()) {
            findings.push_back({path, "has no row for " + promise});
            continue;
        }
        std::size_t const begin = row->find('|', 1);
        std::string const cell = row->substr(begin, row->find('|', begin + 1) - begin);
        auto const tests = quoted(cell);
        if (tests.empty() && !cell.starts_with("| none: ")) {
            findings.push_back({path, promise + " has no test"});
        }
        for (std::string const& test : tests) {
            if (!is_test(tree, test)) findings.push_back({path, "no such test: " + test});
            if (!is_named_after(test, promise))
                findings.push_back({path, promise + " is not in the name of: " + test});
        }
    }
    return findings;
}

}  // namespace holdfast::tidy
