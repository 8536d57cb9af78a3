// Marks: what a request with an Idempotency-Key leaves behind, so that a repeat gets the first
// answer and has no second effect (API.md 7).
//
// Purpose: a success is marked in the very record of its effect, or in a record of its own if it
//   found nothing to change; this is the table of those marks, of requests in flight, and of
//   refusals, which are kept in memory only. An answer is kept as what it was made of, so that it
//   can be made again.
// Thread safety: Marks: any thread; a mutex a shard, held for one look-up or insert and what that
//   displaces; memory is given back after it. The rest: values and pure functions.
// Invariants: a key goes from unknown to in flight to done, and back to unknown only if nothing
//   happened, when its time is over, or when the table is full; then marks of ended holds go first,
//   and those of orders last. Memory is bounded, that of refusals for itself and in shares. Nothing
//   of a key or a token is kept but hashes.
// Cost: about 200 bytes a mark and 4 a place; one SHA-256 of the request, by the caller.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/event.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/engine/facts.hpp>
#include <holdfast/engine/server_key.hpp>

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace holdfast::engine {

/// 128 bits of a hash.
struct MarkHash {
    std::uint64_t high{}, low{};
    friend auto operator<=>(MarkHash const&, MarkHash const&) = default;
};

/// A request with a key.
struct Mark {
    MarkHash scope;    // of who asks, and the key
    MarkHash request;  // of method, target and body
    friend bool operator==(Mark const&, Mark const&) = default;
};

// What an answer was made of.
struct HoldAnswer {
    HoldName hold;
    TimePoint created_at{};
    TimePoint expires_at{};
    std::uint64_t holder{};  // as in the records
    std::vector<SeatIndex> seats;
    friend bool operator==(HoldAnswer const&, HoldAnswer const&) = default;
};
/// A hold has ended.
struct EndAnswer {
    HoldName hold;
    friend bool operator==(EndAnswer const&, EndAnswer const&) = default;
};
struct OrderAnswer {
    struct Part {
        EventId event{};
        std::vector<SeatIndex> seats;
        friend bool operator==(Part const&, Part const&) = default;
    };
    OrderId order;
    TimePoint created_at{};
    PaymentMethod method{PaymentMethod::none};
    std::int64_t total{};
    std::vector<Part> parts;  // of each hold, as they were sold
    friend bool operator==(OrderAnswer const&, OrderAnswer const&) = default;
};
/// An order that was cancelled, refunded or reseated; what else it says never changes.
struct ChangeAnswer {
    struct Ticket {
        SeatIndex seat{};  // of a ticket without a named seat, any place of its section
        bool refunded{};
        friend bool operator==(Ticket const&, Ticket const&) = default;
    };
    OrderId order;
    bool cancelled{};
    std::int64_t total{};
    std::vector<Ticket> tickets;  // as the store lists them
    friend bool operator==(ChangeAnswer const&, ChangeAnswer const&) = default;
};
struct StepAnswer {
    EventId event{};
    EventState state{};
    friend bool operator==(StepAnswer const&, StepAnswer const&) = default;
};
using Answer = std::variant<HoldAnswer, EndAnswer, OrderAnswer, ChangeAnswer, StepAnswer>;

using AnswerBytes = std::vector<std::byte>;
[[nodiscard]] AnswerBytes encode(Answer const& answer);
/// Nothing if the bytes are not exactly one answer.
[[nodiscard]] std::optional<Answer> decode_answer(std::span<std::byte const> bytes);

/// A mark that is done.
struct MarkEntry {
    Mark mark;
    TimePoint at{};
    TimePoint keep_until{};
    Lsn lsn{};           // that the answer waits for
    AnswerBytes answer;  // of a refusal what the caller gave
    friend bool operator==(MarkEntry const&, MarkEntry const&) = default;
};

struct MarkBounds {
    std::size_t marks{limits::mark_bytes_default};
    std::size_t refusals{limits::refusal_bytes_default};
};

struct MarkCounts {
    std::uint64_t marks{}, mark_bytes{};  // of successes
    std::uint64_t refusals{}, refusal_bytes{};
    std::uint64_t in_flight{};
    std::uint64_t evicted{};  // because the table was full
    std::uint64_t replayed{}, mismatched{}, refused_in_flight{};
};

class Marks {
public:
    /// `lives`: whether a hold still has its places.
    using Lives = std::function<bool(HoldName const&)>;
    Marks(MarkBounds const& bounds, Lives lives);
    ~Marks();
    Marks(Marks const&) = delete;
    Marks& operator=(Marks const&) = delete;

    struct Begun {
        enum class Kind : std::uint8_t {
            fresh,      // in flight from now on: forget() it, unless it is done then
            in_flight,  // of another request
            mismatch,   // the key belongs to another request
            answered,   // `answer` and `lsn`
            refused,    // `answer`: what keep_refusal() or keep_reply() was given
        } kind{};
        AnswerBytes answer{};
        Lsn lsn{};
    };
    [[nodiscard]] Begun begin(Mark const& mark, TimePoint now);
    /// The request has had its effect, and its record has the mark.
    void finish(MarkEntry entry);
    /// Refusals of one `whose` (a network, an account) can push out those of a fifteenth of all at
    /// most. Nothing: one that would be refused again anyway; these push out each other only.
    void keep_refusal(Mark const& mark, TimePoint now, AnswerBytes refusal,
                      std::optional<std::uint64_t> whose);
    /// A success that ends with this process, so that its mark need not outlive it; no refusal
    /// pushes it out. Begun says `refused` and these bytes.
    void keep_reply(Mark const& mark, TimePoint now, AnswerBytes reply);
    /// The request has had no effect, if it is still in flight.
    void forget(Mark const& mark) noexcept;

    /// Of the journal, in the order of their LSNs; at a start. Of two of one key the newer counts.
    void restore(std::vector<MarkEntry> entries);
    [[nodiscard]] MarkCounts counts() const;

private:
    struct Shard;
    [[nodiscard]] Shard& shard_of(MarkHash const& scope) const noexcept;

    Lives lives_;
    std::unique_ptr<Shard[]> shards_;
};

}  // namespace holdfast::engine
