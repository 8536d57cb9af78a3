// Store: the SQLite file. Home of the catalogue (events, layouts), projection of everything else.
//
// Purpose: what people query. Orders, tickets and history are projected from the journal in
//   batches, with applied_lsn in the same transaction, so the file may lag the journal and never
//   lead it.
// Thread safety: Store is owned by the store thread, which does all writes and all checkpoints
//   (SQLite 3.40.1 has the WAL-reset race with a second one). A Reader belongs to one thread.
// Invariants: applied_lsn moves only together with the rows of its records; applying a record twice
//   changes nothing; a failed write closes the connection (degraded) and never hides;
//   only reopen() makes another.
// Cost: one transaction a batch; catalogue writes are synchronous=FULL, projections NORMAL.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/domain/event.hpp>
#include <holdfast/domain/ids.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast::store {

struct StoreError {
    /// What a caller can do about it.
    enum class Kind : std::uint8_t {
        other,
        busy,           // somebody else is at it: try again
        stopped,        // it was told to give up
        contradiction,  // the rows that are there forbid it
        damaged,        // what the file has cannot be read, or is not what it must be
        not_durable,    // it cannot be written, or not be opened by us, or not now
        newer,          // made by a newer holdfast
    };
    StoreError() = default;
    // No aggregate: a number must not look like an error to ResultOf.
    StoreError(int result_code, std::string text);
    StoreError(Kind what, std::string text) : kind(what), message(std::move(text)) {}
    int code{};  // SQLite's extended result code, if it is from there
    Kind kind{};
    std::string message;
    std::error_code cause;  // what the system said, if it is known
};
/// For whoever starts on the file, or looks at it: 75 to 78, or 1.
[[nodiscard]] int exit_code_of(StoreError::Kind kind) noexcept;
[[noreturn]] void throw_exception_from_error(StoreError const&, boost::source_location const&);
template <class T>
using StoreResult = ResultOf<T, StoreError>;

struct Identity {
    std::array<std::uint8_t, 16> store_id{};
    Lsn applied_lsn{};
    std::uint32_t applied_chain{};
};

struct TicketRow {
    TicketId ticket;
    EventId event{};
    SeatIndex seat{};
    std::string seat_name;  // empty: a general place
    std::string section;
    std::int64_t price{};
    bool live{true};  // false: its order was cancelled, or it was refunded
    bool refunded{};  // alone, before its order was cancelled if it was
};

/// A ticket of an order is for another place now; its id and price stay.
struct ReseatRow {
    EventId event{};
    SeatIndex from{};
    SeatIndex to{};
    std::string seat_name;  // of `to`
    std::string section;
};

enum class OrderState : std::uint8_t { confirmed = 1, cancelled = 2 };

struct OrderRow {
    OrderId order;
    EventId event{};  // of its first hold
    std::vector<std::pair<EventId, HoldRef>> holds;
    OrderState state{OrderState::confirmed};
    std::string payment_method;
    std::int64_t total{};  // less what was refunded
    std::string currency;
    TimePoint created_at{};
    Lsn lsn{};
    std::vector<TicketRow> tickets;
};

struct HistoryRow {
    Lsn lsn{};
    TimePoint at{};
    OrderId order;
    std::string what;  // "confirmed", "cancelled", "refunded", "reseated"
};

/// What an audit looks at.
struct LiveTicket {
    EventId event{};
    SeatIndex seat{};
    OrderId order;  // zero: of no order
    std::int64_t price{};
    friend bool operator==(LiveTicket const&, LiveTicket const&) = default;
};
struct OrderSum {
    Lsn lsn{};
    OrderId order;
    EventId event{};  // of its first hold
    OrderState state{OrderState::confirmed};
    std::int64_t total{};
    std::string currency;
    std::uint64_t live_tickets{};
    std::int64_t live_price{};  // of all live tickets
    Lsn last_change{};          // its own, if nothing has changed it
};

class Store {
public:
    /// Opens or creates `file`, runs the embedded migrations. A new file takes `new_store_id`.
    [[nodiscard]] static StoreResult<std::unique_ptr<Store>> open(
        std::filesystem::path const& file, std::array<std::uint8_t, 16> const& new_store_id);
    /// Identity of an existing file without opening it for writing; nothing if there is no file.
    [[nodiscard]] static StoreResult<std::optional<Identity>> peek(
        std::filesystem::path const& file);
    /// After a failed sync the page cache holds what the device has not (RELIABILITY.md F1), and a
    /// start must not believe it. Syncs the file and its WAL and has them read anew. Only before
    /// this process opens them: closing a file ends all of a process's locks on it.
    [[nodiscard]] static StoreResult<void> drop_cache(std::filesystem::path const& file);
    /// Where a link leads: SQLite keeps the WAL beside that file. `file` itself if there is none.
    [[nodiscard]] static std::filesystem::path real_file(std::filesystem::path const& file);
    ~Store();
    Store(Store const&) = delete;
    Store& operator=(Store const&) = delete;

