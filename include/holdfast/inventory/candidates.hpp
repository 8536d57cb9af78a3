// Candidates: the first places that are free of a list in the order of somebody's wishes.
//
// Purpose: "the first N free in the given order, else nothing" by the rule of PROTOCOL.md any(N):
//   walk along the list; too few found is only believed if nothing was freed meanwhile, and where
//   an edit under way may free what is lacking, its word must still be the same.
// Thread safety: any thread. Invariants: too few are answered only if at some instant of the call
//   fewer than N of the places could be had, and that the caller may not have them only if at some
//   instant fewer than N of the others could.
// Cost: a look at each place up to the last one found, again after each free, at most
//   limits::search_rounds_max times; no allocation.
#pragma once

#include <holdfast/inventory/claims.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::inventory {

struct CandidatesOutcome {
    enum class Kind : std::uint8_t { chosen, taken, passed_over, busy } kind{};
    SeatIndex seat{};  // taken: one that was; passed_over: one that only the caller may not have
};

template <class A, class Facts>
class Candidates {
public:
    explicit Candidates(Claims<A, Facts>& claims) : claims_(claims), places_(claims.places()) {}

    /// Appends `count` of `seats` to `chosen`, to be claimed. `pass_over(seat)`: whether the caller
    /// may not have this free one. passed_over: without that there would be enough.
    template <class PassOver>
    [[nodiscard]] CandidatesOutcome choose(std::span<SeatIndex const> seats, std::uint32_t count,
                                           TimePoint now, PassOver pass_over,
                                           std::vector<SeatIndex>& chosen) {
        using Kind = CandidatesOutcome::Kind;
        std::size_t const start = chosen.size();
        for (int round = 0; round < limits::search_rounds_max; ++round) {
            chosen.resize(start);
            std::uint64_t const before = places_.event_frees();
            Walk walk;
            for (SeatIndex const seat : seats) {
                if (walk.found == count) break;
                if (!look(seat, now, pass_over, walk, chosen)) return {Kind::busy, {}};
            }
            if (walk.found == count) return {Kind::chosen, {}};
            // Unchanged: all that were seen taken were taken at one instant, except the maybes.
            if (places_.event_frees() != before) continue;
            std::uint32_t const free = walk.found + walk.passed_over;
            std::uint32_t const lacking = count - (free < count ? free : walk.found);
            if (walk.maybe >= lacking && !unchanged(walk)) continue;
            if (free < count) return {Kind::taken, *walk.taken};
            return {Kind::passed_over, *walk.first};
        }
        return {Kind::busy, {}};
    }

private:
    struct Maybe {
        HoldRef ref;
        HoldWord word;
    };
    /// What one walk along the list found.
    struct Walk {
        std::uint32_t found{}, passed_over{}, maybe{};
        std::optional<SeatIndex> taken;  // the first of all that cannot be had
        std::optional<SeatIndex> first;  // that was passed over
        std::array<Maybe, 16> maybes;
    };

    /// False: there is no room in the journal to end what is in the way.
    template <class PassOver>
    [[nodiscard]] bool look(SeatIndex seat, TimePoint now, PassOver& pass_over, Walk& walk,
                            std::vector<SeatIndex>& chosen) {
        using Kind = typename Claims<A, Facts>::Sight::Kind;
        bool const for_sale = places_.geometry().for_sale(seat.value());
        auto const sight = for_sale ? claims_.settle(seat.value(), now, false)
                                    : typename Claims<A, Facts>::Sight{Kind::taken, {}, {}, 0};
        if (sight.kind == Kind::no_space) return false;
        // A hold past its deadline is left as it is: the claim ends those in its way.
        bool const free = sight.kind == Kind::free || sight.kind == Kind::due;
        if (free && pass_over(seat)) {
            ++walk.passed_over;
            if (!walk.first) walk.first = seat;
            return true;
        }
        if (free) {
            chosen.push_back(seat);
            ++walk.found;
            return true;
        }
        if (!walk.taken) walk.taken = seat;
        if (sight.kind != Kind::maybe) return true;
        if (walk.maybe < walk.maybes.size()) walk.maybes[walk.maybe] = {sight.owner, sight.word};
        ++walk.maybe;
        return true;
    }
    /// Whether the holds that were being edited still are, by the same edit.
    [[nodiscard]] bool unchanged(Walk const& walk) {
        if (walk.maybe > walk.maybes.size()) return false;
        for (std::uint32_t i = 0; i < walk.maybe; ++i) {
            // acquire: a status read.
            auto const word = places_.slot_of(walk.maybes[i].ref).word.load(A::acquire);
            if (word != walk.maybes[i].word.bits()) return false;
        }
        return true;
    }

    Claims<A, Facts>& claims_;
    Places<A>& places_;
};

}  // namespace holdfast::inventory
