#include "app/resting_folder.hpp"

#include <holdfast/journal/base_file.hpp>

#include <map>
#include <string>
#include <utility>

namespace holdfast::app {

using journal::Failure;

Failure in_terms_of(std::filesystem::path const& data, std::filesystem::path const& scratch,
                    Failure failure) {
    std::string const from = scratch.string();
    std::string const to = data.string();
    for (std::size_t at = 0; (at = failure.message.find(from, at)) != std::string::npos;) {
        failure.message.replace(at, from.size(), to);
        at += to.size();
    }
    return failure;
}

engine::FindSpec finder_in(RestoredState const& state) {
    std::map<EventId, EventSpec const*> specs;
    for (EventSpec const& spec : state.catalogue) specs[spec.id] = &spec;
    return [specs = std::move(specs)](EventId id) -> EventSpec const* {
        auto const found = specs.find(id);
        return found == specs.end() ? nullptr : found->second;
    };
}

std::optional<Failure> bring_up_to_date(DataFolder const& folder, journal::Disk& disk,
                                        RestoredState& state) {
    if (auto const good = state.store->check(); !good)
        return store_failure(folder.store_file(), good.error());
    journal::Tail const& tail = state.journal.tail;
    if (auto failure = journal::delete_after(folder.path(), disk, tail.last_segment))
        return failure;
    return engine::catch_up(*state.store, disk, folder.path(), finder_in(state), state.key,
                            tail.last_lsn);
}

ResultOf<std::unique_ptr<RestingFolder>, Failure> RestingFolder::open(
    std::filesystem::path const& data, journal::Disk& disk) {
    auto lock = ReadLock::take(data);
    if (!lock) return lock.error();
    auto scratch = ScratchFolder::make(scratch_parents(data), ".holdfast-scratch");
    if (!scratch) return scratch.error();
    auto const path = (*scratch)->path();
    if (auto const copied = copy_to_scratch(data, path); !copied) return copied.error();
    if (auto const copied = copy_store_to(data, path); !copied) return copied.error();
    auto copy = DataFolder::open(path);
    if (!copy) return in_terms_of(data, path, copy.error());
    auto state = restore_state(*copy, disk);
    if (!state) return in_terms_of(data, path, state.error());
    if (auto failure = bring_up_to_date(*copy, disk, *state))
        return in_terms_of(data, path, *failure);
    return std::unique_ptr<RestingFolder>(new RestingFolder(std::move(*lock), std::move(*scratch),
                                                            std::move(*copy), std::move(*state)));
}

engine::FindSpec RestingFolder::find_spec() const {
    return finder_in(state_);
}

}  // namespace holdfast::app
