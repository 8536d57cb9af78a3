// MarkShelf: marks by their scope, within bounds.
//
// Purpose: the store behind Marks (a shelf a shard) and behind a replay.
// Thread safety: one thread at a time.
// Invariants: an entry is in one list at a time. Of successes makes room who is of an ended hold;
//   if none is found, the oldest without a hold that is kept for the usual time; then one of a hold
//   that lives; last what is of an order or kept longer. Refusals have lists of their own, each
//   with its share of their bound, so that they push out no success, and one client not those of
//   all others.
// Cost: a look-up; to make room, at most looks_max questions whether a hold still lives, and as
//   many entries go as the new one is large: a few after a claim. They go into a list of the
//   caller's, who frees them when nobody waits. Who is asked and lives, or is asked and not over,
//   goes to the back of its list.
#pragma once

#include <holdfast/engine/marks.hpp>

#include <array>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::engine {

/// Spreads a part of a hash with a secret of this process: clients choose what is hashed, and must
/// not be able to choose where it goes.
[[nodiscard]] std::size_t seeded(std::uint64_t part) noexcept;

class MarkShelf {
public:
    struct Item {
        MarkEntry entry;
        std::uint8_t in{};  // its list
    };
    using Items = std::list<Item>;

    explicit MarkShelf(MarkBounds const& bounds) : bounds_(bounds) {}

    [[nodiscard]] Marks::Begun begin(Mark const& mark, TimePoint now);
    /// Room for the buckets of as many small marks as there may be, so that none of them waits for
    /// a rehash in the middle of a sale.
    void reserve();
    /// A success. Allocates nothing if the mark is in flight. What it displaces goes into `gone`.
    void put(MarkEntry entry, Marks::Lives const& lives, Items& gone);
    void put_reply(MarkEntry entry, Items& gone) {
        put_unjournaled(std::move(entry), replies, gone);
    }
    /// `whose` as of Marks::keep_refusal.
    void put_refusal(MarkEntry entry, std::optional<std::uint64_t> whose, Items& gone);
    void forget(Mark const& mark) noexcept;
    /// The successes by LSN, without what was over at the newest time of any; valid until the next
    /// change.
    [[nodiscard]] std::vector<MarkEntry*> in_order();
    void add_to(MarkCounts& counts) const;

private:
    /// Lists. of_holds: of claims and what became of them. usual: others that are kept for
    /// mark_life, by time. lasting: what is of an order or kept longer. replies: see
    /// Marks::keep_reply. From refused on: refusals, the first of them for those that would be
    /// refused again anyway.
    enum In : std::uint8_t { flight, of_holds, usual, lasting, replies, refused };
    static constexpr std::size_t refused_lists = 16;
    static constexpr std::size_t lists = refused + refused_lists;
    [[nodiscard]] static bool is_success(std::uint8_t in) noexcept {
        return in > flight && in < replies;
    }
    struct List {
        Items items;
        std::size_t bytes{};
    };
    struct Hash {
        std::size_t operator()(MarkHash const& hash) const noexcept { return seeded(hash.low); }
    };

    [[nodiscard]] static std::size_t bytes_of(MarkEntry const& entry) noexcept;
    [[nodiscard]] Items& items(std::uint8_t in) noexcept { return lists_[in].items; }
    [[nodiscard]] std::size_t success_bytes() const noexcept {
        return lists_[of_holds].bytes + lists_[usual].bytes + lists_[lasting].bytes;
    }
    Items::iterator add(MarkHash const& scope);
    Items::iterator place_for(MarkHash const& scope, Items& gone);
    void put_unjournaled(MarkEntry&& entry, std::uint8_t to, Items& gone);
    void move(Items::iterator item, std::uint8_t to) noexcept;
    void fill(Items::iterator item, MarkEntry&& entry, std::uint8_t to) noexcept;
    void drop(Items::iterator item, Items& gone) noexcept;
    void drop_expired(std::uint8_t in, Items& gone) noexcept;
    void make_room(Marks::Lives const& lives, Items& gone);

    MarkBounds bounds_;
    std::array<List, lists> lists_;
    std::unordered_map<MarkHash, Items::iterator, Hash> items_;
    TimePoint newest_{};  // time of any success
    std::uint64_t evicted_{}, replayed_{}, mismatched_{}, refused_in_flight_{};
};

}  // namespace holdfast::engine
