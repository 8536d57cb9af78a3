// Kept refusals: what a request with a key was refused with, in few bytes, and again.
//
// Purpose: a refusal that was decided is kept, so that a repeat that the network sends late cannot
//   succeed. Its code and its own members are all that is kept; the rest of the document is made
//   anew, for the request that asks.
// Thread safety: pure functions on the caller's Reply. Cost: some 40 bytes, and the seats it lists.
#pragma once

#include <holdfast/engine/marks.hpp>
#include <holdfast/http/message.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::api {

struct KeptRefusal {
    engine::AnswerBytes bytes;
    /// The same request would be refused again anyway: what it asks for is over for good.
    bool by_nature{};
};

/// Nothing if the reply is none that is kept: of 402, 409 and 410 those that a command decided.
[[nodiscard]] std::optional<KeptRefusal> kept_refusal(http::Reply const& reply);
/// Says in the reply that the same request, with its key, will not succeed.
void make_final(http::Reply& reply);
/// The refusal again. False: those bytes are none.
[[nodiscard]] bool write_kept(http::Reply& reply, http::Request const& request,
                              std::span<std::byte const> kept);

}  // namespace holdfast::api
