// Reference page: the OpenAPI document as one page of HTML, without scripts.
//
// Purpose: parts by tag, parameters, bodies with curl, answers, and every problem. Knows the part
// of OpenAPI that openapi.json uses.
// Thread safety: pure. Invariants: every text and name of the document is escaped.
// Cost: some milliseconds; made once.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::api {

/// `document` is ours and well-formed; of another one boost::json's exceptions tell.
[[nodiscard]] std::string reference_page(std::string_view document);
/// What stands in the page's one <style>.
[[nodiscard]] std::string_view reference_style() noexcept;

}  // namespace holdfast::api
