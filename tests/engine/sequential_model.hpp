// SequentialModel: what a sale does, in plain maps and without a thread; the engine must do the
// same.
//
// A hold past its deadline is over at that deadline, whoever comes by when: pass() ends it there.
#pragma once

#include <holdfast/engine/engine.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace holdfast::engine::test {

class SequentialModel {
public:
    using Seats = std::vector<std::uint32_t>;  // ascending
    enum class Life : std::uint8_t { held, sold, ended };
    struct Hold {
        Life life{Life::held};
        Seats seats;
        TimePoint asked{};
        TimePoint expires{};
        std::uint32_t extensions{};
        std::uint64_t account{};  // 0: nobody who is counted
        bool block{};
        std::int64_t late{};  // ms that its places lack to have been its own since `asked`
    };

    explicit SequentialModel(EventPolicy const& policy) : policy_(policy) {}

    /// It is `now`: what was due before has ended.
    void pass(TimePoint now) {
        auto const live = live_;
        for (std::size_t const id : live) {
            Hold const& each = holds_.at(id);
            if (each.life == Life::held && each.expires <= now) end(id, each.expires);
        }
    }
    /// Another process goes on from the journal: it knows no time that was spent, no cool-down.
    void restart() {
        spent_.clear();
        cool_downs_.clear();
        for (auto& [id, each] : holds_) each.late = 0;
    }

    [[nodiscard]] Life life(std::size_t id) const { return holds_.at(id).life; }
    [[nodiscard]] Hold const& hold(std::size_t id) const { return holds_.at(id); }
    [[nodiscard]] PlaceState place(std::uint32_t seat) const {
        auto const owner = owners_.find(seat);
        if (owner == owners_.end()) return PlaceState::free;
        Hold const& has = holds_.at(owner->second);
        if (has.life == Life::sold) return PlaceState::sold;
        return has.block ? PlaceState::blocked : PlaceState::held;
    }
    [[nodiscard]] bool is_free(std::uint32_t seat) const { return !owners_.contains(seat); }
    [[nodiscard]] Seats free_of(Seats const& seats) const {
        Seats free;
        std::ranges::copy_if(seats, std::back_inserter(free),
                             [this](std::uint32_t seat) { return is_free(seat); });
        return free;
    }

