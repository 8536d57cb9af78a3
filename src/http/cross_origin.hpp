// CrossOrigin: what pages of other sites may do here (CORS).
//
// Purpose: header lines for the origins of a list, compared whole; nothing for any other, and never
// `*`. Credentials are a header here and no cookie, so Access-Control-Allow-Credentials is never
// sent: a page must bring its own. Thread safety: const. Cost: nothing without a list, else a look
// for Origin and ready lines.
#pragma once

#include <holdfast/http/front_rules.hpp>
#include <holdfast/http/message.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::http {

class CrossOrigin {
public:
    explicit CrossOrigin(CrossOriginRules const& rules);
    /// Lines of the reply to this request, each led in by its CR LF.
    [[nodiscard]] std::string_view lines(Request const& request) const noexcept;
    /// Adds the grants to the answer of OPTIONS, if it is a browser's question about a listed
    /// origin, one of the methods in `allow`, and fields that the interface knows.
    void grant(Request const& request, std::string_view allow, Reply& reply) const;

private:
    struct Listed {
        std::string origin;
        std::string lines;
    };
    [[nodiscard]] Listed const* find(std::string_view origin) const noexcept;

    std::vector<Listed> listed_;
    std::string max_age_;
};

}  // namespace holdfast::http
