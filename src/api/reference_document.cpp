#include "api/reference_document.hpp"

#include <boost/json/parse.hpp>

namespace holdfast::api {
namespace {

boost::json::value parse(std::string_view text) {
    boost::json::parse_options options;
    options.max_depth = json_levels_max;
    return boost::json::parse(text, boost::json::storage_ptr{}, options);
}

}  // namespace

ReferenceDocument::ReferenceDocument(std::string_view text) : root_(parse(text)) {}

}  // namespace holdfast::api
