// Engine: the verbs of a sale. Claim, read, release, extend, confirm, cancel.
//
// Purpose: binds an event's inventory, its timer and the journal; knows no HTTP and no JSON.
// Thread safety: find, events and all verbs: any thread at any time. add and build: any thread, off
//   the io threads (they allocate). expire: the expiry thread only.
// Invariants: every success carries the LSN of its fact; a refusal of a claim is only ever caused
//   by a place that was really taken (PROTOCOL.md); free + held + sold + blocked == capacity.
// A verb that is given a mark journals it with the effect and keeps it in marks(), with what makes
//   its answer again.
// Cost: claim of k seats about k CAS, one append, no lock, no allocation, no system call; a cached
//   sold-out refusal is O(1). With a mark it allocates the answer that is kept and takes a mutex,
//   of a sixteenth of the marks (marks.hpp), for an insert and what that displaces. Limits for
//   accounts cost a few RMWs more; the first claim of an account tries a lock, one that a limit
//   would refuse may end what is due first, and one that meets a cool-down allocates: all bounded
//   in limits.hpp (src/engine/account_gate.hpp). So does a search that must scan (a bit a place);
//   reads, exchanges and orders allocate their lists. A verb or read that meets a change of its
//   hold waits, at most EngineOptions::turn_wait.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/event.hpp>
#include <holdfast/domain/refusal.hpp>
#include <holdfast/engine/facts.hpp>
#include <holdfast/engine/marks.hpp>
#include <holdfast/engine/replay.hpp>
#include <holdfast/engine/server_key.hpp>
#include <holdfast/journal/journal.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::engine {

class LiveEvent;
class SeatFollower;  // engine/following.hpp

enum class HoldState : std::uint8_t { held, confirmed, blocked };
enum class PlaceState : std::uint8_t { free = 0, held = 1, sold = 2, blocked = 3 };

/// What a best-available line asks for. Empty lists mean "everywhere".
struct BestWish {
    std::uint32_t quantity{};
    std::vector<SectionIndex> sections;
    std::vector<CategoryIndex> categories;
    std::optional<std::uint32_t> zone;  // index into Layout::zones()
    std::uint32_t accessible{};         // exactly so many accessible seats
    bool prevent_orphans{true};
    /// Neighbours in one row or nothing. Else also several blocks, the whole of a larger table (the
    /// hold then has more places than `quantity`), or one general-admission section.
    bool together{};
    friend bool operator==(BestWish const&, BestWish const&) = default;
};

/// One line of a claim, checked for shape by the caller: seats exist, are unique over all lines and
/// hold groups whole, counts are 1 ... the event's max_per_order in sum, sections exist.
struct ClaimLine {
    enum class Kind : std::uint8_t { seats, candidates, best, general };
    Kind kind{};
    std::vector<SeatIndex> seats;  // seats; or candidates in the wanted order
    std::uint32_t count{};         // candidates: how many of them; general: how many places
    BestWish best;                 // best
    SectionIndex section{};        // general: a general-admission section
};

/// Why a claim was refused as `orphan_seat`, and what would not be.
struct OrphanReport {
    std::vector<SeatIndex> orphans;  // ascending: the single free seats it would leave
    /// Each can be asked for by name instead of the claim's seats; the likest first.
    std::vector<std::vector<SeatIndex>> alternatives;
    /// Places and words of hints that the rule looked at, also when it refused nothing.
    std::size_t looks{};
};

struct ClaimCommand {
    LiveEvent* event{};
    std::span<ClaimLine const> lines;
    std::uint64_t holder{};           // account, 48 bits; 0 = a guest, or staff for nobody
    std::optional<Milliseconds> ttl;  // none: the event's hold_ttl
    bool preview{};                   // choose without holding: state, seats, no LSN
    bool staff{};                     // for nobody: not bound by the orphan rule
    OrphanReport* orphans{};          // if given, filled when refused as orphan_seat
    Mark const* mark{};               // if given, goes into the record; so of all verbs
    bool partial{};                   // of lines with seats those that can be had, groups whole
};

/// What buyers are told of a place that staff took: blocked, or not for sale at all.
enum class BlockKind : std::uint8_t { blocked, not_for_sale };

