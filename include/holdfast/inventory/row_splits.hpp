// Row splits: the ways to take some seats of one row, in one block or several.
//
// Purpose: the inner step of splits (split_blocks.hpp). For every number of seats, and of
//   accessible ones among them, the best that the row can give.
// Thread safety: a value of one thread; keeps its memory from row to row.
// Invariants: a block is a stretch of neighbours (no aisle between) that holds groups whole.
// Cost: usable seats x numbers asked for x six states; allocates until it has grown.
#pragma once

#include <holdfast/inventory/geometry.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace holdfast::inventory {

/// What a split is judged by; the least is the best. Keys of parts add up.
struct SplitKey {
    /// In this order, each in bits of its own: people who sit alone, whether there are several
    /// sections, blocks, clusters of rows that touch, single free seats left beside a block.
    std::uint64_t seating{};
    std::uint64_t cost{};  // sum of distances

    static constexpr std::uint64_t orphan = 1;
    static constexpr std::uint64_t cluster = std::uint64_t{1} << 12;
    static constexpr std::uint64_t block = std::uint64_t{1} << 24;
    static constexpr std::uint64_t several_sections = std::uint64_t{1} << 36;
    static constexpr std::uint64_t alone = std::uint64_t{1} << 40;

    [[nodiscard]] static constexpr SplitKey impossible() noexcept { return {~std::uint64_t{0}, 0}; }
    [[nodiscard]] bool possible() const noexcept { return seating != ~std::uint64_t{0}; }
    friend SplitKey operator+(SplitKey const& a, SplitKey const& b) noexcept {
        return {a.seating + b.seating, a.cost + b.cost};
    }
    friend auto operator<=>(SplitKey const&, SplitKey const&) = default;
};

/// How many seats, and how many accessible ones among them.
struct SplitCount {
    std::uint32_t seats{};
    std::uint32_t accessible{};
    friend bool operator==(SplitCount const&, SplitCount const&) = default;
};

class RowSplits {
public:
    /// `usable`: ascending seats of one row that are free and may be taken, or be left over; with
    /// most.accessible 0 no accessible one is taken. The answers are best() for up to `most`.
    void measure(Geometry const& geometry, std::span<std::uint32_t const> usable,
                 SplitCount const& most, bool prevent_orphans) {
        walk(geometry, usable, most, prevent_orphans, false);
    }
    [[nodiscard]] SplitKey const& best(SplitCount const& count) const noexcept {
        return best_[at(count)];
    }
    /// The seats of that answer, in no order, appended to `seats`. Measures anew.
    void trace(Geometry const& geometry, std::span<std::uint32_t const> usable,
               SplitCount const& count, bool prevent_orphans, std::vector<SeatIndex>& seats) {
        walk(geometry, usable, count, prevent_orphans, true);
        SplitCount left = count;
        State state = ends_[at(left)];
        for (std::size_t i = usable.size(); i-- > 0;) {
            State const before = came_from_[(i * states + state) * plane_ + at(left)];
            if (state == one || state == block) {
                seats.push_back(SeatIndex{usable[i]});
                --left.seats;
                if (most_.accessible > 0 && geometry.accessible(usable[i])) --left.accessible;
            }
            state = before;
        }
    }

private:
    /// What stands to the left of a seat.
    enum State : std::uint8_t {
        edge,         // nothing free
        lone_fresh,   // one free seat, behind an edge
        lone_beside,  // one free seat, beside a block
        wide,         // two free seats or more
        one,          // a block of one
        block,        // a block of two or more
        states,
    };
    using Keys = std::array<std::vector<SplitKey>, states>;

    [[nodiscard]] std::size_t at(SplitCount const& count) const noexcept {
        return std::size_t{count.seats} * (most_.accessible + 1) + count.accessible;
    }
    [[nodiscard]] SplitKey end_of(State state) const noexcept {
        if (state == one) return {SplitKey::alone + SplitKey::block, 0};
        if (state == block) return {SplitKey::block, 0};
        return state == lone_beside ? SplitKey{orphan_, 0} : SplitKey{};
    }

