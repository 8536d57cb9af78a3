#include "app/restored_state.hpp"

#include "app/exit_codes.hpp"
#include "app/key_file.hpp"
#include "app/report.hpp"

#include <holdfast/journal/base_file.hpp>

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace holdfast::app {
namespace {

using journal::Failure;
using store::StoreError;

struct StoreContent {
    std::unique_ptr<store::Store> store;  // null: there is no file yet
    std::vector<EventSpec> catalogue;
    std::optional<journal::StoreState> state;
};

ResultOf<StoreContent, Failure> read_store(DataFolder const& folder) {
    auto const dropped = store::Store::drop_cache(folder.store_file());
    if (!dropped) return events_failure(folder.store_file(), dropped.error());
    auto const identity = store::Store::peek(folder.store_file());
    if (!identity) return events_failure(folder.store_file(), identity.error());
    StoreContent content;
    if (!*identity) return content;
    content.state = journal::StoreState{(*identity)->store_id, (*identity)->applied_lsn,
                                        (*identity)->applied_chain};
    auto store = store::Store::open(folder.store_file(), (*identity)->store_id);
    if (!store) return events_failure(folder.store_file(), store.error());
    content.store = std::move(*store);
    auto events = content.store->load_events();
    if (!events) return events_failure(folder.store_file(), events.error());
    content.catalogue = std::move(*events);
    return content;
}

std::map<EventId, std::uint32_t> places_of(std::vector<EventSpec> const& catalogue) {
    std::map<EventId, std::uint32_t> places;
    for (EventSpec const& spec : catalogue) places[spec.id] = spec.layout.place_count();
    return places;
}

/// The sink of the recovery: what deleted segments said comes from the base file.
class RestoringSink final : public journal::RecordSink {
public:
    RestoringSink(DataFolder const& folder, journal::Disk& disk, engine::Replay& replay)
        : folder_(folder), disk_(disk), replay_(replay) {}
    bool begin(journal::SegmentStart const& start) override {
        asked_ = true;
        auto base = journal::read_base(folder_.path(), disk_, start);
        if (!base) failure_ = base.error();
        return base && replay_.load(*base);
    }
    bool record(journal::RecordView const& record) override {
        asked_ = true;
        return replay_.record(record);
    }
    /// Whether the journal has said anything.
    [[nodiscard]] bool asked() const noexcept { return asked_; }
    [[nodiscard]] std::optional<Failure> const& failure() const noexcept { return failure_; }

private:
    DataFolder const& folder_;
    journal::Disk& disk_;
    engine::Replay& replay_;
    std::optional<Failure> failure_;
    bool asked_{};
};

/// The catalogue lives there only, so nothing in the journal can be understood without it.
Failure missing_store(DataFolder const& folder) {
    return {exit_damaged, folder.store_file().string() +
                              ": is missing or empty, but the journal has records; " +
                              std::string(remedy_without_events) + "; nothing was changed"};
}

/// Every event is journaled when it is made, so one that the journal knows was lost with a part of
/// the file: frames of its WAL that SQLite passes over in silence, or all that came after a copy.
Failure lost_event(DataFolder const& folder, EventId event, std::size_t known,
                   engine::Replay const& replay) {
    return {
        exit_damaged,
        folder.store_file().string() + ": has " + count_of(known, "event") + ", but event " +
            std::to_string(event.value()) + " was made as well (" + replay.breach() +
            "); it is damaged or an old copy; `holdfast rebuild --from BACKUP` makes it anew, with "
            "--lose-events from one without the event, or from none while no segment was deleted; "
            "nothing was changed"};
}

/// Two servers that began with copies of one folder gave the same number to different events.
std::optional<Failure> refuse_other_history(
    DataFolder const& folder, std::vector<EventSpec> const& catalogue,
    std::map<EventId, engine::RestoredEvent> const& events) {
    for (EventSpec const& spec : catalogue) {
        auto const found = events.find(spec.id);
        if (found == events.end() || !found->second.first_step) continue;
        auto const [step, at] = *found->second.first_step;
        // Not so if a crash, and starts without space, left a later step as the first record.
        bool const made_it = step == (spec.publish ? LifeStep::published : LifeStep::drafted);
        bool const is_stand_in = spec.created_at == TimePoint{};  // of a lost event
        if (!made_it || is_stand_in || at == spec.created_at) continue;
        return Failure{exit_inconsistent,
                       folder.store_file().string() + ": event " + std::to_string(spec.id.value()) +
                           " (" + spec.slug +
                           ") is not the one that the journal has under this number: they are of "
                           "different histories of one server; put the files together that belong "
                           "together; nothing was changed"};
    }
    return {};
}

/// R12. The journal contradicts itself, so nothing can be made anew of it.
Failure contradiction(std::string const& place, engine::Replay const& replay) {
    return {exit_inconsistent,
            place + ": " + replay.breach() + "; restore a backup, docs/operations.md says how"};
}

/// A first start makes store.db before all of these. So where there is none, but one of them, no
/// server has ended before its first sale: something was lost, or is not all copied yet.
std::optional<Failure> refuse_remains(DataFolder const& folder) {
    std::error_code unknown;
    std::filesystem::path found;
    for (char const* const name : {"META.a", "META.b", "server.key"}) {
        auto const file = folder.path() / name;
        if (std::filesystem::exists(file, unknown)) found = name;
        if (unknown)
            return folder_failure(file, "cannot be read", unknown.value(), journal::Access::read);
    }
    auto const segments = folder.path() / "journal";
    for (auto at = std::filesystem::directory_iterator(segments, unknown);
         !unknown && at != std::filesystem::directory_iterator(); at.increment(unknown)) {
        auto const kind = at->path().extension();
        if (kind == ".hfj" || kind == ".hfb") found = "journal/" + at->path().filename().string();
    }
    if (unknown && unknown != std::errc::no_such_file_or_directory)
        return folder_failure(segments, "cannot be read", unknown.value(), journal::Access::read);
    if (found.empty()) return {};
    return Failure{exit_damaged,
                   folder.store_file().string() + ": is missing or empty, but " + found.string() +
                       " is there, so this is a part of a data folder: restore or copy it once "
                       "more; a new server begins in an empty folder; nothing was changed"};
}

/// The journal is made before the first event.
std::optional<Failure> refuse_lone_store(DataFolder const& folder, StoreContent const& content,
                                         journal::Recovered const& journal) {
    if (content.catalogue.empty() || journal.tail.boot_epoch != 0) return {};
    return Failure{exit_damaged, folder.path().string() +
                                     ": journal and META are missing, but store.db has events; "
                                     "restore a backup; nothing was changed"};
}

/// Of the store's files the one that is there and not ours to write; SQLite does not say why it
/// cannot open one.
std::filesystem::path barred_file_of(std::filesystem::path const& file) {
    for (char const* const end : {"", "-wal", "-shm"}) {
        std::filesystem::path const each = file.string() + end;
        if (::faccessat(AT_FDCWD, each.c_str(), R_OK | W_OK, AT_EACCESS) != 0 && errno == EACCES)
            return each;
    }
    return {};
}

}  // namespace

Failure bare_store_failure(std::filesystem::path const& file, StoreError const& error) {
    std::string message = file.string() + ": " + error.message;
    if (error.kind == StoreError::Kind::damaged) return {exit_damaged, std::move(message)};
    if (auto const barred = barred_file_of(file); !barred.empty())
        message += "; " + barred.string() +
                   " belongs to another user; the user that runs holdfast must own the data folder "
                   "and all in it: chown -R it";
    else if (error.cause)
        message = journal::with_remedy(std::move(message), error.cause);
    return {store::exit_code_of(error.kind), std::move(message)};
}

Failure store_failure(std::filesystem::path const& file, StoreError const& error) {
    Failure failure = bare_store_failure(file, error);
    if (error.kind == StoreError::Kind::damaged)
        failure.message +=
            "; delete nothing; `holdfast rebuild` makes it anew from its events and the journal, "
            "with --from BACKUP if old segments were deleted";
    return failure;
}

Failure events_failure(std::filesystem::path const& file, StoreError const& error) {
    Failure failure = bare_store_failure(file, error);
    if (error.kind == StoreError::Kind::damaged)
        failure.message += "; delete nothing; " + std::string(remedy_without_events);
    return failure;
}

ResultOf<RestoredState, Failure> restore_state(DataFolder const& folder, journal::Disk& disk,
                                               std::size_t mark_bytes_max, EventId* lost) {
    auto content = read_store(folder);
    if (!content) return content.error();
    engine::Replay replay(places_of(content->catalogue), mark_bytes_max);
    RestoringSink sink(folder, disk, replay);
    auto recovered = journal::recover(folder.path(), disk, content->state, sink);
    if (!content->store && (sink.asked() || (recovered && recovered->tail.last_lsn != no_lsn)))
        return missing_store(folder);
    if (sink.failure()) return *sink.failure();
    if (auto const missing = replay.missing_event()) {
        if (lost != nullptr) *lost = *missing;
        return lost_event(folder, *missing, content->catalogue.size(), replay);
    }
    // A breach stops the reading, so it is the cause of what recover() says, which names the place.
    if (!replay.breach().empty())
        return contradiction(recovered ? folder.path().string() : recovered.error().message,
                             replay);
    if (!recovered) return recovered.error();
    journal::Tail const& tail = recovered->tail;
    if (auto failure = content->store ? refuse_lone_store(folder, *content, *recovered)
                                      : refuse_remains(folder))
        return *failure;
    if (!content->store) {
        auto store = store::Store::open(folder.store_file(), tail.store_id);
        if (!store) return store_failure(folder.store_file(), store.error());
        content->store = std::move(*store);
    }
    bool const is_unused = tail.last_lsn == no_lsn && content->catalogue.empty();
    auto key = is_unused ? load_or_make_key(folder.key_file(), tail.store_id)
                         : load_key(folder.key_file(), tail.store_id);
    if (!key) return key.error();
    auto marks = replay.take_marks();
    auto events = replay.take();
    if (auto failure = refuse_other_history(folder, content->catalogue, events)) return *failure;
    return RestoredState{std::move(content->store),
                         std::move(content->catalogue),
                         *recovered,
                         std::move(events),
                         std::move(marks),
                         std::move(*key)};
}

}  // namespace holdfast::app
