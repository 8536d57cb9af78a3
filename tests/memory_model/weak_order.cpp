#include "tests/memory_model/weak_order.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace holdfast::test {
namespace {

std::optional<WeakOrder> weak;
std::uint64_t weak_count = 0;
/// By the address of the file's name, which the compiler has once a call.
std::map<std::tuple<char const*, unsigned, Order>, bool> seen;  // the value: whether it is weak

std::string below_include(std::string_view file) {
    constexpr std::string_view root = "include/holdfast/";
    auto const at = file.rfind(root);
    return std::string(at == std::string_view::npos ? file : file.substr(at + root.size()));
}

}  // namespace

char const* name_of(Order order) {
    switch (order) {
        case Order::relaxed:
            return "relaxed";
        case Order::acquire:
            return "acquire";
        case Order::release:
            return "release";
        case Order::acq_rel:
            break;
    }
    return "acq_rel";
}

void weaken(std::optional<WeakOrder> const& wanted) {
    weak = wanted;
    weak_count = 0;
    seen.clear();
}

std::uint64_t weak_accesses() {
    return weak_count;
}

Order weakened(Order order, char const* file, unsigned line) {
    if (order == Order::relaxed) return order;
    auto found = seen.find({file, line, order});
    if (found == seen.end()) {
        bool const is_weak = weak && weak->access.line == line && weak->access.order == order &&
                             weak->access.file == below_include(file);
        found = seen.emplace(std::tuple{file, line, order}, is_weak).first;
    }
    if (!found->second) return order;
    ++weak_count;
    return weak->to;
}

std::vector<Access> accesses_seen() {
    std::vector<Access> all;
    for (auto const& [key, is_weak] : seen) {
        auto const& [file, line, order] = key;
        Access access{below_include(file), line, order};
        if (access.file.starts_with("tests/") || access.file.starts_with("./")) continue;
        if (std::find(all.begin(), all.end(), access) == all.end()) all.push_back(access);
    }
    std::sort(all.begin(), all.end());
    return all;
}

std::vector<Order> weaker(Order order) {
    if (order == Order::acq_rel) return {Order::acquire, Order::release};
    if (order == Order::relaxed) return {};
    return {Order::relaxed};
}

}  // namespace holdfast::test
