// The rules of STYLE that a program can check: each looks at one file, or at the whole tree.
#pragma once

#include "layers.hpp"
#include "source_file.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::tidy {

struct Finding {
    std::string where;  // path, or path:line
    std::string what;
};

/// Collects findings about one file.
class Report {
public:
    Report(SourceFile const& file, std::vector<Finding>& findings)
        : file_(file), findings_(findings) {}
    void at(std::size_t line_index, std::string what);
    void whole_file(std::string what);

private:
    SourceFile const& file_;
    std::vector<Finding>& findings_;
};

struct Rule {
    std::string_view name;
    void (*check)(SourceFile const&, Layers const&, Report&);
};
[[nodiscard]] std::span<Rule const> rules();

/// The whole repository in memory; build products and version control are left out.
struct Tree {
    std::map<std::string, SourceFile> files;
    Layers layers;
};
[[nodiscard]] Tree read_tree(std::string const& root);

/// Sources that no sources.cmake (or CMakeLists.txt) names, listed files that do not exist, and
/// private headers that nothing includes.
[[nodiscard]] std::vector<Finding> check_listed(Tree const& tree);
/// The commands a reader is promised.
[[nodiscard]] std::vector<Finding> check_readme(Tree const& tree);
/// Promises of docs/durability.md without a test, and tests that it names and that do not exist.
[[nodiscard]] std::vector<Finding> check_promises(Tree const& tree);
[[nodiscard]] std::vector<Finding> check_faults(Tree const& tree);
/// Links of the pages to files that do not exist.
[[nodiscard]] std::vector<Finding> check_links(Tree const& tree);

inline constexpr std::size_t file_lines_wanted = 300;
inline constexpr std::size_t file_lines_max = 500;
inline constexpr std::size_t function_lines_max = 70;
inline constexpr std::size_t columns_max = 100;

}  // namespace holdfast::tidy
