// Marking: the mark of one request on its way into a record and then into the table.
//
// Purpose: what every verb does with a mark, and nothing at all without one.
// Thread safety: one thread an object. Invariants: what is in the table is in a record, and the
//   other way round; journal room that was not used is given back.
#pragma once

#include "engine/engine_core.hpp"
#include "engine/mark_bytes.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::engine {

class Marking {
public:
    Marking(Engine::Core& core, Mark const* mark, TimePoint now) : core_(core) {
        if (mark == nullptr) return;
        entry_.emplace();
        entry_->mark = *mark;
        entry_->at = now;
        entry_->keep_until = now + limits::mark_life;
    }
    Marking(Marking const&) = delete;
    Marking& operator=(Marking const&) = delete;
    ~Marking() { give_room_back(); }

    [[nodiscard]] bool wanted() const noexcept { return entry_.has_value(); }
    void keep_until(TimePoint until) {
        if (entry_) entry_->keep_until = std::max(entry_->keep_until, until);
    }
    /// The mark of this answer; empty if none is wanted.
    [[nodiscard]] MarkBytes of(Answer const& answer) {
        if (!entry_) return {};
        entry_->answer = encode(answer);
        return encoded(entry_->answer);
    }
    [[nodiscard]] MarkBytes of(HoldName const& hold, inventory::HoldLook const& look,
                               std::vector<SeatIndex> const& seats) {
        if (!entry_) return {};
        return of(answer_of(hold, look, seats));
    }
    /// Of a claim, whose CLAIM says what the answer is.
    [[nodiscard]] MarkBytes of_claim() {
        if (!entry_) return {};
        return encoded({});
    }
    /// Room in the journal for the mark alone: the fact has its own. False: there is none.
    [[nodiscard]] bool take_room() {
        if (!entry_) return true;
        std::size_t const bytes = mark_header_bytes + bytes_.size();
        if (!core_.journal.reserve(bytes)) return false;
        room_ = bytes;
        return true;
    }

    /// For another attempt.
    void give_room_back() noexcept {
        if (room_ != 0) core_.journal.give_back(std::exchange(room_, 0));
    }

    /// The record is there.
    void written(Lsn lsn) {
        if (!entry_) return;
        HOLDFAST_ASSERT(lsn != no_lsn && !entry_->answer.empty());
        room_ = 0;
        entry_->lsn = lsn;
        core_.marks.finish(std::move(*entry_));
    }
    void written(Lsn lsn, HoldAnswer const& answer) {
        if (!entry_) return;
        entry_->answer = encode(Answer{answer});
        written(lsn);
    }
    /// A success without a record: nothing changed.
    void unchanged(Answer const& answer) {
        if (!entry_) return;
        // What made it so may still be on its way to the disk, or never get there.
        core_.marks.keep(entry_->mark, entry_->at, answer, core_.journal.appended_lsn());
    }

    void unchanged(HoldName const& hold, inventory::HoldLook const& look,
                   std::vector<SeatIndex> const& seats) {
        if (entry_) unchanged(answer_of(hold, look, seats));
    }

private:
    /// A hold as it looks now.
    [[nodiscard]] static HoldAnswer answer_of(HoldName const& hold, inventory::HoldLook const& look,
                                              std::vector<SeatIndex> const& seats) {
        return {hold, look.asked, look.expires_at, look.holder, seats};
    }
    [[nodiscard]] MarkBytes encoded(std::span<std::byte const> answer) {
        FactWriter writer;
        write_mark(writer, {entry_->mark, entry_->at, entry_->keep_until, answer});
        bytes_ = std::move(writer).take();
        return bytes_;
    }

    Engine::Core& core_;
    std::optional<MarkEntry> entry_;  // none: no mark is wanted
    std::vector<std::byte> bytes_;
    std::size_t room_{};
};

/// As long as somebody may ask what became of an order of it.
[[nodiscard]] inline TimePoint end_of(EventSpec const& spec) {
    TimePoint end{};
    if (spec.starts_at) end = std::max(end, spec.starts_at->at);
    if (spec.closes_at) end = std::max(end, spec.closes_at->at);
    return end;
}

}  // namespace holdfast::engine
