// Marking: the mark of one request on its way into a record and then into the table.
//
// Purpose: what every verb does with a mark, and nothing at all without one.
// Thread safety: one thread an object. Invariants: what is in the table is in a record, and the
//   other way round; what may fail comes before the record; journal room that was not used is given
//   back.
#pragma once

#include "engine/engine_core.hpp"
#include "engine/entered.hpp"
#include "engine/mark_bytes.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::engine {

class Marking {
public:
    Marking(Engine::Core& core, Mark const* mark, TimePoint now)
        : core_(core), wanted_(mark != nullptr) {
        if (wanted_) entry_ = {*mark, now, now + limits::mark_life, no_lsn, {}};
    }
    Marking(Marking const&) = delete;
    Marking& operator=(Marking const&) = delete;
    ~Marking() { give_room_back(); }

    [[nodiscard]] bool wanted() const noexcept { return wanted_; }
    void keep_until(TimePoint until) {
        if (wanted_) entry_.keep_until = std::max(entry_.keep_until, until);
    }
    /// The mark of this answer; empty if none is wanted.
    [[nodiscard]] MarkBytes of(Answer const& answer) {
        if (!wanted_) return {};
        entry_.answer = encode(answer);
        return encoded(entry_.answer);
    }
    [[nodiscard]] MarkBytes of(HoldName const& hold, inventory::HoldLook const& look,
                               std::vector<SeatIndex> const& seats) {
        if (!wanted_) return {};
        return of(answer_of(hold, look, seats));
    }
    /// Of a claim, whose CLAIM says what the answer is.
    [[nodiscard]] MarkBytes of_claim() {
        if (!wanted_) return {};
        return encoded({});
    }
    /// Before each attempt of a claim: its answer, but for the hold that it will be. Nothing may
    /// fail once the claim is won.
    void prepare(HoldAnswer const& terms, std::span<SeatIndex const> seats) {
        if (wanted_) entry_.answer = encode_unnamed(terms, seats);
    }
    /// The claim that was prepared is won, and its CLAIM is there.
    void won(HoldRef ref, Lsn lsn) noexcept {
        if (!wanted_) return;
        set_ref(entry_.answer, ref);
        written(lsn);
    }
    /// Room in the journal for the mark alone: the fact has its own. False: there is none.
    [[nodiscard]] bool take_room() {
        if (!wanted_) return true;
        std::size_t const bytes = mark_header_bytes + bytes_.size();
        if (!core_.journal.reserve(bytes)) return false;
        room_ = bytes;
        return true;
    }

    /// For another attempt.
    void give_room_back() noexcept {
        if (room_ != 0) core_.journal.give_back(std::exchange(room_, 0));
    }

    /// The record is there. Allocates nothing if the mark is in flight, as that of a request is.
    void written(Lsn lsn) {
        if (!wanted_) return;
        HOLDFAST_ASSERT(lsn != no_lsn && !entry_.answer.empty());
        room_ = 0;
        entry_.lsn = lsn;
        core_.marks.finish(std::move(entry_));
    }
    /// A success that changed nothing: its mark is a record of its own, whose LSN the answer waits
    /// for; so it waits for what made it so, too. no_lsn: no mark is wanted.
    [[nodiscard]] Result<Lsn> unchanged(Answer const& answer) {
        if (!wanted_) return no_lsn;
        MarkBytes const payload = of(answer);
        Space space(core_.journal, payload.size());
        if (!space.held()) return no_space(core_.journal);
        Lsn const lsn = space.append(journal::RecordType::mark, payload);
        written(lsn);
        return lsn;
    }
    [[nodiscard]] Result<Lsn> unchanged(HoldName const& hold, inventory::HoldLook const& look,
                                        std::vector<SeatIndex> const& seats) {
        if (!wanted_) return no_lsn;
        return unchanged(answer_of(hold, look, seats));
    }

private:
    /// A hold as it looks now.
    [[nodiscard]] static HoldAnswer answer_of(HoldName const& hold, inventory::HoldLook const& look,
                                              std::vector<SeatIndex> const& seats) {
        return {hold, look.asked, look.expires_at, look.holder, seats};
    }
    [[nodiscard]] MarkBytes encoded(std::span<std::byte const> answer) {
        FactWriter writer;
        write_mark(writer, {entry_.mark, entry_.at, entry_.keep_until, answer});
        bytes_ = std::move(writer).take();
        return bytes_;
    }

    Engine::Core& core_;
    bool wanted_;
    MarkEntry entry_;  // if one is wanted
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
