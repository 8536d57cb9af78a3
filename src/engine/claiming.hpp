// Claiming: which places the lines of one claim get.
//
// Purpose: turns the lines of a claim into a choice of places, from the state as it looks now.
//   What is asked for by name goes first, so that the freer lines choose around it: seats,
//   candidates, general places, then best available with the narrowest wish first. A best line that
//   is refused only because of what the claim itself has chosen goes before the others, and all
//   choose again; a claim does that a few times at most.
//   A partial claim leaves out those of its named seats that cannot be had, groups whole. It is
//   refused if nothing is left of it, or as any claim is, by limits, the orphan rule and its other
//   lines, for what it would get.
// Thread safety: one claim, one thread.
// Invariants: a line is called sold out only if that is so without a cool-down of the account and
//   whatever the other lines choose; a cool-down is called by its name.
// Cost: one search a line. The line that is refused costs up to four searches more, and each time
//   that one goes to the front all lines search again: 1 + restarts_max rounds.
#pragma once

#include "engine/account_gate.hpp"
#include "engine/engine_core.hpp"

#include <optional>
#include <span>
#include <vector>

namespace holdfast::engine {

class Claiming {
public:
    /// Lists of a claim under way; kept by its thread, so that claims do not allocate.
    struct Scratch {
        std::vector<SeatIndex> chosen, excluded, named, named_places;
        std::vector<std::uint8_t> best_lines;  // in the order in which they choose
    };

    /// `asked`: places of all lines.
    Claiming(Sale& sale, ClaimCommand const& command, TimePoint now, std::uint32_t asked,
             AccountGate& gate, std::vector<SeatIndex>& places, Scratch& scratch);

    /// Fills `places` ascending with a choice for all lines, from the state as it looks now, after
    /// so many races were lost.
    [[nodiscard]] std::optional<Refusal> choose(int races);
    /// Whether what was chosen by hand may be claimed. Advisory: see engine/orphans.hpp.
    [[nodiscard]] std::optional<Refusal> leaves_orphans() const;
    /// Whether losing this place refuses the claim: somebody asked for just this one.
    [[nodiscard]] bool asked_by_name(SeatIndex seat) const;
    /// From now on no table is taken that has more seats than were asked for; false: none was.
    [[nodiscard]] bool forgo_tables() noexcept;

private:
    [[nodiscard]] std::optional<Refusal> choose_lines();
    [[nodiscard]] std::optional<Refusal> choose_named();
    [[nodiscard]] std::optional<Refusal> choose_best_lines();
    [[nodiscard]] std::optional<Refusal> choose_line(ClaimLine const& line);
    [[nodiscard]] std::optional<Refusal> choose_by_kind(ClaimLine const& line);
    [[nodiscard]] std::optional<Refusal> choose_seats(ClaimLine const& line);
    void choose_those_free(ClaimLine const& line);
    void keep_whole_groups();
    [[nodiscard]] Refusal refuse_all_named() const;
    [[nodiscard]] std::optional<Refusal> choose_candidates(ClaimLine const& line);
    [[nodiscard]] std::optional<Refusal> choose_freely(ClaimLine const& line);
    [[nodiscard]] inventory::Choice search(ClaimLine const& line,
                                           std::span<SeatIndex const> excluded);
    [[nodiscard]] std::optional<Refusal> refuse_line(ClaimLine const& line,
                                                     inventory::Choice choice);
    [[nodiscard]] Refusal refuse_for_own(ClaimLine const& line, inventory::Choice const& beside);
    [[nodiscard]] std::uint32_t own_places_for(ClaimLine const& line) const;
    [[nodiscard]] std::uint32_t largest_beside(ClaimLine const& line, std::uint32_t left);
    [[nodiscard]] bool only_the_sum_decides(ClaimLine const& line) const;
    [[nodiscard]] bool may_move(ClaimLine const& line) const;
    void move_to_front(ClaimLine const& line);
    void sort_best_lines();
    void take(ClaimLine const& line);
    [[nodiscard]] std::uint32_t table_max(BestWish const& best) const;
    [[nodiscard]] std::span<SeatIndex const> excluded();

    Sale& sale_;
    ClaimCommand const& command_;
    TimePoint now_;
    std::uint32_t asked_;
    std::uint32_t given_more_{};  // with whole tables
    std::uint32_t pass_over_{};   // best blocks left to others
    bool in_haste_{};             // any split will do
    bool tables_{true};           // may be given whole
    static constexpr int restarts_max = 4;
    int restarts_left_{restarts_max};  // times that a best line may go to the front
    bool again_{};                     // one has just gone there
    AccountGate& gate_;
    std::vector<SeatIndex>& places_;
    Scratch& scratch_;
    // Which of `places` were chosen by hand, in lines with seats or candidates. Not their span: it
    // would be read as one right after its halves were written, and the claim would wait for it.
    enum class ByHand : std::uint8_t { none, all, named } by_hand_{};
};

}  // namespace holdfast::engine
