#include "app/rebuild.hpp"

#include "app/commands.hpp"
#include "app/exit_codes.hpp"
#include "app/folder_owner.hpp"
#include "app/manifest.hpp"
#include "app/old_store.hpp"
#include "app/resting_folder.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/journal/base_file.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace holdfast::app {
namespace {

using journal::Failure;
namespace fs = std::filesystem;

constexpr char const* scratch_name = "rebuild";

/// Stands for an event of which only the journal knows that it was: its number stays in use, and
/// nothing of it is for sale.
EventSpec stand_in(EventId lost, std::string slug) {
    LayoutBuilder builder;
    Section section;
    section.id = "lost";
    section.name = "Lost";
    section.category = builder.add_category({"lost", "Lost", 0});
    section.capacity = 1;
    builder.add_general(std::move(section));
    auto layout = std::move(builder).build();
    HOLDFAST_ASSERT(layout.has_value());
    EventSpec spec;
    spec.id = lost;
    spec.slug = std::move(slug);
    spec.name = "Lost event " + std::to_string(lost.value());
    spec.closes_at = ZonedTime{};  // over, whatever steps of it are journaled
    spec.layout = *std::move(layout);
    return spec;
}

/// A slug that no event of `known` has.
std::string slug_for_lost(EventId lost, std::span<EventSpec const> known) {
    std::string slug = "lost-event-" + std::to_string(lost.value());
    while (std::ranges::find(known, slug, &EventSpec::slug) != known.end()) slug += "-again";
    return slug;
}

class Rebuild {
public:
    Rebuild(DataFolder const& folder, fs::path scratch, RebuildCommand const& command,
            journal::Disk& disk)
        : folder_(folder), scratch_(std::move(scratch)), command_(command), disk_(disk) {}

    [[nodiscard]] Report run();

private:
    using Trouble = std::optional<Failure>;

    [[nodiscard]] Trouble make_from_journal();
    [[nodiscard]] Trouble make_from_backup();
    [[nodiscard]] Trouble check_backup(store::Identity const& identity) const;
    [[nodiscard]] Trouble project();
    [[nodiscard]] ResultOf<RestoredState, Failure> restore(DataFolder const& copy);
    [[nodiscard]] Trouble give_up_events(EventId last);
    [[nodiscard]] Trouble refuse_holds_of_lost(RestoredState const& state) const;
    [[nodiscard]] Trouble refuse_orders_of_lost(std::span<store::OrderSum const> orders) const;
    [[nodiscard]] Trouble put_in_place();
    [[nodiscard]] Trouble add_later_events(store::Store& made, store::Identity const& backup);
    [[nodiscard]] Trouble keep_old();
    [[nodiscard]] fs::path name_for_old() const;
    [[nodiscard]] Trouble run_steps();
    [[nodiscard]] fs::path new_file() const { return scratch_ / "store.db"; }

