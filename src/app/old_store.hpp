// Old store: what a store.db says that no journal does, read without touching the file.
//
// Purpose: identity and catalogue for rebuild and salvage, of a file that may be damaged elsewhere.
// Thread safety: one thread. Invariants: works on a copy; the original gets no -shm either.
// Cost: one copy of the file.
#pragma once

#include "app/restored_state.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::app {

struct OldStore {
    store::Identity identity;
    std::vector<EventSpec> events;
    std::vector<store::OrderSum> orders;
    std::string why_no_orders;  // empty: they could be read
};

/// Whether it is only not to be had now, for want of something: no reason to give anything up.
[[nodiscard]] bool passes(journal::Failure const& failure) noexcept;
/// Of the store.db in `data`, copied into `folder`, which is made.
[[nodiscard]] ResultOf<OldStore, journal::Failure> read_old_store(
    std::filesystem::path const& data, std::filesystem::path const& folder);

/// Inserts the events that the store has not, which are those with the highest ids.
[[nodiscard]] std::optional<journal::Failure> add_events(store::Store& store,
                                                         std::filesystem::path const& file,
                                                         std::span<EventSpec const> events);

}  // namespace holdfast::app
