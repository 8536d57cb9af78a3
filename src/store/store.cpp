#include "store/anew.hpp"
#include "store/migrations.hpp"
#include "store/store_state.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <sqlite3.h>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace holdfast::store {
namespace {

/// A refused row or a lock leaves file and connection as they were; everything else is in doubt.
[[nodiscard]] bool leaves_doubt(int code) noexcept {
    int const primary = code & 0xFF;
    return primary != SQLITE_CONSTRAINT && primary != SQLITE_BUSY;
}

/// Whether the page cache may hold what the device has lost (RELIABILITY.md F1): not where only
/// space, memory, a descriptor or a lock was wanting, nor where it was about the -shm file, which
/// is made anew.
[[nodiscard]] bool doubts_disk(int code) noexcept {
    switch (code) {
        case SQLITE_IOERR_NOMEM:
        case SQLITE_IOERR_LOCK:
        case SQLITE_IOERR_SHMOPEN:
        case SQLITE_IOERR_SHMSIZE:
        case SQLITE_IOERR_SHMLOCK:
        case SQLITE_IOERR_SHMMAP:
            return false;
        default:
            break;
    }
    switch (code & 0xFF) {
        case SQLITE_FULL:
        case SQLITE_NOMEM:
        case SQLITE_CANTOPEN:
        case SQLITE_BUSY:
        case SQLITE_CONSTRAINT:
        case SQLITE_INTERRUPT:
            return false;
        default:
            return true;
    }
}

/// SQLITE_IOERR of what was there already; its other kinds are about writing.
[[nodiscard]] bool is_read_error(int code) noexcept {
    return code == SQLITE_IOERR || code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ ||
           code == SQLITE_IOERR_DATA || code == SQLITE_IOERR_CORRUPTFS;
}

[[nodiscard]] StoreError::Kind kind_of(int code) noexcept {
    using Kind = StoreError::Kind;
    switch (code & 0xFF) {
        case SQLITE_BUSY:
            return Kind::busy;
        case SQLITE_INTERRUPT:
            return Kind::stopped;
        case SQLITE_CONSTRAINT:
            return Kind::contradiction;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return Kind::damaged;
        case SQLITE_IOERR:
            return is_read_error(code) ? Kind::damaged : Kind::not_durable;
        case SQLITE_PERM:
        case SQLITE_READONLY:
        case SQLITE_FULL:
        case SQLITE_CANTOPEN:
        case SQLITE_NOMEM:
            return Kind::not_durable;
        case SQLITE_SCHEMA:  // by migrations.cpp alone
            return Kind::newer;
        default:
            return Kind::other;
    }
}

[[nodiscard]] std::error_code cause_of(int code) noexcept {
    if (code == SQLITE_IOERR_NOMEM || (code & 0xFF) == SQLITE_NOMEM)
        return std::make_error_code(std::errc::not_enough_memory);
    if ((code & 0xFF) == SQLITE_FULL) return std::make_error_code(std::errc::no_space_on_device);
    return {};
}

/// Which is not "there is none".
[[nodiscard]] StoreError cannot_be_looked_at(std::error_code cause) {
    StoreError error{SQLITE_CANTOPEN, cause.message()};
    error.cause = cause;
    return error;
}

/// Whether the file has ever been whole: SQLite's header names its owner, or it has a WAL.
[[nodiscard]] bool was_whole(std::filesystem::path const& file) {
    constexpr std::size_t owner_at = 68;
    std::array<unsigned char, owner_at + 4> header{};
    std::ifstream in{file, std::ios::binary};
    bool const is_read{in.read(reinterpret_cast<char*>(header.data()), header.size())};
    std::uint32_t owner = 0;
    for (std::size_t at = owner_at; at < header.size(); ++at) owner = owner << 8U | header[at];
    if (is_read && owner == application_id) return true;
    std::error_code none;
    auto const wal = std::filesystem::file_size(Store::real_file(file).string() + "-wal", none);
    return !none && wal != 0;
}

// peek() reads one row.
constexpr std::chrono::milliseconds peek_limit{2'000};

}  // namespace

StoreError::StoreError(int result_code, std::string text)
    : code(result_code),
      kind(kind_of(result_code)),
      message(std::move(text)),
      cause(cause_of(result_code)) {}

int exit_code_of(StoreError::Kind kind) noexcept {
    switch (kind) {
        case StoreError::Kind::busy:
            return 75;
        case StoreError::Kind::not_durable:
            return 76;
        case StoreError::Kind::damaged:
            return 77;
        case StoreError::Kind::newer:
        case StoreError::Kind::contradiction:
            return 78;
        case StoreError::Kind::stopped:
        case StoreError::Kind::other:
            break;
    }
    return 1;
}

void throw_exception_from_error(StoreError const& error, boost::source_location const&) {
    throw std::runtime_error{"store: " + error.message + " (" + std::to_string(error.code) + ")"};
}

std::optional<StoreError> Store::State::closed() const {
    if (database) return std::nullopt;
    HOLDFAST_ASSERT(why_closed.has_value());
    return why_closed;
}

StoreError Store::State::fail(StoreError error) {
    note(error);
    if (!leaves_doubt(error.code)) return error;
    // A connection is never used again after such an error (RELIABILITY 3.6), whether or not there
    // is memory to say why.
    give_up();
    try {
        why_closed = StoreError{error.code, "closed after: " + error.message};
    } catch (std::bad_alloc const&) {  // give_up() has said something
    }
    return error;
}

void Store::State::note(StoreError const& error) noexcept {
    if (!doubts_disk(error.code)) return;
    in_doubt = true;
    is_to_be_anew = true;
}

void Store::State::give_up() noexcept {
    // Short enough for a string that needs no memory.
    why_closed = StoreError{SQLITE_NOMEM, "out of memory"};
    close();
}

void Store::State::close() noexcept {
    statements.reset();
    database.reset();
}

StoreResult<Identity> read_identity(Database& database) {
    Statement meta{database, "SELECT store_id, applied_lsn, applied_chain FROM meta WHERE id = 1"};
    auto const row = meta.next();
    if (!row) return row.error();
    if (!*row) return StoreError{SQLITE_CORRUPT, "the store has no meta row"};
    Identity identity;
    auto const id = meta.bytes(0);
    if (id.size() != identity.store_id.size()) {
        return StoreError{SQLITE_CORRUPT, "the store's id is damaged"};
    }
    std::ranges::transform(id, identity.store_id.begin(),
                           [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    identity.applied_lsn = Lsn{static_cast<std::uint64_t>(meta.integer(1))};
    identity.applied_chain = static_cast<std::uint32_t>(meta.integer(2));
    return identity;
}

StoreResult<std::unique_ptr<Store>> Store::open(std::filesystem::path const& file,
                                                std::array<std::uint8_t, 16> const& new_store_id) {
    remove_left_copies(file);
    auto database = Database::open_writer(file);
    if (!database) return database.error();
    if (auto const full = database->run("PRAGMA synchronous = FULL"); !full) return full.error();
    if (auto const done = migrate(*database, new_store_id); !done) return done.error();
    if (auto const normal = database->run("PRAGMA synchronous = NORMAL"); !normal) {
        return normal.error();
    }
    auto const identity = read_identity(*database);
    if (!identity) return identity.error();
    auto state = std::make_unique<State>(file, *std::move(database));
    state->identity = *identity;
    state->statements = std::make_unique<ProjectionStatements>(*state->database);
    return std::unique_ptr<Store>{new Store{std::move(state)}};
}

StoreResult<std::optional<Identity>> Store::peek(std::filesystem::path const& file) {
    std::error_code failed;
    bool const exists = std::filesystem::exists(file, failed);
    if (failed) return cannot_be_looked_at(failed);
    if (!exists) return std::optional<Identity>{};
    auto database = Database::open_reader(file, peek_limit);
    if (!database) return database.error();
    auto const version = schema_version(*database);
    // A crash while the file was being made leaves one without tables, or, before it had a WAL,
    // with a change that only a writer can roll back: open() goes on with either.
    bool const has_journal = !version && version.error().code == SQLITE_READONLY_ROLLBACK;
    bool const half_made = has_journal && !was_whole(file);
    if (has_journal && !half_made) {
        return StoreError{StoreError::Kind::damaged,
                          "a journal of another program lies beside it (" +
                              file.filename().string() + "-journal), which may have changed it"};
    }
    if (!version && !half_made) return version.error();
    if (half_made || *version == 0) return std::optional<Identity>{};
    auto const identity = read_identity(*database);
    if (!identity) return identity.error();
    return std::optional{*identity};
}

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}

Store::~Store() = default;

Identity Store::identity() const {
    return state_->identity;
}

bool Store::usable() const noexcept {
    return state_->database.has_value();
}

bool Store::in_doubt() const noexcept {
    return state_->in_doubt;
}

StoreResult<void> Store::check() {
    if (auto const closed = state_->closed()) return *closed;
    std::string found;
    {
        Statement check{*state_->database, "PRAGMA quick_check(1)"};
        if (!state_->begin_check()) return StoreError{SQLITE_INTERRUPT, "the check was skipped"};
        auto const row = [this, &check] {
            std::unique_ptr<State, State::EndCheck> const checking{state_.get()};
            return check.next();
        }();
        bool const skipped = !row && (row.error().code & 0xFF) == SQLITE_INTERRUPT;
        if (skipped) return row.error();
        if (!row) return state_->fail(row.error());
        found = check.text(0);
    }
    if (found == "ok") return {};
    // What an interrupted check has not reached it may call damaged.
    if (state_->check_skipped()) return StoreError{SQLITE_INTERRUPT, "the check was skipped"};
    return state_->fail({SQLITE_CORRUPT, "quick_check: " + found});
}

bool Store::State::begin_check() {
    std::lock_guard const lock{check_mutex};
    if (skipping) return false;
    checking = database->handle();
    return true;
}

void Store::State::end_check() noexcept {
    std::lock_guard const lock{check_mutex};
    checking = nullptr;
}

bool Store::State::check_skipped() {
    std::lock_guard const lock{check_mutex};
    return skipping;
}

void Store::skip_check() noexcept {
    std::lock_guard const lock{state_->check_mutex};
    state_->skipping = true;
    // The one call of SQLite's that another thread may make, as long as the connection is open.
    if (state_->checking != nullptr) sqlite3_interrupt(state_->checking);
}

void Store::give_up() noexcept {
    state_->give_up();
}

StoreResult<void> Store::reopen(std::uint64_t bytes_left_min) {
    state_->give_up();
    auto const refuse = [this](StoreError error) {
        state_->note(error);
        state_->close();
        state_->why_closed = error;
        return error;
    };
    std::error_code failed;
    // Opening would make a file that is missing, and it would be empty.
    bool const is_there = std::filesystem::exists(state_->file, failed);
    if (failed) return refuse(cannot_be_looked_at(failed));
    if (!is_there) return refuse({SQLITE_CANTOPEN, "the store's file is missing"});
    if (state_->is_to_be_anew) {
        if (auto const begun = begin_anew(state_->file, bytes_left_min); !begun)
            return refuse(begun.error());
        state_->is_to_be_anew = false;
    }
    auto database = Database::open_writer(state_->file);
    if (!database) return refuse(database.error());
    auto const identity = read_identity(*database);
    if (!identity) return refuse(identity.error());
    if (identity->store_id != state_->identity.store_id) {
        return refuse({SQLITE_MISMATCH, "the file belongs to another store now"});
    }
    if (auto const all = has_events(*database, state_->events); !all) return refuse(all.error());
    state_->database = *std::move(database);
    state_->why_closed.reset();
    if (auto const good = check(); !good) return refuse(good.error());
    state_->identity = *identity;
    state_->statements = std::make_unique<ProjectionStatements>(*state_->database);
    return {};
}

StoreResult<void> Store::begin() {
    if (auto const closed = state_->closed()) return *closed;
    HOLDFAST_ASSERT(!state_->database->in_transaction());
    // IMMEDIATE: see Transaction.
    if (auto const begun = state_->database->run("BEGIN IMMEDIATE"); !begun) {
        return state_->fail(begun.error());
    }
    return {};
}

StoreResult<void> Store::commit(Lsn applied, std::uint32_t chain) {
    if (auto const closed = state_->closed()) return *closed;
    HOLDFAST_ASSERT(state_->database->in_transaction());
    // Going back is what clear_projection() is for.
    HOLDFAST_ASSERT(applied >= state_->identity.applied_lsn);
    HOLDFAST_ASSERT(applied.value() <= std::numeric_limits<std::int64_t>::max());
    auto const set = state_->statements->set_applied.put(static_cast<std::int64_t>(applied.value()))
                         .put(std::int64_t{chain})
                         .run();
    if (!set) return state_->fail(set.error());
    if (state_->database->changes() != 1) {
        return state_->fail({SQLITE_CORRUPT, "the store has no meta row"});
    }
    if (auto const done = state_->database->run("COMMIT"); !done) {
        return state_->fail(done.error());
    }
    state_->identity.applied_lsn = applied;
    state_->identity.applied_chain = chain;
    return {};
}

void Store::roll_back() noexcept {
    if (!state_->database) return;
    if (!state_->database->in_transaction()) return;
    auto const done = state_->database->run("ROLLBACK");
    if (!done) static_cast<void>(state_->fail(done.error()));
}

StoreResult<void> Store::clear_projection() {
    if (auto const begun = begin(); !begun) return begun;
    auto done = state_->database->run(
        "DELETE FROM history; DELETE FROM tickets; DELETE FROM order_holds; DELETE FROM orders;"
        "DELETE FROM event_steps; UPDATE meta SET applied_lsn = 0, applied_chain = 0");
    if (done) done = state_->database->run("COMMIT");
    if (!done) {
        StoreError const error = state_->fail(done.error());
        roll_back();
        return error;
    }
    state_->identity.applied_lsn = no_lsn;
    state_->identity.applied_chain = 0;
    return {};
}

StoreResult<bool> Store::checkpoint() {
    if (auto const closed = state_->closed()) return *closed;
    auto const done = state_->database->checkpoint();
    if (!done) return state_->fail(done.error());
    return *done;
}

std::uint64_t Store::wal_bytes() const noexcept {
    return state_->database ? state_->database->wal_bytes() : 0;
}

std::uint64_t memory_bytes() noexcept {
    return static_cast<std::uint64_t>(sqlite3_memory_used());
}

}  // namespace holdfast::store
