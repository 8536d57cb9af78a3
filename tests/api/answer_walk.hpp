// Answer walk: requests to a stage, and which successes of the document they have had.
//
// Thread safety: one thread.
#pragma once

#include "tests/api/openapi_document.hpp"
#include "tests/api/stage.hpp"

#include <set>
#include <string>

namespace holdfast::test {

/// Remembers which successes it has seen.
class Answers {
public:
    void take(Operation const& one, unsigned status) {
        seen_.insert(one.id() + " " + std::to_string(status));
    }

    /// All successes that the document has were seen.
    void check_complete() const {
        for (Operation const& one : operations()) {
            for (auto const& [status, response] : one.described.at("responses").as_object()) {
                CAPTURE(one.name(), status);
                bool const success = status.front() == '2' || status.front() == '3';
                std::string const name = one.id() + " " + std::string(std::string_view(status));
                CHECK((!success || seen_.contains(name)));
            }
        }
    }

private:
    std::set<std::string> seen_;
};

/// Sends to the stage, which checks what comes back.
class Caller {
public:
    Caller(Stage& stage, Answers& answers) : stage_(stage), answers_(answers) {}

    /// `pattern` with `{…}` replaced by `id`.
    Stage::Answer operator()(unsigned status, http::Method method, std::string const& pattern,
                             std::string const& id, std::string const& body = {},
                             std::string const& who = staff) {
        std::string target = pattern;
        if (std::size_t const at = target.find('{'); at != std::string::npos)
            target.replace(at, target.find('}') + 1 - at, id);
        auto answer = stage_.send(method, target, body, who);
        CAPTURE(target, body);
        CHECK(answer.status == status);
        std::string const path = pattern.substr(0, pattern.find('?'));
        answers_.take(operation(http::to_string(method), path), answer.status);
        return answer;
    }
    Stage::Answer get(unsigned status, std::string const& pattern, std::string const& id = {},
                      std::string const& who = staff) {
        return (*this)(status, http::Method::get, pattern, id, {}, who);
    }
    Stage::Answer post(unsigned status, std::string const& pattern, std::string const& id,
                       std::string const& body = {}, std::string const& who = staff) {
        return (*this)(status, http::Method::post, pattern, id, body, who);
    }

private:
    Stage& stage_;
    Answers& answers_;
};

}  // namespace holdfast::test
