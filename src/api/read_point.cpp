#include "api/read_point.hpp"

namespace holdfast::api {

Lsn read_point(Context const& context) {
    return context.journal.appended_lsn();
}

void wait_for_order(Context const& context, Refusal const& refusal, http::Reply& reply) {
    if (refusal.code == RefusalCode::already_confirmed) reply.lsn = read_point(context);
}

}  // namespace holdfast::api
