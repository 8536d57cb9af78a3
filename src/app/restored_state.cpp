#include "app/restored_state.hpp"

#include "app/cli.hpp"
#include "app/exit_codes.hpp"

#include <holdfast/journal/base_file.hpp>

#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
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
                              ": is missing, but the journal has records; " +
                              std::string(remedy_without_events) + "; nothing was changed"};
}

/// R12. The journal contradicts itself, so nothing can be made anew of it.
Failure contradiction(std::string const& place, engine::Replay const& replay) {
    return {exit_inconsistent,
            place + ": " + replay.breach() + "; restore a backup, docs/operations.md says how"};
}

/// Without its key no hold and no ticket that was handed out would be known any more.
std::optional<Failure> missing_key(std::filesystem::path const& file, Lsn last) {
    std::error_code unknown;  // who cannot look at it is told why by whatever opens it
    if (last == no_lsn || std::filesystem::exists(file, unknown) || unknown) return {};
    return Failure{exit_inconsistent,
                   file.string() +
                       ": is missing, but the journal has records made with it; restore it from a "
                       "backup"};
}

ResultOf<engine::ServerKey, Failure> load_key(std::filesystem::path const& file) {
    std::error_code unknown;
    bool const was_there = std::filesystem::exists(file, unknown) || unknown;
    try {
        return engine::ServerKey::load_or_make(file);
    } catch (std::system_error const& error) {
        return folder_failure(file, "cannot be used", error.code().value(),
                              was_there ? journal::Access::read : journal::Access::write);
    } catch (std::runtime_error const& error) {
        return Failure{exit_failed, error.what()};
    }
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

std::optional<Failure> check_key(std::filesystem::path const& file, Lsn last) {
    if (auto failure = missing_key(file, last)) return failure;
    std::error_code unknown;
    if (!std::filesystem::exists(file, unknown) && !unknown) return {};
    auto const key = load_key(file);
    return key ? std::optional<Failure>{} : key.error();
}

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
                                               std::size_t mark_bytes_max) {
    auto content = read_store(folder);
    if (!content) return content.error();
    engine::Replay replay(places_of(content->catalogue), mark_bytes_max);
    RestoringSink sink(folder, disk, replay);
    auto recovered = journal::recover(folder.path(), disk, content->state, sink);
    if (!content->store && (sink.asked() || (recovered && recovered->tail.last_lsn != no_lsn)))
        return missing_store(folder);
    if (sink.failure()) return *sink.failure();
    // A breach stops the reading, so it is the cause of what recover() says, which names the place.
    if (!replay.breach().empty())
        return contradiction(recovered ? folder.path().string() : recovered.error().message,
                             replay);
    if (!recovered) return recovered.error();
    if (auto failure = missing_key(folder.key_file(), recovered->tail.last_lsn)) return *failure;
    if (!content->store) {
        auto store = store::Store::open(folder.store_file(), recovered->tail.store_id);
        if (!store) return store_failure(folder.store_file(), store.error());
        content->store = std::move(*store);
    }
    auto key = load_key(folder.key_file());
    if (!key) return key.error();
    auto marks = replay.take_marks();
    return RestoredState{std::move(content->store),
                         std::move(content->catalogue),
                         *recovered,
                         replay.take(),
                         std::move(marks),
                         std::move(*key)};
}

}  // namespace holdfast::app
