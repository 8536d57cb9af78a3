// World: one server's life on one seed: verbs, time, groups, faults, power cuts and restarts.
//
// Purpose: RELIABILITY.md 4.1. Runs the real engine, journal, wheel and recovery on a simulated
//   disk and clock, and checks the promises after every step.
// Thread safety: one thread; worlds share nothing. Invariants: one seed is one run, step by step;
//   hash() is the same for the same seed, steps and program.
#pragma once

#include "tests/engine/sale_fixture.hpp"
#include "tests/sim/sale_model.hpp"
#include "tests/sim/sim_disk.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sim {

using engine::HoldName;

/// Things that must have happened in a whole suite, or it has proved less than it says.
enum class Mark : std::uint8_t {
    claim_won,
    claim_refused,
    partly_won,      // a partial claim without some of its seats
    partly_refused,  // one of which nothing could be had
    hold_released,
    hold_extended,
    hold_expired,
    exchange_done,
    order_placed,
    order_cancelled,
    tickets_refunded,
    tickets_reseated,
    block_made,
    segment_began,
    power_cut,
    cut_in_start,
    process_killed,
    clean_stop,
    torn_tail,
    records_lost,  // not acknowledged ones
    write_failed,
    sync_failed,
    rename_failed,  // of a segment
    base_unnamed,   // a rename of a base file failed
    read_failed,
    space_ran_out,
    space_came_back,
    damage_found,        // a bit
    misdirection_found,  // a page at another place
    loss_found,          // a segment
    rollback_found,      // an older copy of the journal
    history_found,       // one on which another server ran on
    restart_grace,
    base_written,
    segments_deleted,
    started_from_base,
    repeat_answered,
    nothing_to_change,
    repeat_ran_again,  // the first was lost with its record
    marks,             // their number
};
using Marks = std::array<std::uint64_t, static_cast<std::size_t>(Mark::marks)>;
[[nodiscard]] char const* name_of(Mark mark);

class SimClock final : public Clock {
public:
    TimePoint time{engine::test::at(std::chrono::milliseconds{0})};
    [[nodiscard]] TimePoint now() const noexcept override { return time; }
};

class SimEntropy final : public Entropy {
public:
    explicit SimEntropy(Chance& chance) : chance_(chance) {}
    void fill(std::span<std::byte> bytes) noexcept override {
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(chance_());
    }

private:
    Chance& chance_;
};

/// A promise that was broken, and after which step.
struct Broken {
    std::uint64_t step{};
    std::string what;
};

class World {
public:
    explicit World(std::uint64_t seed);
    ~World();

    /// Lives on for so many steps; what went wrong, if anything did.
    [[nodiscard]] std::optional<Broken> run(std::uint64_t steps);
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
    [[nodiscard]] Marks const& marks() const noexcept { return marks_; }

private:
    static constexpr std::uint32_t labelled = 20;  // seats of the house, before the floor's places
    struct Server;
    struct Client {
        HoldName name;
        OrderId order;
    };
    /// A success of a request with a key.
    struct Keyed {
        engine::Mark mark;
        engine::AnswerBytes answer;
        Lsn lsn{};
        TimePoint at{};
    };

    // world_start.cpp
    void start();
    [[nodiscard]] bool try_start(bool may_be_cut);
    [[nodiscard]] bool open(journal::Tail const& tail, engine::RestoredEvent restored,
                            std::vector<engine::MarkEntry> marks);
    [[nodiscard]] bool make_durable(engine::ClockFact const& fact);
    [[nodiscard]] journal::Options options();
    void compare_with_all_records(engine::Replay const& replay);
    void damage_something();
    [[nodiscard]] std::uint64_t damage_bytes(std::vector<std::string> files);
    [[nodiscard]] std::uint64_t damage_files(std::vector<std::string> const& segments);
    [[nodiscard]] std::uint64_t some_byte_of(std::string const& path);

