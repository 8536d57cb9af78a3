// Resting folder: what a start of a server would make of a data folder, in a scratch copy.
//
// Purpose: verify and audit look at the outcome of the very code that a start runs: recovery,
//   replay, the check of store.db, and its catching up with the journal.
// Thread safety: one thread. Invariants: the folder itself is never changed and no server starts on
//   it meanwhile; messages name it, not the copy. Cost: one copy of store.db, and what a start
//   costs.
#pragma once

#include "app/read_lock.hpp"
#include "app/restored_state.hpp"
#include "app/scratch_folder.hpp"

#include <holdfast/engine/catch_up.hpp>

#include <memory>

namespace holdfast::app {

class RestingFolder {
public:
    /// A failure has the exit code of the start that would fail with it.
    [[nodiscard]] static ResultOf<std::unique_ptr<RestingFolder>, journal::Failure> open(
        std::filesystem::path const& data, journal::Disk& disk);

    [[nodiscard]] RestoredState& state() noexcept { return state_; }
    [[nodiscard]] std::filesystem::path const& scratch() const noexcept { return copy_.path(); }
    [[nodiscard]] engine::FindSpec find_spec() const;

private:
    RestingFolder(ReadLock lock, std::unique_ptr<ScratchFolder> scratch, DataFolder copy,
                  RestoredState state)
        : lock_(std::move(lock)),
          scratch_(std::move(scratch)),
          copy_(std::move(copy)),
          state_(std::move(state)) {}

    ReadLock lock_;
    std::unique_ptr<ScratchFolder> scratch_;
    DataFolder copy_;
    RestoredState state_;  // goes first: its store lies in the scratch folder
};

/// The failure with the folder's name for that of its scratch copy, of which nobody knows.
[[nodiscard]] journal::Failure in_terms_of(std::filesystem::path const& data,
                                           std::filesystem::path const& scratch,
                                           journal::Failure failure);

/// An event of the state's catalogue.
[[nodiscard]] engine::FindSpec finder_in(RestoredState const& state);

/// Has the store of a restored folder say what its journal says, after a check of the whole file.
[[nodiscard]] std::optional<journal::Failure> bring_up_to_date(DataFolder const& folder,
                                                               journal::Disk& disk,
                                                               RestoredState& state);

}  // namespace holdfast::app
