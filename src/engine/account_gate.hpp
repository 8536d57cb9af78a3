// AccountGate: the limits of the account that makes one claim.
//
// Purpose: answers them as refusals, before a search is paid for as well as when the claim itself
//   meets one; and knows the places that the account may not have again yet.
// Thread safety: one claim, one thread.
// Cost: nothing for a guest or an event without such limits. An account that would be refused, or
//   has a budget and an open hold, first ends what is due, at most limits::settled_per_claim_max
//   slots, and not again in the same millisecond if nothing is due; if another thread is just
//   doing that, it waits for it with its verb's patience (patience.hpp). Each look that meets a
//   cool-down looks through limits::cool_down_window places around it and allocates.
#pragma once

#include "engine/patience.hpp"
#include "engine/sale.hpp"

#include <holdfast/domain/refusal.hpp>

#include <optional>
#include <span>
#include <vector>

namespace holdfast::engine {

class AccountGate {
public:
    /// `account` 0: nobody who is counted. `patience`: the verb's, which outlives this.
    AccountGate(Sale& sale, std::uint64_t account, TimePoint now, Patience& patience)
        : sale_(sale),
          account_(account),
          now_(now),
          patience_(patience),
          counted_(account != 0 && sale.inventory().users != nullptr),
          cools_(account != 0 && sale.inventory().cool_downs != nullptr) {}

    /// Whether this claim meets cool-downs at all; cheap, ask first.
    [[nodiscard]] bool cools() const noexcept { return cools_; }
    /// Why so many places are over a limit whatever happens; nothing if they are not.
    [[nodiscard]] std::optional<Refusal> foresee(std::uint32_t places) const {
        return foresee(inventory::UserWish{places, 1});
    }
    /// Why it may not hold anything longer: its budget is spent. Nothing if it may.
    [[nodiscard]] std::optional<Refusal> spent() const;
    /// Why an open hold cannot get so many places more, or any others. A spent budget allows
    /// neither: it may only get fewer.
    [[nodiscard]] std::optional<Refusal> foresee_exchange(std::size_t added,
                                                          std::size_t dropped) const;
    /// How many places more the account may have as it looks now.
    [[nodiscard]] std::uint32_t room() const;
    /// Why a claim of so many places, which were foreseen to be within the limits, has met one all
    /// the same. Nothing: it may be otherwise by now, claim again.
    [[nodiscard]] std::optional<Refusal> refuse_limited(inventory::UserVerdict verdict,
                                                        std::uint32_t places) const;
    /// Why a claim was refused; `busy` too.
    [[nodiscard]] Refusal refusal_of(inventory::UserVerdict verdict) const;

    /// Until when this account must leave the place to others, as a refusal that names it. An end
    /// that is due on the place is made first, so that it counts.
    [[nodiscard]] std::optional<Refusal> cooling(SeatIndex seat) const;
    /// Why the account cannot have this seat, asked for by name: somebody else has it by now,
    /// or it cools down. What is taken and does not cool down shows in the claim itself.
    [[nodiscard]] std::optional<Refusal> refuse_named(SeatIndex seat) const;
    /// Whether any of the places cools down. If so these, and what cools down around them, is for
    /// searches to leave out; so each look that says yes has more to leave out than the last.
    [[nodiscard]] bool meets_cooling(std::span<SeatIndex const> places) {
        return cools_ && leave_out_cooling(places);
    }
    /// The refusal of that one of the places that cools down the longest: then all may be had.
    /// Nothing if none does.
    [[nodiscard]] std::optional<Refusal> until_all_cooled(std::span<SeatIndex const> places) const;
    /// The same until `lacking` of those may be had that only cool down; `busy` if they are fewer.
    [[nodiscard]] Refusal until_enough_cooled(std::span<SeatIndex const> places,
                                              std::size_t lacking) const;
    /// Ascending.
    [[nodiscard]] std::span<SeatIndex const> to_leave_out() const noexcept { return cooling_; }

private:
    [[nodiscard]] std::optional<Refusal> foresee(inventory::UserWish const& wish) const {
        return counted_ ? foresee_counted(wish) : std::nullopt;
    }
    [[nodiscard]] std::optional<Refusal> foresee_counted(inventory::UserWish const& wish) const;
    [[nodiscard]] bool leave_out_cooling(std::span<SeatIndex const> places);
    void leave_out_around(SeatIndex seat);

    Sale& sale_;
    std::uint64_t account_;
    TimePoint now_;
    Patience& patience_;
    bool counted_;
    bool cools_;
    std::vector<SeatIndex> cooling_;
};

}  // namespace holdfast::engine
