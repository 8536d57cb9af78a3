// One text file of the repository, as the rules look at it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::tidy {

struct SourceFile {
    std::string path;  // from the repository's root, with '/'
    std::string text;
    std::vector<std::string> lines;
    /// The same lines with comments and the insides of literals blanked, so that a rule about code
    /// does not trip over prose. Equal to `lines` for files that are not C++.
    std::vector<std::string> code;

    [[nodiscard]] bool is_cpp() const { return path.ends_with(".cpp") || is_header(); }
    [[nodiscard]] bool is_header() const { return path.ends_with(".hpp"); }
    /// The module of src/<m>/, include/holdfast/<m>/ and tests/<m>/; empty elsewhere.
    [[nodiscard]] std::string module() const;
};

[[nodiscard]] SourceFile make_source_file(std::string path, std::string text);
[[nodiscard]] std::string blank_comments_and_literals(std::string_view text);
[[nodiscard]] std::vector<std::string> split_lines(std::string_view text);

/// Whether `line` holds `word` with no letter, digit or '_' next to it.
[[nodiscard]] bool has_word(std::string_view line, std::string_view word);
/// The name in `#include <name>` or `#include "name"` with its opening mark in front; else empty.
[[nodiscard]] std::string included(SourceFile const& file, std::size_t line);

}  // namespace holdfast::tidy
