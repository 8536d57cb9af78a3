// Schema check: whether a JSON value fits a schema of openapi.json.
//
// Purpose: the keywords of JSON Schema 2020-12 that the document uses; any other one is a fault, so
// that nothing is passed over. Thread safety: one thread.
#pragma once

#include <boost/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

class SchemaCheck {
public:
    explicit SchemaCheck(boost::json::value const& document) : document_(document) {}

    /// What does not fit, each as "pointer: why". `told`: also members that no schema names.
    [[nodiscard]] std::vector<std::string> faults(boost::json::value const& schema,
                                                  boost::json::value const& value,
                                                  bool told = false) const;
    /// `value`, or what its `$ref` points to.
    [[nodiscard]] boost::json::object const& resolve(boost::json::value const& value) const;
    /// The schemas that apply at one place: `schema` and what its references and branches add.
    void flatten(boost::json::value const& schema,
                 std::vector<boost::json::object const*>& flat) const;

private:
    struct Verdict {
        std::vector<std::string> faults;
        std::set<std::string, std::less<>> known;  // members that were looked at
    };
    struct Place {
        boost::json::value const& value;
        std::string at;
        bool told{};
    };
    [[nodiscard]] Verdict apply(boost::json::object const& schema, Place const& place) const;
    [[nodiscard]] boost::json::object const& target_of(boost::json::value const& reference) const;
    void child(boost::json::value const& schema, Place const& place, Verdict& verdict) const;
    void keyword(std::string_view name, boost::json::object const& schema, Place const& place,
                 Verdict& verdict) const;
    bool combined(std::string_view name, boost::json::value const& argument, Place const& place,
                  Verdict& verdict) const;
    bool members(std::string_view name, boost::json::object const& schema, Place const& place,
                 Verdict& verdict) const;

    boost::json::value const& document_;
};

}  // namespace holdfast::test
