// Place scan: a look at the truth, place by place, by which a search refuses.
//
// Purpose: PROTOCOL.md any(N), step 4: what is free, what an edit under way may free, and until
//   when what is taken stays so.
// Thread safety: any thread.
// Cost: a look at each place; writes hints of free places that have none.
#pragma once

#include <holdfast/inventory/claims.hpp>
#include <holdfast/inventory/free_map.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::inventory {

/// What a scan found.
struct Truth {
    std::uint32_t plain{}, accessible{}, maybe{};
    TimePoint earliest{no_deadline};
    bool no_space{};
    bool due{};  // a hold past its deadline was seen and left as it is
    struct Maybe {
        HoldRef ref;
        HoldWord word;
    };
    std::array<Maybe, 16> maybes;

    [[nodiscard]] std::uint32_t free() const noexcept { return plain + accessible; }
    /// Whether so many places, just so many of them accessible, would be there with `more` of
    /// either kind.
    [[nodiscard]] bool has(std::uint32_t quantity, std::uint32_t wanted_accessible,
                           std::uint32_t more) const noexcept {
        return plain + more >= quantity - wanted_accessible &&
               accessible + more >= wanted_accessible && free() + more >= quantity;
    }
};

template <class A, class Facts>
class PlaceScan {
public:
    explicit PlaceScan(Claims<A, Facts>& claims) : claims_(claims), places_(claims.places()) {}

    /// `visit_all(visit)` calls `visit` with each place until that says false. Ends as many holds
    /// past their deadline as it is told to: after a crowd's deadline nobody pays for the whole
    /// crowd who just wants a place. The places of the others count as free and get a hint; the
    /// claim ends what is in its way.
    template <class VisitAll>
    [[nodiscard]] Truth look(TimePoint now, VisitAll const& visit_all, FreeMap& seen_free,
                             std::size_t& ends_left) {
        Truth truth;
        visit_all([&](std::uint32_t place) {
            claims_.expect_look(place + looks_ahead);
            auto sight = claims_.settle(place, now, false);
            using Kind = decltype(sight.kind);
            if (sight.kind == Kind::due && ends_left > 0) {
                --ends_left;
                sight = claims_.settle(place, now, true);
            }
            switch (sight.kind) {
                case Kind::due:
                    truth.due = true;
                    [[fallthrough]];
                case Kind::free:
                    if (!places_.hinted(place)) places_.set_hint(place);
                    seen_free.add(place);
                    ++(places_.geometry().accessible(place) ? truth.accessible : truth.plain);
                    break;
                case Kind::taken:
                    truth.earliest = std::min(truth.earliest, from_ms(sight.deadline));
                    break;
                case Kind::maybe:
                    if (truth.maybe < truth.maybes.size())
                        truth.maybes[truth.maybe] = {sight.owner, sight.word};
                    ++truth.maybe;
                    break;
                case Kind::no_space:
                    truth.no_space = true;
                    return false;
            }
            return true;
        });
        return truth;
    }

    /// Whether the holds that were being edited still are, by the same edit.
    [[nodiscard]] bool unchanged(Truth const& truth) {
        if (truth.maybe > truth.maybes.size()) return false;
        for (std::uint32_t i = 0; i < truth.maybe; ++i) {
            auto const& maybe = truth.maybes[i];
            // acquire: a status read.
            if (places_.slot_of(maybe.ref).word.load(A::acquire) != maybe.word.bits()) return false;
        }
        return true;
    }

private:
    static constexpr std::uint32_t looks_ahead = 16;  // a few times the way to memory

    Claims<A, Facts>& claims_;
    Places<A>& places_;
};

}  // namespace holdfast::inventory
