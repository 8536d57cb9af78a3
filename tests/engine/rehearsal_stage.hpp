// RehearsalStage: an engine beside the sequential model, and what every command needs of both.
#pragma once

#include "tests/engine/orphan_definition.hpp"
#include "tests/engine/sale_fixture.hpp"
#include "tests/engine/sequential_model.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::engine::test {

struct Command {
    enum class Verb : std::uint8_t {
        seats,
        candidates,
        best,
        general,
        lines,
        partial,
        release,
        extend,
        confirm,
        confirm_two,
        cancel,
        exchange,
        give_back,
        refund,
        reseat,
        block,
        unblock,
        wait,
        tick,
        restart,
    } verb{};
    std::uint32_t a{}, b{}, c{};
};

/// What came to pass in many sequences, so that a test can tell that everything did.
struct Tally {
    std::map<Command::Verb, std::size_t> done;
    std::map<std::pair<RefusalCode, int>, std::size_t> refused;  // with what there is of a reason
};

/// What a sequence is about besides its commands.
struct Rules {
    OrphanRule orphans{OrphanRule::off};
    bool limits{};  // of accounts
};

class RehearsalStage {
protected:
    using Life = SequentialModel::Life;
    using Numbers = SequentialModel::Seats;
    struct Known {
        HoldName name;
        OrderId order;
    };

    static constexpr std::uint32_t labelled = 20, general_places = 10, accounts = 3;
    static constexpr std::uint32_t accessible_first = 14, accessible_end = 16;  // of small_house()

    RehearsalStage(Rules const& rules, Tally& tally)
        : tally_(tally),
          rules_(rules),
          policy_(policy_of(rules)),
          first_(policy_),
          model_(policy_) {
        engine_ = &first_.engine;
        event_ = first_.event;
        for (std::uint32_t i = 0; i < general_places; ++i) standing_.push_back(labelled + i);
        for (std::uint32_t i = 0; i < labelled; ++i)
            if (i < accessible_first || i >= accessible_end) plain_.push_back(i);
    }
    [[nodiscard]] static EventPolicy policy_of(Rules const& rules) {
        EventPolicy policy;
        policy.max_extensions = 2;
        policy.hold_max_life = 900s;
        policy.orphan_rule = rules.orphans;
        policy.orphan_endgame_pct = 0;  // has tests of its own
        if (!rules.limits) return policy;
        policy.max_per_user = 6;
        policy.max_open_holds_per_user = 3;
        policy.hold_seconds_budget = 1'500;
        policy.rehold_cooldown = 120s;
        return policy;
    }
    void expect(bool good, std::string const& what) {
        if (!good && difference_.empty()) difference_ = what;
    }
    /// Says with which code the engine went another way.
    void expect_refusal(bool good, std::string const& verb, Refusal const& refusal) {
        ++tally_.refused[{refusal.code, (refusal.code == RefusalCode::user_limit
                                             ? static_cast<int>(refusal.limit)
                                             : static_cast<int>(refusal.seat_reason))}];
        expect(good, verb + " was refused that the model grants, or for another reason: code " +
                         std::to_string(static_cast<int>(refusal.code)) + ", number " +
                         std::to_string(refusal.number) + ", seat " +
                         std::to_string(refusal.seat.value()));
    }
    [[nodiscard]] static Numbers numbers(std::vector<SeatIndex> const& seats) {
        Numbers all;
        for (SeatIndex const seat : seats) all.push_back(seat.value());
        return all;
    }
    [[nodiscard]] static Numbers labelled_of(Numbers const& seats) {
        Numbers all;
        std::ranges::copy_if(seats, std::back_inserter(all),
                             [](std::uint32_t seat) { return seat < labelled; });
        return all;
    }
    [[nodiscard]] static Numbers minus(Numbers const& all, Numbers const& less) {
        Numbers rest;
        std::ranges::set_difference(all, less, std::back_inserter(rest));
        return rest;
    }
    /// Whether picking these by hand leaves a single seat, by the definition of the rule; what is
    /// given back counts as free.
    [[nodiscard]] bool leaves_orphans(Numbers const& picked, Numbers const& given_back) const {
        if (rules_.orphans == OrphanRule::off) return false;
        struct Row {
            std::uint32_t first, count;
        };
        for (Row const row : {Row{0, 8}, Row{8, 8}, Row{16, 4}}) {
            std::string drawn;
            std::vector<bool> claimed;
            for (std::uint32_t seat = row.first; seat < row.first + row.count; ++seat) {
                bool const back = std::ranges::binary_search(given_back, seat);
                bool const blocked = model_.place(seat) == PlaceState::blocked;
                drawn += back || model_.is_free(seat) ? 'a' : blocked ? 'x' : 's';
                claimed.push_back(std::ranges::find(picked, seat) != picked.end());
            }
            if (!brute_orphans(drawn, claimed, rules_.orphans == OrphanRule::lenient).empty())
                return true;
        }
        return false;
    }
    [[nodiscard]] Numbers usable_of(Numbers const& seats, std::uint64_t account) const {
        Numbers usable = model_.free_of(seats);
        std::erase_if(usable,
                      [&](std::uint32_t seat) { return model_.cools(seat, account, now_); });
        return usable;
    }
    void remember(HoldName const& name) { known_.push_back({name, {}}); }

    /// The journal builds the same sale (PROTOCOL.md I14).
    void restart() {
        // What expires is spent when it is noticed, so a limit must have nothing unnoticed.
        while (rules_.limits && engine_->expire(now_) != 0) {
        }
        auto engine = std::make_unique<Engine>(first_.journal, EngineOptions{});
        auto const spec = std::make_shared<EventSpec>(first_.event->spec());
        event_ = engine->add(spec);
        engine->build(*event_, first_.replayed());
        restarted_ = std::move(engine);
        engine_ = restarted_.get();
        model_.restart();
    }
    void compare() {
        for (std::uint32_t seat = 0; seat < labelled + general_places; ++seat)
            expect(event_->place(SeatIndex{seat}, now_) == model_.place(seat),
                   "place " + std::to_string(seat) + " looks other than in the model");
        expect(first_.journal.reserved() == 0, "journal space was kept");
    }

    void note_done(Command::Verb verb) { ++tally_.done[verb]; }

    Tally& tally_;
    Rules rules_;
    EventPolicy policy_;
    SaleFixture first_;
    std::unique_ptr<Engine> restarted_;
    Engine* engine_{};
    LiveEvent* event_{};
    SequentialModel model_;
    TimePoint now_{at(0ms)};
    std::vector<Known> known_;
    std::vector<SeatIndex> seats_;
    Numbers plain_, standing_;
    std::uint64_t orders_{0};
    std::string difference_;
};

}  // namespace holdfast::engine::test
