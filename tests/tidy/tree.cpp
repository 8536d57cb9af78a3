#include "rules.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

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

SourceFile const* find(Tree const& tree, std::string const& path) {
    auto const found = tree.files.find(path);
    return found == tree.files.end() ? nullptr : &found->second;
}

/// The .cpp files that the lists name, with the list that does; `../support/x.cpp` is followed.
std::map<std::string, std::string> listed_sources(Tree const& tree) {
    std::map<std::string, std::string> listed;
    for (auto const& [path, list] : tree.files) {
        if (!path.ends_with("sources.cmake") && path != "CMakeLists.txt") continue;
        for (auto const& line : list.lines) {
            std::string words = line.substr(0, line.find('#'));
            for (char& c : words)
                if (std::string_view("()\"").find(c) != std::string_view::npos) c = ' ';
            std::istringstream in(words);
            for (std::string word; in >> word;) {
                if (!word.ends_with(".cpp") || word.find('$') != std::string::npos) continue;
                fs::path const source = fs::path(path).parent_path() / word;
                listed.emplace(source.lexically_normal().generic_string(), path);
            }
        }
    }
    return listed;
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
    auto const listed = listed_sources(tree);
    for (auto const& [source, list] : listed)
        if (!find(tree, source))
            findings.push_back({list, "lists " + source + ", which is not there"});
    for (auto const& [path, file] : tree.files) {
        bool const in_modules = path.starts_with("src/") || path.starts_with("tests/");
        if (path.ends_with(".cpp") && in_modules && !listed.contains(path))
            findings.push_back({path, "is in no sources.cmake: dead file"});
        if (path.ends_with(".hpp") && in_modules && !is_included_somewhere(tree, file))
            findings.push_back({path, "is included by nothing: dead file"});
        if (path.ends_with(".cpp") && path.starts_with("bench/")) {
            auto const* list = find(tree, "bench/CMakeLists.txt");
            // A part of a program is in its folder and among its SOURCES.
            bool const is_part = path.find('/', 6) != std::string::npos;
            std::string const call = is_part ? " " + path.substr(6)
                                             : "holdfast_bench(" + path.substr(6, path.size() - 10);
            if (!list || list->text.find(call) == std::string::npos)
                findings.push_back({path, "is in no holdfast_bench of bench/CMakeLists.txt"});
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
