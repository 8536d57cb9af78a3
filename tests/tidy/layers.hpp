// The layer graph, read from the holdfast_module lines of CMakeLists.txt: it is data, not prose.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::tidy {

struct Layers {
    struct Module {
        int layer{};  // the number in the `# L<n>` line above it
        std::set<std::string> depends;
    };
    std::map<std::string, Module> modules;

    /// Whether `from` may include the faces of `to`: itself or anything below it.
    [[nodiscard]] bool may_include(std::string const& from, std::string const& to) const;
    /// Edges that do not go down, and names that are no module: siblings never know each other.
    [[nodiscard]] std::vector<std::string> faults() const;
};

[[nodiscard]] Layers parse_layers(std::string_view cmake_lists);

}  // namespace holdfast::tidy
