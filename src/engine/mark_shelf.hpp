// MarkShelf: marks by their scope, within bounds.
//
// Purpose: the store behind Marks (a shelf a shard) and behind a replay.
// Thread safety: one thread at a time.
// Invariants: an entry is in one list at a time. What makes room when the journaled ones are too
//   many: those of ended holds; if none is found, the oldest without a hold that is kept for the
//   usual time; then one of a hold that lives; last what is kept longer (orders).
// Cost: a look-up; to make room, at most looks_max questions whether a hold still lives. Who is
//   asked and lives, or is asked and not over, goes to the back of its list.
#pragma once

#include <holdfast/engine/marks.hpp>

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
    explicit MarkShelf(MarkBounds const& bounds) : bounds_(bounds) {}

    [[nodiscard]] Marks::Begun begin(Mark const& mark, TimePoint now);
    void put(MarkEntry entry, bool journaled, Marks::Lives const& lives);
    void forget(Mark const& mark) noexcept;
    /// What the journal has, by LSN; without what was over at the newest time of any.
    [[nodiscard]] std::vector<MarkEntry> journaled() const;
    void add_to(MarkCounts& counts) const;

private:
    /// of_holds: of claims and what became of them. usual: others that are kept for mark_life, by
    /// time. lasting: what is kept longer.
    enum class In : std::uint8_t { flight, of_holds, usual, lasting, unjournaled };
    [[nodiscard]] static bool is_journaled(In in) noexcept {
        return in == In::of_holds || in == In::usual || in == In::lasting;
    }
    struct Item {
        MarkEntry entry;
        In in{In::flight};
    };
    using Items = std::list<Item>;
    struct Hash {
        std::size_t operator()(MarkHash const& hash) const noexcept { return seeded(hash.low); }
    };

    [[nodiscard]] static std::size_t bytes_of(MarkEntry const& entry) noexcept;
    [[nodiscard]] Items& list(In in) noexcept { return lists_[static_cast<std::size_t>(in)]; }
    [[nodiscard]] Items const& list(In in) const noexcept {
        return lists_[static_cast<std::size_t>(in)];
    }
    void move(Items::iterator item, In to) noexcept;
    void drop(Items::iterator item) noexcept;
    void drop_expired(In in) noexcept;
    void make_room(Marks::Lives const& lives);

    MarkBounds bounds_;
    Items lists_[5];
    std::unordered_map<MarkHash, Items::iterator, Hash> items_;
    TimePoint newest_{};  // time of any mark
    std::size_t bytes_{};
    std::size_t unjournaled_bytes_{};
    std::uint64_t evicted_{}, replayed_{}, mismatched_{}, refused_in_flight_{};
};

}  // namespace holdfast::engine
