// World: a journal that is not the one the store has followed. An older copy of the folder takes
// its place, as it was or after other lives on it; META and segments go together, so that only what
// the store knows tells it.

#include "tests/sim/server.hpp"

#include <array>
#include <utility>

namespace holdfast::sim {

/// Of the folder as it is now, at the end of a start.
void World::keep_copy() {
    if (copy_ && !one_in(8)) return;
    copy_ = disk_.save();
    copied_ = tape_.size();
}

/// The copy instead of the folder, for a moment: no start, whatever it has become (R7, R8).
void World::put_copy_in_place() {
    Commit const applied = commits_.back();
    if (!copy_ || applied.lsn <= copied_) return;
    DiskFaults const later = std::exchange(disk_.faults, {});
    auto const real = disk_.save();
    disk_.restore(*copy_);
    std::uint64_t last = copied_;
    for (std::uint32_t lives = below(3); lives > 0 && !broken_; --lives) last = run_on_copy(last);
    AnyRecord any;
    journal::StoreState const store{{}, Lsn{applied.lsn}, applied.chain};
    auto const recovered = journal::recover(data, disk_, store, any, entropy_);
    bool const ends_before = last < applied.lsn;
    expect(!recovered, ends_before ? "a journal that was rolled back was begun with"
                                   : "a journal that the store has not followed was begun with");
    if (!recovered)
        expect(recovered.error().exit_code == (ends_before ? 77 : 78),
               "a journal of another history has another exit code");
    mark(ends_before ? Mark::rollback_found : Mark::history_found);
    disk_.restore(*real);
    disk_.faults = later;
}

/// A life on the copy, with records of its own; its last LSN.
std::uint64_t World::run_on_copy(std::uint64_t last) {
    AnyRecord any;
    auto const recovered = journal::recover(data, disk_, {}, any, entropy_);
    bool const whole = recovered && recovered->tail.last_lsn == Lsn{last};
    expect(whole, "a copy of the folder has not all of it");
    if (!whole) return last;
    Tape tape;
    SimJournal journal(options(), disk_, clock_, recovered->tail, tape);
    bool const began = !journal.core().prepare(recovered->tail);
    expect(began, "a copy of the folder cannot be begun with");
    auto const gap = static_cast<std::uint32_t>(commits_.back().lsn - copied_);
    for (std::uint32_t records = began ? below(2 * gap) : 0; records > 0; --records) {
        std::array<std::byte, 24> payload{};
        entropy_.fill(payload);
        if (!journal.reserve(journal::record_header_bytes + payload.size())) break;
        journal.append(journal::RecordType::mark, 1, payload);
        if (one_in(8)) static_cast<void>(journal.core().write_next());
    }
    while (journal.core().write_next()) continue;
    return journal.durable_lsn().value();
}

}  // namespace holdfast::sim
