#include "api/order_decoder.hpp"

#include <holdfast/domain/limits.hpp>

#include <algorithm>

namespace holdfast::api {
namespace {

void decode_hold(JsonValue value, DecodeState& state, OrderBody& order) {
    OrderBody::Hold hold;
    if (value.is(JsonKind::object)) {
        ObjectDecoder fields(value, state);
        hold.token = fields.text("token", JsonLimits::string_bytes_max);
        order.has_tokens = order.has_tokens || !hold.token.empty();
        hold.id = fields.text("hold", JsonLimits::string_bytes_max);
        fields.finish();
    } else {
        hold.id = state.text(value, JsonLimits::string_bytes_max);
    }
    if (state.failed()) return;
    bool const repeated = std::ranges::any_of(
        order.holds, [&hold](OrderBody::Hold const& other) { return other.id == hold.id; });
    if (repeated) state.fail(value, "duplicate-hold");
    order.holds.push_back(hold);
}

void decode_payment(JsonValue value, DecodeState& state) {
    ObjectDecoder payment(value, state);
    auto const method = payment.take_required("method");
    if (method) {
        std::string_view const name = state.text(*method, JsonLimits::string_bytes_max);
        if (name == "wallet" || name == "external") {
            state.fail(*method, "unsupported");
        } else if (name != "none") {
            state.fail(*method, "unknown-method");
        }
    }
    payment.finish();
}

}  // namespace

void decode_order(JsonValue body, DecodeState& state, OrderBody& order) {
    ObjectDecoder fields(body, state);
    auto const holds = fields.take_required("holds");
    if (holds && state.array(*holds, {1, limits::holds_per_order_max})) {
        for (JsonValue const value : *holds) decode_hold(value, state, order);
    }
    if (auto const payment = fields.take("payment")) decode_payment(*payment, state);
    fields.finish();
}

}  // namespace holdfast::api
