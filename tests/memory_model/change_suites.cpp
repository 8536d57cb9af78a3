// Changes of live holds and the limits of accounts under the simulated memory model.

#include "tests/memory_model/guarded.hpp"

namespace holdfast::test {
namespace {

/// A house in which holds change their lists.
template <class Test, int threads>
struct ChangeTest : HouseTest<Test, threads> {
    using HouseTest<Test, threads>::house;

    /// Gives a held hold another list, as the engine does.
    bool change(HoldRef ref, std::vector<std::uint32_t> const& seats, std::int64_t now = 1) {
        for (int round = 0; round < 4; ++round) {
            Change change;
            change.lists.resize(1);
            auto const look = house->holds.look(ref, change.lists[0].before);
            if (!look || look->word.state() != State::held) return false;
            if (look->expires_at <= at(now)) return false;
            for (std::uint32_t const seat : seats) change.lists[0].after.push_back(SeatIndex{seat});
            change.plan();
            auto const edit = house->holds.enter(ref, look->word, State::editing);
            if (!edit) continue;
            change.lists[0].edit = *edit;
            auto const outcome =
                house->edits.prepare(change, {at(now), look->expires_at, look->holder});
            if (outcome.kind != ChangeOutcome::Kind::ready) {
                house->holds.leave(*edit, State::held);
                return false;
            }
            house->facts.edit(ref, change.added, change.dropped);
            house->edits.apply(change, State::held);
            return true;
        }
        return false;
    }
};

/// A place given back by a hold that goes on, against claims that help.
struct PartialRelease : ChangeTest<PartialRelease, 3> {
    HoldRef hold_;
    void before() {
        open(floor_of_two(), 3);
        hold_ = house->hold({0, 1});
    }
    void thread(unsigned index) {
        if (index == 0) RL_ASSERT(change(hold_, {0}));
        if (index == 1) house->claim_and_end({1});
        if (index == 2) house->claim_and_end({0, 1});
    }
    void after() {
        RL_ASSERT(!house->is_free(0, at(1)));
        house->at_rest(1);
        close();
    }
};

/// A claim that is helped late, while its hold parts with a place and another claims that.
struct LateHelp : ChangeTest<LateHelp, 3> {
    void before() { open(floor_of_two(), 4); }
    void thread(unsigned index) {
        if (index == 0) {
            auto const outcome = house->claim({0, 1});
            if (outcome.kind == Kind::won) static_cast<void>(change(outcome.ref, {0}));
        }
        if (index == 1) house->claim_and_end({1});
        if (index == 2) house->claim_and_end({1});
    }
    void after() {
        if (house->is_free(0, at(1))) return house->at_rest(2), close();
        house->at_rest(1);
        close();
    }
};

/// A hold changes places with a free one: at no time a newcomer sees both free, nor may have both.
struct Exchange : ChangeTest<Exchange, 3> {
    HoldRef hold_;
    void before() {
        open(floor_of_two(), 4);
        hold_ = house->hold({0});
    }
    void thread(unsigned index) {
        if (index == 0) static_cast<void>(change(hold_, {1}));
        if (index == 1) house->claim_and_end({1});
        if (index == 2) RL_ASSERT(house->claim({0, 1}).kind != Kind::won);
    }
    void after() {
        house->at_rest(1);
        close();
    }
};

/// What maps show: the place of a hold that changes from {0} to {0, 1} is never free.
struct Display : ChangeTest<Display, 2> {
    HoldRef hold_;
    void before() {
        open(floor_of_two(), 3);
        hold_ = house->hold({0});
    }
    void thread(unsigned index) {
        if (index == 0) {
            RL_ASSERT(change(hold_, {0, 1}));
            return;
        }
        RL_ASSERT(!house->is_free(0, at(1)));
        bool const taken = !house->is_free(1, at(1));
        if (taken) RL_ASSERT(!house->is_free(1, at(1)));
    }
    void after() {
        RL_ASSERT(house->free_count(at(1)) == 0);
        close();
    }
};

/// An extension or the expiry, never both; and a look sees the deadline of its word.
struct Extension : ChangeTest<Extension, 3> {
    HoldRef hold_;
    bool extended{};
    bool refused{};
    void before() {
        open(floor_of_two(), 2);
        hold_ = house->hold({0}, 5);
    }
    void thread(unsigned index) {
        if (index == 0) extend();
        if (index == 1) refused = house->claim({0}, 6).kind == Kind::lost;
        if (index == 2) {
            std::vector<SeatIndex> seats;
            auto const look = house->holds.look(hold_, seats);
            bool const legible = look && look->word.state() == State::held;
            if (legible) RL_ASSERT(look->expires_at == (look->word.x() == 0 ? at(5) : at(100)));
            if (legible) RL_ASSERT(look->holder == (look->word.x() == 0 ? 7U : 8U));
        }
    }
    void extend() {
        std::vector<SeatIndex> seats;
        auto const look = house->holds.look(hold_, seats);
        if (!look || look->word.state() != State::held) return;
        auto const edit = house->holds.enter(hold_, look->word, State::editing);
        if (!edit) return;
        house->holds.leave_extended(*edit, at(100), 8);
        extended = true;
    }
    void after() {
        RL_ASSERT(refused <= extended);
        RL_ASSERT(extended == (house->word(hold_).generation() == hold_.generation() &&
                               house->word(hold_).state() == State::held));
        close();
    }
};

/// A sale: whoever sees it sold sees its order, whole; the cancelled order's place is free again.
struct Sold : ChangeTest<Sold, 2> {
    HoldRef hold_;
    void before() {
        open(floor_of_two(), 2);
        hold_ = house->hold({0});
    }
    void thread(unsigned index) {
        if (index == 0) {
            auto const edit = house->holds.enter(hold_, house->word(hold_), State::confirming);
            RL_ASSERT(edit.has_value());
            house->holds.leave_sold(*edit, {31, 32});
            auto const cancel = house->holds.enter(hold_, house->word(hold_), State::editing);
            RL_ASSERT(cancel.has_value());
            house->facts.edit(hold_, {}, std::vector<SeatIndex>{SeatIndex{0}});
            house->holds.leave_dead(*cancel);
            return;
        }
        std::vector<SeatIndex> seats;
        auto const look = house->holds.look(hold_, seats);
        if (look && look->word.state() == State::sold)
            RL_ASSERT(look->order.high == 31 && look->order.low == 32);
        house->claim_and_end({0});
    }
    void after() {
        house->at_rest(2);
        close();
    }
};

/// Two accounts share one entry of the table: what one of them leaves must be seen by the other.
struct Accounts2 : rl::test_suite<Accounts2, 3> {
    std::unique_ptr<UserLimits<RelacyAtomics>> limits;
    rl::var<int> entry;  // of whoever has it
    Accounts2() {
        UntracedMemory::use();
        Burst::choose();
    }
    void before() {
        UserRules rules;
        rules.max_units = 2;
        rules.max_open_holds = 1;
        limits = std::make_unique<UserLimits<RelacyAtomics>>(rules, 1);
    }
    void thread(unsigned index) {
        std::uint64_t const account = index == 2 ? 9 : 7;
        UserLimits<RelacyAtomics>::Ticket ticket;
        auto const verdict = limits->reserve_claim(account, 2, ticket);
        if (verdict != UserVerdict::granted) return;
        // The account's limit is one open hold: what is done under it is in one order.
        entry(RL_INFO) = static_cast<int>(index);
        if (index == 1) {
            limits->lose(ticket);
            return;
        }
        limits->win(ticket);
        RL_ASSERT(limits->counts(account).units == 2);
        limits->end_hold(account, 2, Milliseconds{0});
    }
    void after() {
        for (std::uint64_t const account : {7U, 9U}) {
            auto const counts = limits->counts(account);
            RL_ASSERT(counts.units == 0 && counts.units_in_flight == 0);
            RL_ASSERT(counts.open_holds == 0 && counts.open_holds_in_flight == 0);
        }
        UserLimits<RelacyAtomics>::Ticket ticket;
        RL_ASSERT(limits->reserve_claim(9, 2, ticket) == UserVerdict::granted);
        limits->lose(ticket);
        limits.reset();
    }
};

}  // namespace

std::vector<Suite> change_suites() {
    return {{"a partial release against claims", simulate<PartialRelease>},
            {"late help of a hold that has changed", simulate<LateHelp>},
            {"an exchange against claims", simulate<Exchange>},
            {"what maps show of a change", simulate<Display>},
            {"an extension against the expiry", simulate<Extension>},
            {"a sale and its cancellation", simulate<Sold>},
            {"accounts that share an entry", simulate<Accounts2>}};
}

}  // namespace holdfast::test
