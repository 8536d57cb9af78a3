#include "function_lengths.hpp"

#include <string>
#include <string_view>

namespace holdfast::tidy {
namespace {

enum class Scope { outer, initializer, function, inside };

/// The head without its `template <…>` parts, whose `class` makes no class.
std::string without_templates(std::string head) {
    constexpr std::string_view word = "template <";
    for (auto at = head.find(word); at != std::string::npos; at = head.find(word, at)) {
        std::size_t end = at + word.size();
        for (std::size_t depth = 1; end < head.size() && depth > 0; ++end) {
            if (head[end] == '<') ++depth;
            if (head[end] == '>') --depth;
        }
        head.erase(at, end - at);
    }
    return head;
}

/// Whether the text before a '{' makes it a type or a namespace; it may have parentheses all the
/// same (`struct alignas(64) Y`).
bool opens_type(std::string_view head) {
    std::string const text = without_templates(std::string(head));
    for (std::string_view const word : {"namespace", "class", "struct", "union", "enum"})
        if (has_word(text, word)) return true;
    return false;
}

Scope scope_of(std::string_view head) {
    // clang-format joins an initializer's brace to its name and sets a body's brace apart.
    bool const apart = head.empty() || head.back() == ' ' || head.back() == '\n';
    std::size_t const last = head.find_last_not_of(" \n");
    if (last == std::string_view::npos) return Scope::outer;
    if (!apart || head[last] == '=' || head[last] == ',' || head[last] == '(')
        return Scope::initializer;
    if (opens_type(head)) return Scope::outer;
    return head.find('(') == std::string_view::npos ? Scope::outer : Scope::function;
}

/// The code as one text, without preprocessor lines: their braces belong to no function.
std::string joined_code(SourceFile const& file) {
    std::string code;
    bool directive = false;
    for (auto const& line : file.code) {
        directive = directive || line.starts_with('#');
        if (!directive) code += line;
        directive = directive && line.ends_with('\\');
        code += '\n';
    }
    return code;
}

}  // namespace

std::vector<FunctionLength> function_lengths(SourceFile const& file) {
    std::vector<FunctionLength> functions;
    std::vector<Scope> scopes;
    std::size_t line = 1;
    std::size_t head_start = 0;
    std::string const code = joined_code(file);
    auto const in = [&](Scope scope) { return !scopes.empty() && scopes.back() == scope; };
    for (std::size_t at = 0; at < code.size(); ++at) {
        char const c = code[at];
        if (c == '\n') ++line;
        if (c == '{') {
            bool const deeper = in(Scope::function) || in(Scope::inside);
            std::string_view const head =
                std::string_view(code).substr(head_start, at - head_start);
            Scope const scope = deeper                   ? Scope::inside
                                : in(Scope::initializer) ? Scope::initializer
                                                         : scope_of(head);
            if (scope == Scope::function) functions.push_back({line, 0});
            if (scope == Scope::outer) head_start = at + 1;
            scopes.push_back(scope);
        }
        if (c == '}' && !scopes.empty()) {
            if (in(Scope::function))
                functions.back().lines = line - functions.back().first_line + 1;
            if (!in(Scope::initializer)) head_start = at + 1;
            scopes.pop_back();
        }
        if (c == ';' && (scopes.empty() || in(Scope::outer))) head_start = at + 1;
    }
    return functions;
}

}  // namespace holdfast::tidy