    DataFolder const& folder_;
    fs::path scratch_;
    RebuildCommand const& command_;
    journal::Disk& disk_;
    journal::SegmentStart first_;  // what is left of the journal begins there
    Report report_;
    std::vector<EventId> lost_;
};

std::optional<Failure> Rebuild::make_from_journal() {
    auto const old = read_old_store(folder_.path(), scratch_ / "old");
    // What can only not be opened now is no reason for a backup.
    if (!old && passes(old.error())) return old.error();
    if (!old) {
        return Failure{
            old.error().exit_code,
            old.error().message + "; the events are only there: " + remedy_without_events};
    }
    if (first_.before != no_lsn) {
        return Failure{exit_failed, "the journal begins behind LSN " +
                                        std::to_string(first_.before.value()) +
                                        ", older segments were deleted: name a backup with --from"};
    }
    auto made = store::Store::open(new_file(), old->identity.store_id);
    if (!made) return store_failure(new_file(), made.error());
    return add_events(**made, new_file(), old->events);
}

std::optional<Failure> Rebuild::check_backup(store::Identity const& identity) const {
    if (first_.store_id != journal::StoreId{} && first_.store_id != identity.store_id) {
        return Failure{exit_inconsistent, command_.backup.string() + ": is of another store"};
    }
    if (identity.applied_lsn < first_.before) {
        return Failure{exit_failed, command_.backup.string() + ": ends at LSN " +
                                        std::to_string(identity.applied_lsn.value()) +
                                        ", but the journal begins behind LSN " +
                                        std::to_string(first_.before.value()) +
                                        ": a newer backup is needed"};
    }
    return {};
}

std::optional<Failure> Rebuild::make_from_backup() {
    fs::path const& backup = command_.backup;
    if (auto failure = check_if_backup(backup)) return failure;
    auto const base = read_old_store(backup, scratch_ / "backup");
    if (!base) return base.error();
    if (auto failure = check_backup(base->identity)) return failure;
    if (auto const copied = copy_store_to(backup, scratch_); !copied) return copied.error();
    auto made = store::Store::open(new_file(), base->identity.store_id);
    if (!made) return store_failure(new_file(), made.error());
    return add_later_events(**made, base->identity);
}

/// Events that were made after the backup.
std::optional<Failure> Rebuild::add_later_events(store::Store& made,
                                                 store::Identity const& backup) {
    auto const old = read_old_store(folder_.path(), scratch_ / "old");
    bool const is_same = old && old->identity.store_id == backup.store_id;
    if (is_same) return add_events(made, new_file(), old->events);
    if (!old && passes(old.error())) return old.error();
    std::string const why =
        old ? folder_.store_file().string() + ": is of another store" : old.error().message;
    if (!command_.lose_events) {
        return Failure{old ? exit_inconsistent : exit_failed,
                       why +
                           "; if events were made after the backup, they are only there: with "
                           "--lose-events they are given up"};
    }
    report_.output += "the events are those of the backup: " + why + "\n";
    return {};
}

std::optional<Failure> Rebuild::give_up_events(EventId last) {
    auto made = store::Store::peek(new_file());
    if (!made || !*made) return Failure{exit_damaged, new_file().string() + ": is missing"};
    auto store = store::Store::open(new_file(), (*made)->store_id);
    if (!store) return store_failure(new_file(), store.error());
    auto const known = (*store)->load_events();
    if (!known) return store_failure(new_file(), known.error());
    std::vector<EventSpec> lost;
    for (std::uint32_t id = static_cast<std::uint32_t>(known->size()) + 1; id <= last.value(); ++id)
        lost.push_back(stand_in(EventId{id}, slug_for_lost(EventId{id}, *known)));
    if (auto failure = add_events(**store, new_file(), lost)) return failure;
    for (EventSpec const& spec : lost) {
        lost_.push_back(spec.id);
        report_.output += "lost: event " + std::to_string(spec.id.value()) + ", for which " +
                          spec.slug + " stands now\n";
    }
    return {};
}

/// On the one place of a stand-in a hold of the lost event could stand.
std::optional<Failure> Rebuild::refuse_holds_of_lost(RestoredState const& state) const {
    for (EventId const lost : lost_) {
        auto const found = state.events.find(lost);
        if (found == state.events.end() || found->second.holds.empty()) continue;
        return Failure{exit_inconsistent, "event " + std::to_string(lost.value()) +
                                              " cannot be given up: places of it are held or sold"};
    }
    return {};
}

/// Nor is an order given up whose places are free again: somebody has paid, or was paid back.
std::optional<Failure> Rebuild::refuse_orders_of_lost(
    std::span<store::OrderSum const> orders) const {
    for (store::OrderSum const& order : orders) {
        if (std::ranges::find(lost_, order.event) == lost_.end()) continue;
        return Failure{exit_inconsistent, "event " + std::to_string(order.event.value()) +
                                              " cannot be given up: the order " +
                                              engine::to_text(order.order) + " was made in it"};
    }
    return {};
}

ResultOf<RestoredState, Failure> Rebuild::restore(DataFolder const& copy) {
    for (EventId given_up{};;) {
        EventId lost{};
        auto state = restore_state(copy, disk_, limits::mark_bytes_default, &lost);
        if (state) {
            if (auto failure = refuse_holds_of_lost(*state)) return *failure;
            return state;
        }
        bool const lost_another = lost > given_up && lost.value() <= limits::events_max;
        if (!lost_another) return state;
        if (!command_.lose_events) {
            Failure failure = state.error();
            failure.message +=
                "; or --lose-events gives the event up, if nothing was held or sold in it";
            return failure;
        }
        if (auto failure = give_up_events(lost)) return *failure;
        given_up = lost;
    }
}

/// Projects what the new file lacks and leaves it whole, without a WAL, and synced.
std::optional<Failure> Rebuild::project() {
    auto copy = DataFolder::open(scratch_);
    if (!copy) return copy.error();
    auto state = restore(*copy);
    if (!state && !command_.backup.empty()) {
        Failure failure = state.error();
        failure.message.insert(0, "with the rows of " + command_.backup.string() + ": ");
        return failure;
    }
    if (!state) return state.error();
    if (auto failure = bring_up_to_date(*copy, disk_, *state)) return failure;
    auto const orders = state->store->order_sums();
    if (!orders) return store_failure(new_file(), orders.error());
    if (auto failure = refuse_orders_of_lost(*orders)) return failure;
    auto const moved = state->store->checkpoint();
    if (!moved) return store_failure(new_file(), moved.error());
    if (!*moved) return Failure{exit_failed, new_file().string() + ": somebody reads it"};
    report_.output += "rebuild: OK " + count_of(state->catalogue.size(), "event") + ", " +
                      count_of(orders->size(), "order") + ", LSN " +
                      std::to_string(state->journal.tail.last_lsn.value()) + "\n";
    return {};
}

fs::path Rebuild::name_for_old() const {
    std::error_code error;
    for (int number = 1;; ++number) {
        fs::path const name = folder_.store_file().string() + ".old-" + std::to_string(number);
        if (!fs::exists(name, error)) return name;
    }
}

/// A second name for the old file, which has the first one until the new file takes it. A WAL that
/// is left beside the new file would be played into it, so that goes first.
std::optional<Failure> Rebuild::keep_old() {
    fs::path const file = folder_.store_file();
    {
        // What its WAL has becomes part of it, if it can be read at all.
        auto const identity = store::Store::peek(file);
        if (identity && *identity) {
            auto const old = store::Store::open(file, (*identity)->store_id);
            if (old) static_cast<void>((*old)->checkpoint());
        }
    }
    auto const none = std::errc::no_such_file_or_directory;
    fs::path const kept = name_for_old();
    std::error_code error = disk_.link(file, kept);
    if (!error) report_.output.insert(0, "the old file is kept as " + kept.string() + "\n");
    // And the journal that another program has left, which would be rolled back into it.
    for (char const* const end : {"-wal", "-journal"}) {
        std::error_code no_file;
        bool const is_there = fs::file_size(file.string() + end, no_file) > 0 && !no_file;
        if ((!error || error == none) && is_there)
            error = disk_.link(file.string() + end, kept.string() + end);
    }
    if (!error || error == none) error = disk_.sync_folder(folder_.path());
    for (char const* const end : {"-wal", "-journal", "-shm"}) {
        if (!error || error == none) error = disk_.remove(file.string() + end);
    }
    if (!error || error == none) error = disk_.sync_folder(folder_.path());
    if (error) return folder_failure(file, "cannot be kept under another name", error.value());
    return {};
}

std::optional<Failure> Rebuild::put_in_place() {
    std::unique_ptr<journal::File> made;
    auto error = disk_.open(new_file(), journal::OpenMode::write, made);
    if (!error) error = made->sync_data();
    if (error) return Failure{exit_not_durable, journal::with_remedy(new_file().string(), error)};
    // With another store.db a backup is a data folder.
    if (auto failure = set_manifest_aside(folder_.path(), disk_)) return failure;
    if (auto failure = keep_old()) return failure;
    error = disk_.rename(new_file(), folder_.store_file());
    if (!error) error = disk_.sync_folder(folder_.path());
    if (error) {
        return Failure{
            exit_not_durable,
            journal::with_remedy(folder_.store_file().string() + ": cannot be replaced", error)};
    }
    return {};
}

std::optional<Failure> Rebuild::run_steps() {
    if (auto const copied = copy_to_scratch(folder_.path(), scratch_); !copied)
        return copied.error();
    std::vector<std::string> linked;
    auto const unlisted = disk_.list(scratch_ / "journal", linked);
    if (unlisted && unlisted != std::errc::no_such_file_or_directory)
        return folder_failure(scratch_ / "journal", "cannot be read", unlisted.value(),
                              journal::Access::read);
    if (!linked.empty()) {
        auto const first = journal::first_segment_start(scratch_, disk_);
        if (!first) return first.error();
        first_ = *first;
    }
    bool const alone = command_.backup.empty();
    if (auto failure = alone ? make_from_journal() : make_from_backup()) return failure;
    if (auto failure = project()) return failure;
    return put_in_place();
}

Report Rebuild::run() {
    auto failure = run_steps();
    if (!failure) return std::move(report_);
    return failed_report("rebuild", in_terms_of(folder_.path(), scratch_, *failure));
}

/// What a rebuild that was killed has left; no other one can be under way.
void remove_old_scratch(fs::path const& data) {
    // A leftover takes room and does no harm.
    std::vector<std::string> names;
    static_cast<void>(journal::PosixDisk().list(data, names));
    for (std::string const& name : names) {
        std::error_code ignored;
        if (name.starts_with(std::string(scratch_name) + "-") &&
            fs::is_directory(data / name, ignored))
            fs::remove_all(data / name, ignored);
    }
}

}  // namespace

Report rebuild_store(RebuildCommand const& command, journal::Disk& disk) {
    fs::path const& data = command.data;
    if (auto const is = check_is_data_folder(data); !is)
        return failed_report("rebuild", is.error());
    auto const folder = DataFolder::open(data);
    if (!folder) return failed_report("rebuild", folder.error());
    std::optional<ReadLock> lock;
    if (!command.backup.empty()) {
        auto taken = ReadLock::take(command.backup);
        if (!taken) return failed_report("rebuild", taken.error());
        lock.emplace(std::move(*taken));
    }
    remove_old_scratch(data);
    // In the data folder itself, since a rename does not leave a file system.
    auto const scratch = ScratchFolder::make({data}, scratch_name);
    if (!scratch) return failed_report("rebuild", scratch.error());
    return Rebuild(*folder, (*scratch)->path(), command, disk).run();
}

int rebuild(RebuildCommand const& command) {
    ::umask(0077);
    if (auto const failure = act_as_owner_of(command.data))
        return print(failed_report("rebuild", *failure));
    journal::PosixDisk disk;
    return print(rebuild_store(command, disk));
}

}  // namespace holdfast::app