    // world_history.cpp: journals that are not the store's
    void keep_copy();
    void put_copy_in_place();
    [[nodiscard]] std::uint64_t run_on_copy(std::uint64_t last);

    // world.cpp: life and death
    void step();
    void stop_well();
    void die(bool with_power);
    void begin_fault();
    void give_space_back();
    void write_groups();
    void write_quiet_group();
    bool look_at_names();
    void compact();
    void settle_acknowledged();
    void follow();
    void check();

    // world_claims.cpp: how clients get holds
    void claim();
    void claim_partly();
    [[nodiscard]] std::vector<engine::ClaimLine> random_lines();
    [[nodiscard]] engine::ClaimLine random_seats(std::uint32_t count);
    [[nodiscard]] engine::ClaimLine some_of_the_floor();
    void won(engine::HoldView const& hold, TimePoint deadline);

    // world_verbs.cpp: what clients do
    void verb();
    void block();
    void release(Client const& client);
    void extend(Client const& client);
    void exchange(Client const& client);
    void confirm(Client& client);
    void cancel(Client const& client);
    void refund(Client const& client);
    void reseat(Client const& client);
    /// A mark for the next request of the engine; none for most.
    [[nodiscard]] engine::Mark const* next_mark();
    void note_key(engine::Mark const* mark, bool granted);
    void repeat();
    /// After a call of the engine: its records go into the model, its answer is judged. `may`: the
    /// model, as it was before, would have granted it. True: it was granted.
    template <class T>
    bool judge(Result<T> const& answer, bool may, char const* what) {
        std::optional<RefusalCode> refused;
        if (!answer) refused = answer.error().code;
        return judge(refused, may, what);
    }
    bool judge(std::optional<RefusalCode> refused, bool may, char const* what);
    void take_in_records();

    void expect(bool good, std::string const& what);
    void mark(Mark mark) { ++marks_[static_cast<std::size_t>(mark)]; }
    void mix(std::uint64_t value) noexcept;
    void mix_byte(std::uint64_t byte) noexcept { hash_ = (hash_ ^ byte) * 1099511628211ULL; }
    [[nodiscard]] std::uint32_t below(std::uint32_t limit) {
        return static_cast<std::uint32_t>(chance_() % limit);
    }
    [[nodiscard]] bool one_in(std::uint32_t n) { return below(n) == 0; }
    [[nodiscard]] TimePoint now() const { return clock_.time; }

    Chance chance_;
    SimClock clock_;
    SimEntropy entropy_{chance_};
    SimDisk disk_{chance_};
    std::shared_ptr<EventSpec const> spec_;
    Tape tape_;
    std::size_t modelled_{};  // records of the tape that the model has taken in
    SaleModel model_;
    std::uint64_t acknowledged_{};  // highest LSN anybody was told of
    std::uint64_t proved_{};        // acknowledged, as something later on disk says
    /// What a store has applied by a transaction of it.
    struct Commit {
        std::uint64_t lsn{};
        std::optional<std::uint32_t> chain;
    };
    std::vector<Commit> commits_{1};  // those since the first one, which no power cut takes back
    std::unique_ptr<SimDisk::Image, SimDisk::DropImage> copy_;  // of the folder, a while ago
    std::uint64_t copied_{};                                    // its last LSN
    std::unique_ptr<Server> server_;
    std::vector<Client> clients_;
    std::vector<Keyed> keyed_;
    engine::Mark mark_;
    std::uint64_t keys_{};
    std::vector<SeatIndex> seats_;
    std::uint64_t orders_{};
    std::uint64_t steps_{};
    std::uint64_t hash_{14695981039346656037ULL};
    Marks marks_{};
    Mark damage_{};         // what is being done to the disk
    bool unlucky_{};        // this seed has disk faults
    std::uint32_t busy_{};  // verbs in 800 verbs and groups
    std::optional<Broken> broken_;
};

}  // namespace holdfast::sim