    [[nodiscard]] Identity identity() const;
    /// False once a failure has closed the connection: every further call gives that error.
    [[nodiscard]] bool usable() const noexcept;
    /// True from the first failure on after which what SQLite was told is synced may not be: any
    /// but want of space, memory, a descriptor or a lock. What was told of before is on the disk
    /// again once reopen() has done its work; only a new Store says false again.
    [[nodiscard]] bool in_doubt() const noexcept;
    /// A new connection instead of one that failed (which is never used again). The file must be
    /// there, be the same store with all events told of before, and pass check(). In doubt it is
    /// read from the disk as by a start: all readers are closed, and applied_lsn may have gone back
    /// to what the newest checkpoint had, or a start. After an error everything stays closed.
    /// `bytes_left_min`: what the journal needs on the same disk, and what a copy leaves free.
    [[nodiscard]] StoreResult<void> reopen(std::uint64_t bytes_left_min = 0);
    /// Closes the connection, and with it what it had begun: for want of memory to go on with it.
    void give_up() noexcept;
    /// PRAGMA quick_check: reads the whole file. Damage closes the connection. An error that leaves
    /// it usable: the check was skipped.
    [[nodiscard]] StoreResult<void> check();
    /// Any thread: ends a check under way, and no other begins.
    void skip_check() noexcept;

    // Catalogue: each call is one durable transaction.
    /// Gives the spec its id. `already_exists` shows as an empty optional, unless the same request
    /// (made_by) has made it: then it is that one, for its first answer may have been an error.
    [[nodiscard]] StoreResult<std::optional<EventId>> insert_event(EventSpec const& spec);
    [[nodiscard]] StoreResult<std::vector<EventSpec>> load_events();

    // Projection: begin, any number of applies, commit.
    [[nodiscard]] StoreResult<void> begin();
    [[nodiscard]] StoreResult<void> apply_order(OrderRow const& order);
    [[nodiscard]] StoreResult<void> apply_cancel(OrderId const& order, HistoryRow const& history);
    /// Ends the tickets of these places and takes their prices off the order's total.
    [[nodiscard]] StoreResult<void> apply_refund(
        std::span<std::pair<EventId, SeatIndex> const> places, HistoryRow const& history);
    /// Moves tickets, all at once: they may change places with each other.
    [[nodiscard]] StoreResult<void> apply_reseat(std::span<ReseatRow const> moves,
                                                 HistoryRow const& history);
    [[nodiscard]] StoreResult<void> apply_life_step(EventId event, LifeStep step, Lsn lsn);
    [[nodiscard]] StoreResult<void> commit(Lsn applied, std::uint32_t chain);
    void roll_back() noexcept;
    /// Deletes every projected row and sets applied_lsn to 0, for projecting the journal anew.
    [[nodiscard]] StoreResult<void> clear_projection();

    // What an audit compares with the journal (inspection.cpp).
    /// By event and seat, read from the table itself and not from its unique index.
    [[nodiscard]] StoreResult<std::vector<LiveTicket>> live_tickets();
    /// By LSN.
    [[nodiscard]] StoreResult<std::vector<OrderSum>> order_sums();

    /// wal_checkpoint(TRUNCATE); tells whether everything was moved (false: a reader was in the
    /// way).
    [[nodiscard]] StoreResult<bool> checkpoint();
    /// How much the WAL has grown since the last checkpoint, as of the newest commit.
    [[nodiscard]] std::uint64_t wal_bytes() const noexcept;

private:
    struct State;
    explicit Store(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// A read-only connection; each call is one short read transaction (at most 2 s). After an error it
/// is of no use any more: another one may be.
class Reader {
public:
    [[nodiscard]] static StoreResult<std::unique_ptr<Reader>> open(
        std::filesystem::path const& file);
    ~Reader();
    /// False: closed for a store that is read from the disk anew.
    [[nodiscard]] bool is_open() const noexcept;
    [[nodiscard]] StoreResult<std::optional<OrderRow>> order(OrderId const& order);
    struct OrderPage {
        std::vector<OrderRow> items;
        bool more{};
    };
    /// Orders with lsn < before (0: from the newest), newest first, at most `limit`.
    [[nodiscard]] StoreResult<OrderPage> orders(Lsn before, std::uint32_t limit);

private:
    struct State;
    explicit Reader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// What SQLite has from the heap, for all connections of this process; any thread. It grows with
/// the file up to the cache of the writer, 64 MiB.
[[nodiscard]] std::uint64_t memory_bytes() noexcept;

}  // namespace holdfast::store
