#include "store/reading.hpp"
#include "store/store_state.hpp"

#include <holdfast/base/descriptor.hpp>
#include <holdfast/store/snapshot.hpp>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>
#include <utility>

namespace holdfast::store {
namespace {

// Of the one row that take() reads.
constexpr std::chrono::milliseconds identity_limit{2'000};
constexpr int pages_a_piece = 256;
constexpr int pieces_between_syncs = 32;

/// Takes a name as it is. SQLite's own way resolves /proc/self/fd/N, by which a backup names the
/// folder that it holds open, and would then open whatever stands in that place by now.
char const* files_as_named() {
    static sqlite3_vfs* const made = [] {
        static sqlite3_vfs vfs = *sqlite3_vfs_find("unix");
        vfs.zName = "holdfast-as-named";
        vfs.xFullPathname = [](sqlite3_vfs*, char const* name, int size, char* whole) {
            std::size_t const bytes = std::strlen(name) + 1;
            if (bytes > static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
            std::memcpy(whole, name, bytes);
            return SQLITE_OK;
        };
        return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? &vfs : nullptr;
    }();
    return made == nullptr ? nullptr : made->zName;
}

struct CloseCopy {
    void operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }
};
struct FinishBackup {
    void operator()(sqlite3_backup* backup) const noexcept { sqlite3_backup_finish(backup); }
};

/// The file that is being made: for its mode, and to sync it piece by piece, so that the last sync
/// is a short one.
class MadeFile {
public:
    explicit MadeFile(std::filesystem::path const& file)
        : fd_(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {}
    [[nodiscard]] bool is_open() const noexcept { return fd_.is_open(); }
    [[nodiscard]] bool sync() const noexcept { return ::fsync(fd_.get()) == 0; }

private:
    Descriptor fd_;
};

StoreError of_system(int code, std::string const& what) {
    std::error_code const cause{errno, std::generic_category()};
    StoreError error{code, what + ": " + cause.message()};
    error.cause = cause;
    return error;
}

StoreError of_copy(sqlite3* copy, int code) {
    return {code, "the copy of the store: " + std::string(sqlite3_errmsg(copy))};
}

StoreResult<void> copy_pages(sqlite3* from, sqlite3* to, MadeFile const& file,
                             std::function<bool()> const& between) {
    std::unique_ptr<sqlite3_backup, FinishBackup> backup{
        sqlite3_backup_init(to, "main", from, "main")};
    if (!backup) return of_copy(to, sqlite3_extended_errcode(to));
    for (int piece = 1;; ++piece) {
        if (!between()) return StoreError{SQLITE_ABORT, "the copy of the store was abandoned"};
        // The source is in a read transaction already, so every piece is of the same moment.
        int const code = sqlite3_backup_step(backup.get(), pages_a_piece);
        if (code == SQLITE_DONE) break;
        if (code != SQLITE_OK) return StoreError{code, sqlite3_errstr(code)};
        if (piece % pieces_between_syncs == 0 && !file.sync())
            return of_system(SQLITE_IOERR_FSYNC, "the copy of the store cannot be synced");
    }
    int const finished = sqlite3_backup_finish(backup.release());
    if (finished != SQLITE_OK) return of_copy(to, finished);
    return {};
}

}  // namespace

struct Snapshot::State {
    State(Database opened, ReadingPass reading)
        : pass(std::move(reading)), database(std::move(opened)), transaction(database) {}
    ReadingPass pass;  // given back when all else is closed
    Database database;
    Transaction transaction;
    Identity identity;
};

StoreResult<std::unique_ptr<Snapshot>> Snapshot::take(std::filesystem::path const& file) {
    auto pass = ReadingPass::get(ReadingPass::Length::long_read);
    if (!pass) return no_readers_now();
    auto database = Database::open_reader(file, identity_limit);
    if (!database) return database.error();
    auto state = std::make_unique<State>(*std::move(database), *std::move(pass));
    if (auto const begun = state->transaction.begin_read(); !begun) return begun.error();
    // BEGIN reads nothing yet: the moment is that of the first SELECT.
    auto const identity = read_identity(state->database);
    if (!identity) return identity.error();
    state->identity = *identity;
    return std::unique_ptr<Snapshot>{new Snapshot{std::move(state)}};
}

StoreResult<void> Snapshot::copy_to(std::filesystem::path const& to,
                                    std::function<bool()> const& between) {
    MadeFile const file{to};
    if (!file.is_open()) return of_system(SQLITE_CANTOPEN, to);
    sqlite3* handle = nullptr;
    int const opened = sqlite3_open_v2(
        to.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
        files_as_named());
    std::unique_ptr<sqlite3, CloseCopy> const copy{handle};
    if (opened != SQLITE_OK) return StoreError{opened, sqlite3_errstr(opened)};
    // A copy that fails is removed, so nothing needs to be rolled back in it.
    if (sqlite3_exec(handle, "PRAGMA journal_mode = OFF", nullptr, nullptr, nullptr) != SQLITE_OK)
        return of_copy(handle, sqlite3_extended_errcode(handle));
    if (auto const done = copy_pages(state_->database.handle(), handle, file, between); !done)
        return done;
    if (!file.sync()) return of_system(SQLITE_IOERR_FSYNC, to);
    return {};
}

Snapshot::Snapshot(std::unique_ptr<State> state) : state_(std::move(state)) {}

Snapshot::~Snapshot() = default;

Identity const& Snapshot::identity() const noexcept {
    return state_->identity;
}

}  // namespace holdfast::store
