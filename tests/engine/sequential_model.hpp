// SequentialModel: what a sale does, in plain maps and without a thread; the engine must do the
// same.
#pragma once

#include <holdfast/engine/engine.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace holdfast::engine::test {

class SequentialModel {
public:
    enum class Life : std::uint8_t { held, sold, ended };
    struct Hold {
        Life life{Life::held};
        std::vector<std::uint32_t> seats;
        TimePoint asked{};
        TimePoint expires{};
        std::uint32_t extensions{};
    };

    explicit SequentialModel(EventPolicy const& policy) : policy_(policy) {}

    /// What the hold is at `now`; a deadline needs nobody to come by.
    [[nodiscard]] Life life(std::size_t id, TimePoint now) const {
        Hold const& hold = holds_.at(id);
        return hold.life == Life::held && hold.expires <= now ? Life::ended : hold.life;
    }
    [[nodiscard]] PlaceState place(std::uint32_t seat, TimePoint now) const {
        auto const owner = owners_.find(seat);
        if (owner == owners_.end()) return PlaceState::free;
        switch (life(owner->second, now)) {
            case Life::held:
                return PlaceState::held;
            case Life::sold:
                return PlaceState::sold;
            case Life::ended:
                break;
        }
        return PlaceState::free;
    }
    [[nodiscard]] bool is_free(std::uint32_t seat, TimePoint now) const {
        return place(seat, now) == PlaceState::free;
    }
    [[nodiscard]] std::vector<std::uint32_t> free_of(std::vector<std::uint32_t> const& seats,
                                                     TimePoint now) const {
        std::vector<std::uint32_t> free;
        for (std::uint32_t const seat : seats)
            if (is_free(seat, now)) free.push_back(seat);
        return free;
    }

    /// A new hold of places that are free; its number.
    std::size_t give(std::vector<std::uint32_t> const& seats, TimePoint now, Milliseconds ttl) {
        std::size_t const id = next_++;
        holds_[id] = {Life::held, seats, now, now + ttl, 0};
        for (std::uint32_t const seat : seats) owners_[seat] = id;
        return id;
    }
    void end(std::size_t id) {
        holds_.at(id).life = Life::ended;
        for (std::uint32_t const seat : holds_.at(id).seats) {
            auto const owner = owners_.find(seat);
            if (owner != owners_.end() && owner->second == id) owners_.erase(owner);
        }
    }
    void sell(std::size_t id) { holds_.at(id).life = Life::sold; }
    /// The new deadline of a live hold; nothing: refused.
    [[nodiscard]] std::optional<TimePoint> extend(std::size_t id, Milliseconds by, TimePoint now) {
        Hold& hold = holds_.at(id);
        TimePoint const last = hold.asked + policy_.hold_max_life;
        if (hold.extensions >= policy_.max_extensions || hold.expires >= last) return std::nullopt;
        TimePoint const wanted = std::max(hold.expires, std::min(now + by, last));
        if (wanted != hold.expires) ++hold.extensions;  // nothing moves: none is used up
        return hold.expires = wanted;
    }
    [[nodiscard]] Hold const& hold(std::size_t id) const { return holds_.at(id); }
    [[nodiscard]] std::size_t count() const { return holds_.size(); }

private:
    EventPolicy policy_;
    std::size_t next_{0};
    std::map<std::size_t, Hold> holds_;
    std::map<std::uint32_t, std::size_t> owners_;
};

}  // namespace holdfast::engine::test
