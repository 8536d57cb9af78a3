// The project's sources as text, for tests that hold the document against the words in them.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

using SourceWords = std::set<std::string, std::less<>>;

struct SourceText {
    std::string name;  // of the file
    std::string text;
};

/// The C++ files of src/`folder`; what is generated from or into them does not count.
inline std::vector<SourceText> sources_of(std::string_view folder) {
    std::vector<SourceText> sources;
    auto const root = std::filesystem::path(HOLDFAST_SOURCE_DIR) / "src" / folder;
    for (auto const& entry : std::filesystem::directory_iterator(root)) {
        std::string const ending = entry.path().extension().string();
        if (ending != ".cpp" && ending != ".hpp") continue;
        std::ifstream in(entry.path());
        std::ostringstream text;
        text << in.rdbuf();
        sources.push_back({entry.path().filename().string(), text.str()});
    }
    REQUIRE_FALSE(sources.empty());
    return sources;
}

/// What stands in `text` from each `begin` to the next `end`.
inline std::vector<std::string> parts_between(std::string_view text, std::string_view begin,
                                              std::string_view end) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; (at = text.find(begin, at)) != std::string_view::npos;) {
        at += begin.size();
        parts.emplace_back(text.substr(at, text.find(end, at) - at));
    }
    return parts;
}

}  // namespace holdfast::test
