// Keyed: one request that may carry an Idempotency-Key (API.md section 7).
//
// Purpose: a handler makes one once it knows that the request may be answered at all, so after
//   credentials and before the body; it returns if answered(), answers again from again(), or gives
//   mark() to the engine. The rest is done when the object goes: refusals that were decided are
//   kept, a request that had no effect is forgotten, and a repeated answer is marked as such.
// Thread safety: one request, one thread. Invariants: of two requests with one key one runs; a
//   success that is answered again waits for the record of the first.
// Cost: one branch without a key; with one an allocation, two SHA-256 and a look-up.
#pragma once

#include <holdfast/api/routes.hpp>
#include <holdfast/base/assert.hpp>
#include <holdfast/http/message.hpp>

#include <cstdint>
#include <memory>
#include <variant>

namespace holdfast::api {

class Keyed {
public:
    /// Whether credentials of a holder were checked. If not, or if there are none, the key alone is
    /// the scope; then it must be one that nobody guesses.
    enum class Holder : std::uint8_t { proved, unproved };

    Keyed(Context const& context, http::Request const& request, http::Reply& reply,
          Holder holder = Holder::proved) {
        if (request.idempotency_key) begin(context, request, reply, holder);
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
    /// What the first answer was made of; null if this is the first.
    [[nodiscard]] engine::Answer const* again() const noexcept {
        return call_ != nullptr && call_->is == Is::again ? &call_->answer : nullptr;
    }
    /// The same where the route has one kind of answers.
    template <class Kind>
    [[nodiscard]] Kind const* again() const noexcept {
        engine::Answer const* const answer = again();
        if (answer == nullptr) return nullptr;
        // The same method, target and body: the same route.
        HOLDFAST_ASSERT(std::holds_alternative<Kind>(*answer));
        return std::get_if<Kind>(answer);
    }
    /// A success that the engine knows nothing of is kept as it is, in memory only.
    void keep_reply() noexcept {
        if (call_ != nullptr) call_->keep = true;
    }

private:
    enum class Is : std::uint8_t { fresh, answered, again };
    struct Call {
        engine::Marks& marks;
        http::Request const& request;
        http::Reply& reply;
        engine::Mark mark;
        Is is{Is::answered};
        bool keep{};
        engine::Answer answer{};
        Lsn lsn{};
    };
    void begin(Context const& context, http::Request const& request, http::Reply& reply,
               Holder holder);
    void end() noexcept;
    void keep_refusal();

    std::unique_ptr<Call> call_;
};

}  // namespace holdfast::api
