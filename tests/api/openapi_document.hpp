// The OpenAPI document, parsed, and the ways into it that the tests need.
#pragma once

#include "api/reference.hpp"
#include "tests/api/schema_check.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

inline boost::json::value const& openapi() {
    static boost::json::value const document = boost::json::parse(api::openapi_document());
    return document;
}

inline SchemaCheck const& schemas() {
    static SchemaCheck const check(openapi());
    return check;
}

inline boost::json::object const& component(std::string_view kind, std::string_view name) {
    return openapi().at("components").at(kind).at(name).as_object();
}

struct Operation {
    std::string method;  // as in HTTP
    std::string path;
    boost::json::object const& described;

    [[nodiscard]] std::string id() const {
        return std::string(described.at("operationId").as_string());
    }
    [[nodiscard]] std::string name() const { return method + " " + path; }
    /// For the operator only.
    [[nodiscard]] bool staff_only() const {
        auto const& ways = described.at("security").as_array();
        return ways.size() == 1 && ways.front().as_object().contains("operator");
    }
};

inline std::vector<Operation> operations() {
    std::vector<Operation> all;
    for (auto const& [path, item] : openapi().at("paths").as_object()) {
        for (auto const& [method, described] : item.as_object()) {
            if (!described.is_object()) continue;
            std::string name(std::string_view{method});
            std::ranges::transform(name, name.begin(), [](unsigned char c) {
                return static_cast<char>(std::toupper(c));
            });
            all.push_back({name, std::string(std::string_view{path}), described.get_object()});
        }
    }
    return all;
}

/// The operation of that method and pattern; fails if there is none.
inline Operation const& operation(std::string_view method, std::string_view path) {
    static std::vector<Operation> const all = operations();
    auto const found = std::ranges::find_if(all, [method, path](Operation const& one) {
        return one.method == method && one.path == path;
    });
    INFO(method << " " << path);
    REQUIRE(found != all.end());
    return *found;
}

/// `faults`, one a line; empty if there are none.
inline std::string lines(std::vector<std::string> const& faults) {
    std::string out;
    for (std::string const& fault : faults) out.append(fault).append("\n");
    return out;
}

}  // namespace holdfast::test
