#include "source_file.hpp"

#include <algorithm>
#include <cctype>

namespace holdfast::tidy {
namespace {

bool is_name_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// A quote inside a number (10'000) separates digits; it opens no literal.
bool separates_digits(std::string_view text, std::size_t quote) {
    std::size_t start = quote;
    while (start > 0 && (is_name_char(text[start - 1]) || text[start - 1] == '\'')) --start;
    return start < quote && std::isdigit(static_cast<unsigned char>(text[start])) != 0;
}

/// One past the end of the literal or comment that begins at `at`; `at` itself if none does.
std::size_t skip_opaque(std::string_view text, std::size_t at) {
    auto const after = [&](std::string_view mark, std::size_t from) {
        std::size_t const found = text.find(mark, from);
        return found == std::string_view::npos ? text.size() : found + mark.size();
    };
    if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
    if (text.substr(at, 2) == "/*") return after("*/", at + 2);
    if (text.substr(at, 2) == "R\"" && (at == 0 || !is_name_char(text[at - 1]))) {
        std::size_t const open = text.find('(', at);
        if (open == std::string_view::npos) return text.size();
        return after(")" + std::string(text.substr(at + 2, open - at - 2)) + "\"", open);
    }
    char const quote = text[at];
    if (quote != '"' && quote != '\'') return at;
    if (quote == '\'' && separates_digits(text, at)) return at;
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != quote && text[end] != '\n')
        end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
}

}  // namespace

std::string SourceFile::module() const {
    for (std::string_view const root : {"include/holdfast/", "src/", "tests/"}) {
        if (!path.starts_with(root)) continue;
        std::size_t const end = path.find('/', root.size());
        if (end != std::string::npos) return path.substr(root.size(), end - root.size());
    }
    return {};
}

std::string blank_comments_and_literals(std::string_view text) {
    std::string code(text);
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t const end = skip_opaque(text, at);
        for (std::size_t i = at; i < end; ++i)
            if (code[i] != '\n') code[i] = ' ';
        at = std::max(end, at + 1);
    }
    return code;
}

std::vector<std::string> split_lines(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        std::size_t const end = text.find('\n');
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

SourceFile make_source_file(std::string path, std::string text) {
    SourceFile file{std::move(path), std::move(text), {}, {}};
    file.lines = split_lines(file.text);
    file.code = file.is_cpp() ? split_lines(blank_comments_and_literals(file.text)) : file.lines;
    return file;
}

bool has_word(std::string_view line, std::string_view word) {
    for (std::size_t at = line.find(word); at != std::string_view::npos;
         at = line.find(word, at + 1)) {
        bool const joined_before = at > 0 && is_name_char(line[at - 1]);
        std::size_t const end = at + word.size();
        bool const joined_after = end < line.size() && is_name_char(line[end]);
        if (!joined_before && !joined_after) return true;
    }
    return false;
}

std::string included(SourceFile const& file, std::size_t line) {
    constexpr std::string_view directive = "#include ";
    if (!file.code[line].starts_with(directive)) return {};
    std::string const name = file.lines[line].substr(directive.size());
    return name.substr(0, name.find_first_of(">\"", 1));
}

}  // namespace holdfast::tidy
