#include "api/empty_body.hpp"

#include "api/json_decoder.hpp"
#include "api/problems.hpp"

namespace holdfast::api {

bool has_no_fields(http::Request const& request, http::Reply& reply) {
    if (request.body.empty()) return true;
    JsonReader reader;
    Input<JsonValue> const root = reader.read_object(request.body);
    if (!root) {
        write_input_error(reply, request, root.error());
        return false;
    }
    DecodeState state;
    ObjectDecoder(*root, state).finish();
    if (state.failed()) write_input_error(reply, request, state.error());
    return !state.failed();
}

}  // namespace holdfast::api
