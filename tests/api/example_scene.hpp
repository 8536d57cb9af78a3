// Example scene: a stage where the ids of the document's examples stand for something.
//
// Purpose: the bodies of openapi.json, sent as the page shows them, by the event of
// `holdfast serve --demo`. Thread safety: one thread.
#pragma once

#include "tests/api/calm_backups.hpp"
#include "tests/api/openapi_document.hpp"
#include "tests/api/stage.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::test {

class ExampleScene {
public:
    explicit ExampleScene(Operation const& operation);

    /// The value of Authorization that the page shows the example with; "" for none.
    [[nodiscard]] std::string credentials_of(boost::json::object const& example) const;
    [[nodiscard]] Stage::Answer send(std::string const& body, std::string const& credentials);
    /// "pointer code" of the refusal of a body, else "". Of an event only its decoder is asked.
    [[nodiscard]] std::string error(std::string const& body, std::string const& credentials);

    Stage stage;

private:
    void fill();
    void replace(boost::json::value const& told, std::string const& real) {
        real_.emplace(std::string(told.as_string()), real);
    }
    [[nodiscard]] std::string translated(std::string text) const;

    Operation operation_;
    CalmBackups backups_;
    std::optional<http::Router> router_;
    std::map<std::string, std::string> real_;  // by the ids of the examples
    std::string token_;
};

}  // namespace holdfast::test
