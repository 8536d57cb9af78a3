// Order decoder: the body of POST /v1/orders.
//
// Purpose: one order of one or more holds, each proved by the header's token or by its own.
// Thread safety: pure. Cost: a short vector.
#pragma once

#include "api/json_decoder.hpp"

#include <holdfast/engine/facts.hpp>

#include <string_view>
#include <vector>

namespace holdfast::api {

struct OrderBody {
    struct Hold {
        std::string_view id;
        std::string_view token;  // empty: the header's
    };
    std::vector<Hold> holds;
    engine::PaymentMethod method{engine::PaymentMethod::none};
    bool has_tokens{};  // the body carries credentials of its own
};

/// Fills `order`; what it found before an error stays, so that the caller can tell a body with
/// tokens from one without.
void decode_order(JsonValue body, DecodeState& state, OrderBody& order);

}  // namespace holdfast::api
