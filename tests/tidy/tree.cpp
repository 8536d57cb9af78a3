#include "rules.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace holdfast::tidy {
namespace {

namespace fs = std::filesystem;

bool is_text(fs::path const& path) {
    static constexpr std::array<std::string_view, 13> endings{
        ".cpp", ".hpp", ".txt",  ".cmake", ".md",   ".sh",     ".sql",
        ".js",  ".css", ".html", ".toml",  ".json", ".service"};
    std::string const ending = path.extension().string();
    for (auto const known : endings)
        if (ending == known) return true;
    if (path.filename() == "LICENSE") return true;
    return path.parent_path().filename() == ".ci" || path.filename().string().starts_with(".clang");
}

bool is_skipped(std::string const& top) {
    return top == ".git" || top == "build" || top == "data" || top == ".cache";
}

/// Words that end in `ending` in the list `set(SOURCES …)` of a sources.cmake.
bool lists(SourceFile const& list, std::string_view name) {
    for (auto const& line : list.lines) {
        std::string_view const said = std::string_view(line).substr(0, line.find('#'));
        for (std::size_t at = said.find(name); at != std::string_view::npos;
             at = said.find(name, at + 1)) {
            auto const ends = [&](std::size_t i) {
                return i >= said.size() || std::string_view(" \t()").find(said[i]) < 4;
            };
            if ((at == 0 || ends(at - 1)) && ends(at + name.size())) return true;
        }
    }
    return false;
}

SourceFile const* find(Tree const& tree, std::string const& path) {
    auto const found = tree.files.find(path);
    return found == tree.files.end() ? nullptr : &found->second;
}

void check_missing(Tree const& tree, SourceFile const& list, std::vector<Finding>& findings) {
    std::string const folder = list.path.substr(0, list.path.rfind('/') + 1);
    for (auto const& line : list.lines) {
        std::string word;
        for (char const c : line.substr(0, line.find('#')) + " ") {
            bool const part = std::string_view(" \t()\"").find(c) == std::string_view::npos;
            if (part) word += c;
            if (part) continue;
            bool const plain = word.find('$') == std::string::npos;
            if (word.ends_with(".cpp") && plain && !find(tree, folder + word))
                findings.push_back({list.path, "lists " + word + ", which does not exist"});
            word.clear();
        }
    }
}

bool is_included_somewhere(Tree const& tree, SourceFile const& header) {
    std::string const tail = header.path.substr(header.path.find('/') + 1);
    std::string const name = header.path.substr(header.path.rfind('/') + 1);
    for (auto const& [path, file] : tree.files) {
        if (!file.is_cpp() || path == header.path) continue;
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            std::string const what = included(file, i);
            if (what.empty()) continue;
            std::string const said = what.substr(1);
            if (said == tail || said == name || said == header.path) return true;
        }
    }
    return false;
}

}  // namespace

Tree read_tree(std::string const& root) {
    Tree tree;
    for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
        std::string const path = entry->path().lexically_relative(root).generic_string();
        if (entry.depth() == 0 && is_skipped(path)) {
            entry.disable_recursion_pending();
            continue;
        }
        if (!entry->is_regular_file() || !is_text(entry->path())) continue;
        std::ifstream in(entry->path(), std::ios::binary);
        std::string text{std::istreambuf_iterator<char>(in), {}};
        tree.files.emplace(path, make_source_file(path, std::move(text)));
    }
    if (auto const* lists = find(tree, "CMakeLists.txt")) tree.layers = parse_layers(lists->text);
    return tree;
}

std::vector<Finding> check_listed(Tree const& tree) {
    std::vector<Finding> findings;
    for (auto const& [path, file] : tree.files) {
        if (path.ends_with("/sources.cmake")) check_missing(tree, file, findings);
        bool const in_modules = path.starts_with("src/") || path.starts_with("tests/");
        if (path.ends_with(".cpp") && in_modules) {
            std::string const folder = path.substr(0, path.find('/', path.find('/') + 1) + 1);
            auto const* list = find(tree, folder + "sources.cmake");
            auto const* top = find(tree, "CMakeLists.txt");
            bool const listed = list && lists(*list, path.substr(folder.size()));
            if (!listed && !(top && lists(*top, path)))
                findings.push_back({path, "is in no sources.cmake: dead file"});
        }
        if (path.ends_with(".hpp") && in_modules && !is_included_somewhere(tree, file))
            findings.push_back({path, "is included by nothing: dead file"});
        if (path.ends_with(".cpp") && path.starts_with("bench/")) {
            auto const* list = find(tree, "bench/CMakeLists.txt");
            std::string const call = "holdfast_bench(" + path.substr(6, path.size() - 10);
            if (!list || list->text.find(call) == std::string::npos)
                findings.push_back({path, "is no holdfast_bench of bench/CMakeLists.txt"});
        }
    }
    return findings;
}

std::vector<Finding> check_readme(Tree const& tree) {
    std::vector<Finding> findings;
    auto const* readme = find(tree, "README.md");
    for (std::string const command :
         {"scripts/run.sh", "scripts/test.sh",
          "curl -X POST localhost:8080/v1/events/demo/holds -H 'content-type: application/json' "
          "-d '{\"best\":{\"quantity\":2}}'"})
        if (!readme || readme->text.find(command) == std::string::npos)
            findings.push_back({"README.md", "does not show: " + command});
    for (std::string const script : {"scripts/run.sh", "scripts/test.sh", ".ci/run"})
        if (!find(tree, script)) findings.push_back({script, "is missing"});
    return findings;
}

std::vector<Finding> check_links(Tree const& tree) {
    std::vector<Finding> findings;
    for (auto const& [path, page] : tree.files) {
        if (!path.ends_with(".md")) continue;
        constexpr std::string_view open = "](";
        for (auto at = page.text.find(open); at != std::string::npos;
             at = page.text.find(open, at + 1)) {
            std::string const target =
                page.text.substr(at + 2, page.text.find_first_of(")#", at) - at - 2);
            if (target.empty() || target.find(':') != std::string::npos) continue;
            auto file = (fs::path(path).parent_path() / target).lexically_normal().generic_string();
            auto const below =
                tree.files.lower_bound(file);  // a folder is there if a file of it is
            bool const there = below != tree.files.end() && below->first.starts_with(file);
            if (!there) findings.push_back({path, "links to " + target + ", which is not there"});
        }
    }
    return findings;
}

}  // namespace holdfast::tidy