struct BlockCommand {
    LiveEvent* event{};
    std::span<SeatIndex const> places;  // ascending, unique, labelled or not; may be empty
    SectionIndex section{};             // a general-admission section, if `quantity` > 0
    std::uint32_t quantity{};           // so many further places of it
    BlockKind kind{};
    /// The places are free again from then on. Not sooner than EngineOptions::hold_ttl_min, or the
    /// timer may remind too late (wheel.hpp).
    TimePoint until{no_deadline};
    bool skip_taken{};  // block those of `places` that are free instead of refusing
    Mark const* mark{};
};

struct BlockItem {
    HoldName name;
    BlockKind kind{};
    TimePoint created_at{};
    TimePoint expires_at{};  // no_deadline if none
    std::uint32_t places{};
};
struct BlockPage {
    std::vector<BlockItem> items;  // by slot
    bool more{};
};

struct HoldView {
    HoldName name;
    HoldState state{HoldState::held};
    BlockKind block{};  // if state is blocked
    TimePoint created_at{};
    TimePoint expires_at{};  // no_deadline if none
    std::uint32_t extensions_left{};
    OrderId order{};  // of a confirmed hold
    bool together{};  // all seats are neighbours in one row
    std::int64_t total{};
    Lsn lsn{};  // of the fact this call appended; no_lsn for a read
};

/// What a hold is to have instead of what it has: all of it, as lines of seats and of general
/// places only, of the same shape as in a claim but for groups. Places in both stay the hold's.
struct ExchangeCommand {
    HoldName hold;
    std::span<ClaimLine const> lines;
    bool gives_back{};        // the lines say what goes instead
    bool staff{};             // not bound by the orphan rule if the hold is nobody's
    OrphanReport* orphans{};  // if given, filled when refused as orphan_seat
    Mark const* mark{};
};

struct PlaceName {
    EventId event{};
    SeatIndex seat{};
    friend auto operator<=>(PlaceName const&, PlaceName const&) = default;
};

/// A request with a key that changes an order, and the order as its answer shows it.
struct MarkedChange {
    Mark const* mark{};  // null: without a key
    ChangeAnswer after;  // if there is a mark
};

struct RefundCommand {
    OrderId order;
    std::span<HoldName const> holds;    // of the order; those that have ended are passed over
    std::span<PlaceName const> places;  // whose tickets end; unique
    MarkedChange marked{};              // `after`: if the order goes on
    ChangeAnswer const* after_all{};    // if there is a mark: if nothing is left
};

/// `from` has a ticket of the order, `to` gets it. No place is `from` twice, over both lists, or
/// `to` twice; a place may be both.
struct ReseatCommand {
    OrderId order;
    std::span<HoldName const> holds;
    EventId event{};
    std::span<ReseatFact::Move const> moves;  // to seats
    /// To any place of a general-admission section; a ticket that has one stays there.
    struct ToSection {
        SeatIndex from{};
        SectionIndex section{};
    };
    std::span<ToSection const> to_sections;
    MarkedChange marked{};
};

struct RefundedOrder {
    bool whole{};  // nothing is left: the order is cancelled
    Lsn lsn{};
};

struct ConfirmCommand {
    OrderId order;                    // made by the caller
    std::span<HoldName const> holds;  // 1 ... limits::holds_per_order_max, unique
    PaymentMethod method{PaymentMethod::none};
    Mark const* mark{};
};

struct PlacedOrder {
    TimePoint created_at{};
    std::int64_t total{};
    Lsn lsn{};
    std::vector<std::vector<SeatIndex>> seats;  // of each hold, as they were sold
};

struct SectionCount {
    SectionIndex section{};
    std::uint32_t capacity{}, free{}, held{}, sold{}, blocked{};
};

struct SeatStates {
    std::vector<std::uint8_t> seats;    // labelled ones, 2 bits each as in API.md (`…/state`)
    std::vector<SectionCount> general;  // of general-admission sections
};

