// Keyed: one request that may carry an Idempotency-Key (API.md section 7).
//
// Purpose: a handler makes one once it knows that the request may be answered at all, so after
//   credentials and before the body, so that a body that is refused by now does not refuse what
//   was done (of an order the body has the credentials, and comes first); it answers again from
//   again(), or returns if answered(), or gives mark() to the engine. The rest is done when the
//   object goes: refusals that were decided
//   are kept, a request that had no effect is forgotten, and a repeated answer is marked as such.
// Thread safety: one request, one thread. Invariants: of two requests with one key one runs; a
//   success that is answered again waits for the record of the first; a refusal that is kept says
//   that the same request will not succeed later.
// Cost: one branch without a key; with one an allocation, two SHA-256 and three locked look-ups.
#pragma once

#include <holdfast/api/routes.hpp>
#include <holdfast/http/message.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

namespace holdfast::api {

class Keyed {
public:
    enum Unproved : std::uint8_t { unproved };

    /// The credentials were checked.
    Keyed(Context const& context, http::Request const& request, http::Reply& reply);
    /// Those of a holder were not. Then the key alone is the scope, and must be one that nobody
    /// guesses.
    Keyed(Context const& context, http::Request const& request, http::Reply& reply, Unproved) {
        if (request.idempotency_key) begin(context, request, reply, {});
    }
    /// `proof` of a holder was, wherever it came from.
    Keyed(Context const& context, http::Request const& request, http::Reply& reply,
          std::string_view proof) {
        if (request.idempotency_key) begin(context, request, reply, proof);
    }
    ~Keyed() {
        if (call_ != nullptr) end();
    }
    Keyed(Keyed const&) = delete;
    Keyed& operator=(Keyed const&) = delete;

    /// The reply is written: the key is no key, is in use, or was refused before.
    [[nodiscard]] bool answered() const noexcept {
        return call_ != nullptr && call_->is == Is::answered;
    }
    /// Null without a key.
    [[nodiscard]] engine::Mark const* mark() const noexcept {
        return call_ != nullptr ? &call_->mark : nullptr;
    }
    template <class Kind>
    [[nodiscard]] bool is_again() const noexcept {
        return call_ != nullptr && call_->is == Is::again &&
               std::holds_alternative<Kind>(call_->answer);
    }
    /// What the first answer was made of; null if this is the first. If it is of another kind,
    /// which the same method, target and body never are, that is answered.
    template <class Kind>
    [[nodiscard]] Kind const* again() {
        if (is_again<Kind>()) return std::get_if<Kind>(&call_->answer);
        if (call_ != nullptr && call_->is == Is::again) refuse_again();
        return nullptr;
    }
    /// A success that the engine knows nothing of is kept as it is, in memory only.
    void keep_reply() noexcept {
        if (call_ != nullptr) call_->keeps = Keeps::reply;
    }
    /// Whatever comes of it, a repeat asks anew.
    void keep_nothing() noexcept {
        if (call_ != nullptr) call_->keeps = Keeps::nothing;
    }

private:
    enum class Is : std::uint8_t { fresh, answered, again };
    enum class Keeps : std::uint8_t { refusal, reply, nothing };
    struct Call {
        engine::Marks& marks;
        http::Request const& request;
        http::Reply& reply;
        engine::Mark mark;
        Is is{Is::answered};
        Keeps keeps{Keeps::refusal};
        engine::Answer answer{};
        Lsn lsn{};
    };
    void begin(Context const& context, http::Request const& request, http::Reply& reply,
               std::optional<std::string_view> proof);
    void refuse_again();
    void end() noexcept;
    void keep_refusal();

    int exceptions_{std::uncaught_exceptions()};
    std::unique_ptr<Call> call_;
};

/// The hold of an answer that is answered again. Nothing: that cannot be shown now, and the reply
/// says so.
[[nodiscard]] std::optional<engine::HoldView> shown_again(Context const& context,
                                                          http::Request const& request,
                                                          http::Reply& reply,
                                                          engine::HoldAnswer const& answer);

}  // namespace holdfast::api
