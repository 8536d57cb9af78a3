// CoolDowns: who left which place unbought, and when, so that nobody takes it again at once.
//
// Purpose: a place whose hold by some account ended unbought is refused to that account for a while
//   and is free for all others.
// Thread safety: note, cooling, collect: any thread. sweep: one thread.
// Invariants: only the newest end of a place counts, by the order in which its holds were dead. An
//   end is noted before the place is free, whoever finishes it. Times are whole seconds: an end
//   counts from the next full second, so a cool-down lasts at least what was asked and less than a
//   second more; if several threads finish one end, from the latest of their times.
// Cost: 8 bytes a place, made with the event; a look is one load, a note one CAS.
//
// The word of a place is {account: 48, second: 16}; 0: nobody. Seconds wrap every 18 hours, so
//   sweep() forgets old words long before: each call a few, all within about an hour.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::inventory {

template <class A>
class CoolDowns {
public:
    /// `length`: whole seconds, 1 s ... limits::rehold_cooldown_highest.
    CoolDowns(std::uint32_t places, std::chrono::seconds length)
        : places_(places),
          length_(length),
          words_(std::make_unique<typename A::template Atomic<std::uint64_t>[]>(places)) {}

    /// A hold of the account on this place ends unbought: before the place is free, by whoever ends
    /// the hold and by everybody who finishes that. `ending`: whether the place is still this
    /// hold's, asked after each look at the word, so that nothing is noted over a later hold's end.
    template <class StillEnding>
    void note(std::uint32_t place, std::uint64_t account, TimePoint ended, StillEnding ending) {
        std::uint16_t const second = stamp(std::chrono::ceil<std::chrono::seconds>(ended));
        std::uint64_t const noted = (account << 16) | second;
        auto& word = words_[place];
        std::uint64_t seen = word.load(A::acquire);  // acquire: pairs with the CAS
        for (;;) {
            // A later hold's note was made after this one was dead, so who has seen it sees that.
            if (!ending()) return;
            // What is there is of an earlier hold, or of this one by a helper's clock.
            if (seen >> 16 == account && !later(second, stamp_in(seen))) return;
            // release: see above. Who sees the place free by its hold's `dead`, which is a release
            // that comes after this, sees the note. Lost: another note of the same end, or sweep().
            if (word.compare_exchange_weak(seen, noted, A::acq_rel, A::acquire)) return;
        }
    }

    /// Until when the place is refused to the account; nothing if it is not.
    [[nodiscard]] std::optional<TimePoint> cooling(std::uint32_t place, std::uint64_t account,
                                                   TimePoint now) const noexcept {
        // relaxed: the caller has seen the place free; the word carries nothing but itself.
        std::uint64_t const word = words_[place].load(A::relaxed);
        if (account == 0 || word >> 16 != account) return std::nullopt;
        auto const second = std::chrono::floor<std::chrono::seconds>(now);
        std::chrono::seconds const left = length_ - age(word, second);
        if (left <= std::chrono::seconds::zero()) return std::nullopt;
        return second + left;
    }

    /// Appends what is refused to the account now of the places around `place`, in ascending order:
    /// limits::cool_down_window of them, because places are left together.
    void collect(std::uint32_t place, std::uint64_t account, TimePoint now,
                 std::vector<SeatIndex>& places) const {
        std::uint32_t const half = limits::cool_down_window / 2;
        std::uint32_t const first = place - std::min(place, half);
        std::uint32_t const last = place + std::min(places_ - place, half);
        for (std::uint32_t at = first; at < last; ++at)
            if (cooling(at, account, now)) places.push_back(SeatIndex{at});
    }

    /// Forgets some of what is over.
    void sweep(TimePoint now) noexcept {
        auto const second = std::chrono::floor<std::chrono::seconds>(now);
        for (std::uint32_t left = sweep_places + places_ / sweeps_an_hour; left > 0; --left) {
            next_ = next_ + 1 < places_ ? next_ + 1 : 0;
            std::uint64_t seen = words_[next_].load(A::relaxed);  // relaxed: the CAS decides
            if (seen == 0 || age(seen, second) < length_) continue;
            // Lost: it has just been noted anew. release: goes on with what the note published.
            words_[next_].compare_exchange_strong(seen, 0, A::acq_rel, A::relaxed);
        }
    }

private:
    static constexpr std::uint32_t sweep_places = 16;
    static constexpr std::uint32_t sweeps_an_hour =
        static_cast<std::uint32_t>(std::chrono::hours{1} / limits::timer_tick);

    template <class Time>
    [[nodiscard]] static std::uint16_t stamp(Time second) noexcept {
        return static_cast<std::uint16_t>(second.time_since_epoch().count());
    }
    [[nodiscard]] static std::uint16_t stamp_in(std::uint64_t word) noexcept {
        return static_cast<std::uint16_t>(word);
    }
    /// Whether stamp `a` is later than `b`, both of one half turn.
    [[nodiscard]] static bool later(std::uint16_t a, std::uint16_t b) noexcept {
        return static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b)) > 0;
    }
    /// Negative if the word is of later than `now`.
    template <class Time>
    [[nodiscard]] static std::chrono::seconds age(std::uint64_t word, Time now) noexcept {
        auto const turned = static_cast<std::uint16_t>(stamp(now) - stamp_in(word));
        return std::chrono::seconds{static_cast<std::int16_t>(turned)};
    }

    std::uint32_t places_;
    std::chrono::seconds length_;
    std::unique_ptr<typename A::template Atomic<std::uint64_t>[]> words_;
    std::uint32_t next_{0};  // of the sweeping thread
};

}  // namespace holdfast::inventory