/// One event on sale. Const facts from the spec, live facts from the inventory.
class LiveEvent {
public:
    virtual ~LiveEvent() = default;
    [[nodiscard]] virtual EventSpec const& spec() const noexcept = 0;
    /// Computed from the life step and the sale times, so that a late timer changes nothing.
    [[nodiscard]] virtual EventState state(TimePoint now) const noexcept = 0;
    /// The seats exist; before that every verb is refused with sale_not_open.
    [[nodiscard]] virtual bool ready() const noexcept = 0;
    /// One scan of the places; the four numbers of each section add up to its capacity.
    [[nodiscard]] virtual std::vector<SectionCount> availability(TimePoint now) const = 0;
    /// All places for a document that goes with a number of the journal, read before: every fact up
    /// to it is in what they say. Waits for a change under way, EngineOptions::turn_wait in all.
    /// False: one took longer, so there are no such states.
    [[nodiscard]] virtual bool seat_states(TimePoint now, SeatStates& states) const = 0;
    /// Counts what a newcomer sees of one seat now; "free" only if it is (PROTOCOL.md F12).
    [[nodiscard]] virtual PlaceState place(SeatIndex seat, TimePoint now) const noexcept = 0;
    /// Why a newcomer cannot have the seat now; none if it is free.
    [[nodiscard]] virtual SeatReason reason(SeatIndex seat, TimePoint now) const noexcept = 0;
    /// Looks for what was touched since the follower's last look. False: the seats are not built,
    /// or a change under way took longer than EngineOptions::turn_wait; the look must be made again
    /// then, and what it has found until there stays found.
    [[nodiscard]] virtual bool follow(SeatFollower& follower) const = 0;
};

/// The least generation of holds that a server makes that began at `start`: the milliseconds since
/// 2026. What it goes on from may be older than what its clients have (a backup, a copy of the
/// folder, what salvage could read): an id and token of a hold that it knows nothing of must not
/// fit one that it makes, nor may the id of an event that it lost. They do not as long as no slot
/// was used a thousand times a second all the while since that life began, and the clock was not
/// behind at `start`. Until 2058; from then on there is no such jump.
[[nodiscard]] std::uint64_t first_generation(TimePoint start) noexcept;

struct EngineOptions {
    Milliseconds hold_ttl_min{limits::hold_ttl_lowest};  // also the timer's horizon
    /// How long a verb or a read waits for a change of its hold that is under way; then `busy`.
    Milliseconds turn_wait{8};
    std::uint64_t first_generation{1};  // of holds made from now on
    MarkBounds marks{};
};

/// An event that lacks nothing but its id; the room for its record is kept while this lives.
struct PreparedEvent;
/// What became of it; null: nothing.
struct MadeEvent {
    LiveEvent* event{};
    Lsn lsn{};  // of the record that says so
};

class Engine {
public:
    Engine(journal::Journal& journal, EngineOptions const& options);
    ~Engine();
    Engine(Engine const&) = delete;
    Engine& operator=(Engine const&) = delete;

    // Events
    [[nodiscard]] LiveEvent* find(std::string_view slug) const noexcept;
    [[nodiscard]] LiveEvent* find(EventId event) const noexcept;
    [[nodiscard]] std::vector<LiveEvent*> events() const;
    /// Makes the event known, in state preparing (or draft); spec.id is set. Null if the slug or id
    /// is taken or limits::events_max is reached.
    [[nodiscard]] LiveEvent* add(std::shared_ptr<EventSpec const> spec);
    /// The same of a new event, in two steps, of which the second needs no memory and no more room:
    /// what the catalogue has got in between becomes known, and is journaled with the step that its
    /// life begins with, so that a catalogue without it is seen to have lost it. read_only or
    /// overloaded if the journal has no room.
    [[nodiscard]] Result<std::shared_ptr<PreparedEvent>> prepare(EventSpec spec);
    [[nodiscard]] MadeEvent add(PreparedEvent& prepared, EventId id) noexcept;
    /// Journals that step of an event that the catalogue has and the journal does not know: the
    /// server ended between the two.
    [[nodiscard]] Result<Lsn> tell(LiveEvent const& event);
    /// Builds the seats and puts restored holds back in place. Once for each event.
    void build(LiveEvent& event, RestoredEvent const& restored);
    /// publish, pause, close, cancel: makes the step and journals it, in one order for all events.
    /// `only_from`: refused in any other state; by default wherever it may follow. `after`, which
    /// may be null: the state it comes to, as its mark says.
    [[nodiscard]] Result<Lsn> step(LiveEvent& event, LifeStep step, TimePoint now,
                                   std::optional<EventState> only_from = {},
                                   Mark const* mark = nullptr, EventState* after = nullptr);
    /// Applies a step found in the journal.
    void restore_step(LiveEvent& event, LifeStep step) noexcept;

    /// Answer of sold_out(): ask claim().
    static constexpr std::uint32_t not_refused = ~0U;
    /// Whether claim() would refuse this command as sold out by a kept verdict: the places left
    /// then, or not_refused. The cheap first question of a sold-out sale; a few loads. (A number
    /// and no optional: packing one for the return costs more than all the loads.)
    [[nodiscard]] static std::uint32_t sold_out(ClaimCommand const& command,
                                                TimePoint now) noexcept;

