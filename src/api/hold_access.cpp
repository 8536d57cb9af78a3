#include "api/hold_access.hpp"

#include "api/authorization.hpp"
#include "api/problems.hpp"

namespace holdfast::api {

std::optional<engine::HoldName> admit_holder(Context const& context, http::Request const& request,
                                             http::Reply& reply) {
    Credentials const credentials = credentials_of(request);
    bool const staff = is_operator(credentials, context.admin_token);
    if (!staff && credentials.scheme != Credentials::Scheme::hold) {
        write_unauthenticated(reply, request, "Hold");
        return std::nullopt;
    }
    auto const name = context.key.parse_hold_id(request.parameters[0]);
    if (name && (staff || context.key.token_fits(*name, credentials.token))) return name;
    write_not_found(reply, request);
    return std::nullopt;
}

}  // namespace holdfast::api
