// Resting: the sessions of one io thread that are not read for a while, as they were told to come
// later.
//
// Purpose: whoever asks again at once costs little, and a crowd that does leaves most of the
//   thread's time to the others.
// Thread safety: one io thread. Invariants: all rest equally long, so who came first is due first;
//   one that rests again stands behind all who are due. Cost: O(1) a call.
#pragma once

#include "http/waiting_line.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace holdfast::http {

class Resting {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;

    static constexpr std::chrono::milliseconds length{15};
    /// Whose rest ends in one such time is read together: a timer for each costs more than they do.
    static constexpr std::chrono::microseconds ends_together{500};
    /// Of the time that others had, what those who have rested may take, and how much in one piece.
    static constexpr int part = 3;
    static constexpr std::chrono::microseconds slice_least{100};  // worth a timer; nobody minds
    static constexpr std::chrono::milliseconds slice_most{2};

    /// Base of what can rest.
    class Entry : public Waiting {
        friend class Resting;
        Time end_{};
    };

    void push(Entry& entry, Time now) noexcept {
        entry.end_ = now + length;
        line_.push(entry);
    }
    /// Nothing for one that was taken already.
    void remove(Entry& entry) noexcept { line_.remove(entry); }
    /// The next whose rest is over, which then stands here no more; null: none.
    [[nodiscard]] Entry* take_due(Time now) noexcept {
        Entry* const entry = first();
        if (entry == nullptr || entry->end_ > now) return nullptr;
        line_.pop();
        return entry;
    }
    /// When to look for those who are due; none if nobody rests.
    [[nodiscard]] std::optional<Time> next_due(Time now) const noexcept {
        Entry const* const entry = first();
        if (entry == nullptr) return std::nullopt;
        return entry->end_ <= now ? now : entry->end_ + ends_together;
    }
    /// How long those who are due may be read from now on.
    [[nodiscard]] Duration slice(Time now) const noexcept {
        return std::clamp<Duration>((now - worked_until_) / part, slice_least, slice_most);
    }
    /// The time of the others begins.
    void worked_until(Time now) noexcept { worked_until_ = now; }

private:
    [[nodiscard]] Entry* first() const noexcept { return static_cast<Entry*>(line_.first()); }

    WaitingList line_;
    Time worked_until_{};
};

}  // namespace holdfast::http