    // Holds. `seats` receives the hold's places in ascending order.
    [[nodiscard]] Result<HoldView> claim(ClaimCommand const& command, TimePoint now,
                                         std::vector<SeatIndex>& seats);
    [[nodiscard]] Result<HoldView> read(HoldName const& hold, TimePoint now,
                                        std::vector<SeatIndex>& seats) const;
    /// Lsn of the END; no_lsn if the hold had ended before (that is a success too).
    [[nodiscard]] Result<Lsn> release(HoldName const& hold, TimePoint now,
                                      Mark const* mark = nullptr);
    /// At most to now + by and to the hold's longest life, never earlier; only while its account
    /// may claim (open sale, budget). Nothing moves: none is used up, nothing journaled (no LSN).
    [[nodiscard]] Result<HoldView> extend(HoldName const& hold, Milliseconds by, TimePoint now,
                                          std::vector<SeatIndex>& seats,
                                          Mark const* mark = nullptr);
    /// Gives the hold another list in one step: its id, deadline and extensions stay, and on a
    /// refusal nothing has changed (`seats` is then what it has, if it is live). New places obey
    /// the rules of a claim; fewer may be had as long as the hold lives, also after the sale.
    /// Giving back all that it has at that moment releases the hold: `seats` is empty then.
    /// seats_unavailable without
    /// a reason: a place to give back is not the hold's. inseparable_group: it would have a part of
    /// a group. No LSN: nothing changed.
    [[nodiscard]] Result<HoldView> exchange(ExchangeCommand const& command, TimePoint now,
                                            std::vector<SeatIndex>& seats);
    // Blocks: holds of staff without a deadline, or with one of any length, in an event of any
    // state whose seats exist. They are read like holds; extending one, or confirming it, is an
    // illegal transition. The END of one says that staff ended it, by whatever verb.
    /// At most limits::seats_per_claim_max places, all or nothing but for skip_taken.
    [[nodiscard]] Result<HoldView> block(BlockCommand const& command, TimePoint now,
                                         std::vector<SeatIndex>& seats);
    /// Lsn of the END; no_lsn if it had ended before, and for any hold that has: nothing tells then
    /// what it was. not_found for a live hold that is no block.
    [[nodiscard]] Result<Lsn> unblock(HoldName const& hold, TimePoint now,
                                      Mark const* mark = nullptr);
    /// Those in slots after `after` that have not ended at `now`. One look at every slot of the
    /// event: off the io threads.
    [[nodiscard]] BlockPage blocks(LiveEvent const& event, TimePoint now, SlotIndex after,
                                   std::size_t limit) const;
    // Orders
    [[nodiscard]] Result<PlacedOrder> confirm(ConfirmCommand const& command, TimePoint now);
    /// Gives the places of a confirmed order back. already_released if it was cancelled before.
    [[nodiscard]] Result<Lsn> cancel(OrderId const& order, std::span<HoldName const> holds,
                                     TimePoint now, MarkedChange const& marked = {});

    /// Ends some tickets of an order; the rest stays valid, and refunding the rest cancels it.
    /// already_released if the order does not have such a place (any more); inseparable_group if
    /// it would keep a part of a group.
    [[nodiscard]] Result<RefundedOrder> refund(RefundCommand const& command, TimePoint now);
    /// Moves tickets of an order to other places, all or nothing. Staff's: it looks at no sale
    /// times and no orphans. already_released and inseparable_group as in refund; sold_out with a
    /// `seat` of the section that is full; no_lsn if every ticket stays.
    [[nodiscard]] Result<Lsn> reseat(ReseatCommand const& command, TimePoint now);

    // Idempotency keys
    [[nodiscard]] Marks& marks() noexcept;
    /// The hold as an answer showed it, but for the deadline of one that a restart gave more time.
    /// Nothing: there is no such event, or its seats are not ready.
    [[nodiscard]] std::optional<HoldView> shown(HoldAnswer const& answer) const;

    /// Ends what is due in every event; at most about 8,000 holds a call. The number ended.
    std::size_t expire(TimePoint now);

    /// What the engine's own source files share.
    struct Core;

private:
    std::unique_ptr<Core> core_;
};

}  // namespace holdfast::engine