    void walk(Geometry const& geometry, std::span<std::uint32_t const> usable,
              SplitCount const& most, bool prevent_orphans, bool traced) {
        most_ = most;
        orphan_ = prevent_orphans ? SplitKey::orphan : 0;
        plane_ = at(most) + 1;
        for (auto& plane : now_) plane.assign(plane_, SplitKey::impossible());
        now_[edge][0] = {};
        if (traced) came_from_.assign(usable.size() * states * plane_, edge);
        for (std::size_t i = 0; i < usable.size(); ++i) {
            std::uint32_t const seat = usable[i];
            bool const cut = i == 0 || usable[i - 1] + 1 != seat || geometry.aisle_before(seat);
            bool const torn = i > 0 && geometry.joined(usable[i - 1] + 1);
            from_ = traced ? &came_from_[i * states * plane_] : nullptr;
            step(geometry, seat, cut, torn);
        }
        best_.assign(plane_, SplitKey::impossible());
        ends_.assign(plane_, edge);
        bool const torn = !usable.empty() && geometry.joined(usable.back() + 1);
        for (std::size_t count = 0; count < plane_; ++count) {
            for (std::uint8_t s = 0; s < states; ++s) {
                auto const state = static_cast<State>(s);
                if (!now_[s][count].possible() || (torn && state >= one)) continue;
                SplitKey const key = now_[s][count] + end_of(state);
                if (key < best_[count]) {
                    best_[count] = key;
                    ends_[count] = state;
                }
            }
        }
    }

    /// One more usable seat. `cut`: the one before it is no neighbour; `torn`: a block that ends
    /// before it would end within a group.
    void step(Geometry const& geometry, std::uint32_t seat, bool cut, bool torn) {
        for (auto& plane : next_) plane.assign(plane_, SplitKey::impossible());
        bool const accessible = geometry.accessible(seat);
        bool const takes = !accessible || most_.accessible > 0;
        SplitCount const taken{1, accessible && most_.accessible > 0 ? 1U : 0U};
        for (std::uint8_t s = 0; s < states; ++s) {
            auto const before = static_cast<State>(s);
            bool const ends_torn = torn && before >= one;
            State const here = cut ? edge : before;
            for (SplitCount count; count.seats <= most_.seats; ++count.seats) {
                for (count.accessible = 0; count.accessible <= most_.accessible;
                     ++count.accessible) {
                    SplitKey const& key = now_[s][at(count)];
                    if (!key.possible()) continue;
                    if (cut && ends_torn) continue;
                    SplitKey const base = cut ? key + end_of(before) : key;
                    if (!ends_torn) leave(here, before, count, base);
                    bool const goes_on = here >= one;
                    SplitCount const more{count.seats + taken.seats,
                                          count.accessible + taken.accessible};
                    bool const fits =
                        more.seats <= most_.seats && more.accessible <= most_.accessible;
                    if (takes && fits && (goes_on || !geometry.joined(seat)))
                        take(here, before, more, base + SplitKey{0, geometry.distance(seat)});
                }
            }
        }
        std::swap(now_, next_);
    }
    /// The seat stays free.
    void leave(State here, State before, SplitCount const& count, SplitKey const& base) {
        State const after = here == edge ? lone_fresh : here >= one ? lone_beside : wide;
        offer(after, before, count, here >= one ? base + end_of(here) : base);
    }
    /// The seat is taken; `count` with it.
    void take(State here, State before, SplitCount const& count, SplitKey const& base) {
        bool const orphan = here == lone_fresh || here == lone_beside;
        offer(here >= one ? block : one, before, count,
              orphan ? base + SplitKey{orphan_, 0} : base);
    }
    void offer(State after, State before, SplitCount const& count, SplitKey const& key) {
        SplitKey& best = next_[after][at(count)];
        if (!(key < best)) return;
        best = key;
        if (from_ != nullptr) from_[after * plane_ + at(count)] = before;
    }

    SplitCount most_;
    std::uint64_t orphan_{};
    std::size_t plane_{};
    Keys now_, next_;
    std::vector<SplitKey> best_;
    std::vector<State> ends_;
    std::vector<State> came_from_;
    State* from_{};
};

}  // namespace holdfast::inventory