    // Accounts.
    [[nodiscard]] std::size_t units(std::uint64_t account) const {
        std::size_t units = 0;
        for (std::size_t const id : live_)
            if (holds_.at(id).account == account) units += holds_.at(id).seats.size();
        return units;
    }
    [[nodiscard]] std::size_t open_holds(std::uint64_t account) const {
        return static_cast<std::size_t>(std::ranges::count_if(live_, [&](std::size_t id) {
            return holds_.at(id).account == account && holds_.at(id).life == Life::held;
        }));
    }
    [[nodiscard]] bool has_spent_all(std::uint64_t account) const {
        auto const spent = spent_.find(account);
        return account != 0 && policy_.hold_seconds_budget && spent != spent_.end() &&
               spent->second >= *policy_.hold_seconds_budget * std::int64_t{1'000};
    }
    [[nodiscard]] bool is_over_units(std::uint64_t account, std::size_t more) const {
        return account != 0 && policy_.max_per_user &&
               units(account) + more > *policy_.max_per_user;
    }
    [[nodiscard]] bool is_over_holds(std::uint64_t account) const {
        return account != 0 && policy_.max_open_holds_per_user &&
               open_holds(account) + 1 > *policy_.max_open_holds_per_user;
    }
    [[nodiscard]] bool cools(std::uint32_t seat, std::uint64_t account, TimePoint now) const {
        auto const noted = cool_downs_.find(seat);
        if (account == 0 || noted == cool_downs_.end() || noted->second.account != account)
            return false;
        return std::chrono::floor<std::chrono::seconds>(now) <
               noted->second.ended + policy_.rehold_cooldown;
    }

    // Verbs; whether they may is asked before.
    /// A new hold of places that are free; its number.
    std::size_t give(Seats const& seats, TimePoint now, TimePoint expires, std::uint64_t account,
                     bool block = false) {
        std::size_t const id = next_++;
        holds_[id] = {Life::held, seats, now, expires, 0, account, block, 0};
        live_.insert(id);
        for (std::uint32_t const seat : seats) owners_[seat] = id;
        return id;
    }
    /// A hold is released or has expired, or its order is given back.
    void end(std::size_t id, TimePoint when) {
        Hold& ends = holds_.at(id);
        if (ends.life == Life::ended) return;
        if (ends.life == Life::held) {
            auto const count = static_cast<std::int64_t>(ends.seats.size());
            spend(ends, count * (when - ends.asked).count() - ends.late);
            for (std::uint32_t const seat : ends.seats) cool(ends, seat, when);
        }
        ends.life = Life::ended;
        live_.erase(id);
        for (std::uint32_t const seat : ends.seats) owners_.erase(seat);
    }
    void sell(std::size_t id) { holds_.at(id).life = Life::sold; }
    /// The new deadline of a live hold; nothing: refused.
    [[nodiscard]] std::optional<TimePoint> extend(std::size_t id, Milliseconds by, TimePoint now) {
        Hold& grows = holds_.at(id);
        if (grows.block || has_spent_all(grows.account)) return std::nullopt;
        TimePoint const last = grows.asked + policy_.hold_max_life;
        if (grows.extensions >= policy_.max_extensions || grows.expires >= last)
            return std::nullopt;
        TimePoint const wanted = std::max(grows.expires, std::min(now + by, last));
        if (wanted != grows.expires) ++grows.extensions;  // nothing moves: none is used up
        return grows.expires = wanted;
    }
    /// A hold, open or sold, gets another list; what is new is free.
    void change(std::size_t id, Seats const& wanted, TimePoint now) {
        Hold& changes = holds_.at(id);
        if (changes.life == Life::held) {
            resize(changes, wanted.size(), now);
            for (std::uint32_t const seat : changes.seats)
                if (!std::ranges::binary_search(wanted, seat)) cool(changes, seat, now);
        }
        for (std::uint32_t const seat : changes.seats) owners_.erase(seat);
        changes.seats = wanted;
        for (std::uint32_t const seat : wanted) owners_[seat] = id;
    }

private:
    struct CoolDown {
        std::uint64_t account{};
        std::chrono::sys_seconds ended{};
    };
    void spend(Hold const& holder, std::int64_t ms) {
        if (holder.account != 0 && ms > 0) spent_[holder.account] += ms;
    }
    void cool(Hold const& holder, std::uint32_t seat, TimePoint when) {
        if (holder.account == 0 || policy_.rehold_cooldown.count() == 0) return;
        cool_downs_[seat] = {holder.account, std::chrono::ceil<std::chrono::seconds>(when)};
    }
    /// The places that it has fewer spend the average of all; those that it has more, nothing yet.
    void resize(Hold& changes, std::size_t count, TimePoint now) {
        std::int64_t const life = (now - changes.asked).count();
        auto const had = static_cast<std::int64_t>(changes.seats.size());
        auto const has = static_cast<std::int64_t>(count);
        if (has >= had) {
            changes.late += (has - had) * life;
            return;
        }
        std::int64_t const lacked = changes.late * (had - has) / had;
        spend(changes, (had - has) * life - lacked);
        changes.late -= lacked;
    }

    EventPolicy policy_;
    std::size_t next_{0};
    std::map<std::size_t, Hold> holds_;
    std::set<std::size_t> live_;  // held or sold
    std::map<std::uint32_t, std::size_t> owners_;
    std::map<std::uint64_t, std::int64_t> spent_;
    std::map<std::uint32_t, CoolDown> cool_downs_;
};

}  // namespace holdfast::engine::test
