#include "layers.hpp"

#include <algorithm>
#include <sstream>

namespace holdfast::tidy {

bool Layers::may_include(std::string const& from, std::string const& to) const {
    std::set<std::string> seen{from};
    std::vector<std::string> open{from};
    while (!open.empty()) {
        std::string const name = open.back();
        open.pop_back();
        if (name == to) return true;
        auto const module = modules.find(name);
        if (module == modules.end()) continue;
        for (auto const& next : module->second.depends)
            if (seen.insert(next).second) open.push_back(next);
    }
    return false;
}

std::vector<std::string> Layers::faults() const {
    std::vector<std::string> faults;
    for (auto const& [name, module] : modules) {
        for (auto const& below : module.depends) {
            auto const found = modules.find(below);
            if (found == modules.end())
                faults.push_back(name + " depends on " + below + ", which is no module");
            else if (found->second.layer >= module.layer)
                faults.push_back(name + " depends on " + below + ", which is not below it");
        }
    }
    return faults;
}

Layers parse_layers(std::string_view cmake_lists) {
    constexpr std::string_view call = "holdfast_module(";
    Layers layers;
    int layer = 0;
    for (std::size_t at = 0; at < cmake_lists.size();) {
        std::string_view const rest = cmake_lists.substr(at);
        if (rest.starts_with("# L") && rest.size() > 3 && rest[3] >= '0' && rest[3] <= '9')
            layer = rest[3] - '0';
        if (rest.starts_with(call)) {  // may go over several lines
            std::istringstream words{
                std::string(rest.substr(call.size(), rest.find(')') - call.size()))};
            std::string name;
            words >> name;
            Layers::Module module{layer, {}};
            for (std::string word; words >> word;)
                if (word != "DEPENDS") module.depends.insert(word);
            layers.modules.emplace(name, std::move(module));
        }
        at += std::min(rest.find('\n'), rest.size() - 1) + 1;
    }
    return layers;
}

}  // namespace holdfast::tidy
