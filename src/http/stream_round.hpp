// StreamRound: the open streams of one io thread, and which of them still have to look for news.
//
// Purpose: thousands of streams are asked in slices, so that the other connections of the thread
// have their turn in between. Thread safety: one io thread. Invariants: an entry stands in one of
// the two lists; it may leave at any time. Cost: O(1) a call; begin() walks what the
// round before has left.
#pragma once

namespace holdfast::http {

/// Base of what can stand in it.
struct Streaming {
    Streaming* before{};
    Streaming* after{};
};

class StreamRound {
public:
    StreamRound() = default;
    StreamRound(StreamRound const&) = delete;
    StreamRound& operator=(StreamRound const&) = delete;

    void add(Streaming& entry) noexcept { link(rest_, entry); }
    void remove(Streaming& entry) noexcept {
        entry.before->after = entry.after;
        if (entry.after != nullptr) entry.after->before = entry.before;
        entry.before = entry.after = nullptr;
    }
    /// All of them have to look; those that still had to come first.
    void begin() noexcept {
        if (rest_.after == nullptr) return;
        Streaming* last = &due_;
        while (last->after != nullptr) last = last->after;
        last->after = rest_.after;
        rest_.after->before = last;
        rest_.after = nullptr;
    }
    /// The next that has to look; null: none.
    [[nodiscard]] Streaming* take() noexcept {
        Streaming* const entry = due_.after;
        if (entry == nullptr) return nullptr;
        remove(*entry);
        add(*entry);
        return entry;
    }
    [[nodiscard]] bool any_due() const noexcept { return due_.after != nullptr; }

private:
    static void link(Streaming& head, Streaming& entry) noexcept {
        entry.before = &head;
        entry.after = head.after;
        if (head.after != nullptr) head.after->before = &entry;
        head.after = &entry;
    }

    Streaming due_, rest_;  // heads
};

}  // namespace holdfast::http
