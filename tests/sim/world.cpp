#include "tests/sim/world.hpp"

#include "tests/sim/server.hpp"

#include <iterator>

namespace holdfast::sim {

using engine::PlaceState;
using engine::test::small_house;
using journal::Mode;
using namespace std::chrono_literals;

namespace {

std::shared_ptr<EventSpec const> make_spec() {
    auto spec = std::make_shared<EventSpec>();
    spec->id = EventId{7};
    spec->slug = "house";
    spec->publish = true;
    spec->policy.max_extensions = 2;
    spec->policy.orphan_rule = OrphanRule::off;  // a rule of choice, not of what is kept
    spec->layout = small_house();
    return spec;
}

}  // namespace

char const* name_of(Mark mark) {
    static char const* const names[] = {
        "claim won",          "claim refused",     "partly won",       "partly refused",
        "hold released",      "hold extended",     "hold expired",     "exchange done",
        "order placed",       "order cancelled",   "ticket refunded",  "ticket reseated",
        "block made",         "segment began",     "power cut",        "power cut in a start",
        "process killed",     "clean stop",        "torn tail",        "records lost",
        "write failed",       "sync failed",       "rename failed",    "base unnamed",
        "read failed",        "space ran out",     "space came back",  "damage found",
        "misdirection found", "loss found",        "rollback found",   "history found",
        "restart grace",      "base written",      "segments deleted", "start from a base",
        "repeat answered",    "nothing to change", "repeat ran again"};
    static_assert(std::size(names) == static_cast<std::size_t>(Mark::marks));
    return names[static_cast<std::size_t>(mark)];
}

World::World(std::uint64_t seed) : chance_(seed), spec_(make_spec()) {
    unlucky_ = one_in(2);
    busy_ = 550 + below(245);
}

World::~World() = default;

void World::expect(bool good, std::string const& what) {
    if (!good && !broken_) broken_ = Broken{steps_, what};
}

void World::mix(std::uint64_t value) noexcept {  // FNV-1a over the bytes of the value
    for (int byte = 0; byte < 8; ++byte) mix_byte(value >> (8 * byte) & 0xFF);
}

std::optional<Broken> World::run(std::uint64_t steps) {
    if (!server_) start();
    for (std::uint64_t i = 0; i < steps && !broken_; ++i) {
        ++steps_;
        try {
            step();
            if (!broken_) check();
        } catch (PowerCut const&) {
            mark(Mark::power_cut);
            die(true);
            start();
        }
    }
    return broken_;
}

void World::step() {
    std::uint32_t const what = below(1'000);
    if (what < busy_) return verb();
    if (what < 800) return write_groups();
    if (what < 940) {
        clock_.time += Milliseconds{below(20) == 0 ? below(200'000) : below(2'000)};
        return;
    }
    if (what < 970) {
        server_->engine->expire(now());
        return take_in_records();
    }
    if (what < 980) return server_->journal->core().upkeep().look();
    if (what < 985) return compact();
    if (what < 992) return write_quiet_group();
    if (what < 997) return unlucky_ ? begin_fault() : disk_.cut_power_after(below(40));
    if (what == 997) {
        mark(Mark::process_killed);
        die(false);
        return start();
    }
    if (what == 998) {
        stop_well();
        return start();
    }
    mark(Mark::power_cut);
    die(true);
    start();
}

void World::begin_fault() {
    switch (below(9)) {
        case 0:
            disk_.faults.write_error_in = below(20);
            return;
        case 1:
        case 6:
        case 7:  // what comes of it is seldom seen
            disk_.faults.sync_error_in = below(20);
            disk_.faults.sync_error_once = one_in(2);
            return;
        case 2:
            disk_.faults.space = below(100'000);
            return;
        case 3:
            disk_.faults.space = below(10'000);
            return;
        case 4:
            disk_.faults = {};
            return;
        case 8:
            disk_.faults.rename_error_in = below(3);
            disk_.faults.rename_error_once = one_in(2);
            return;
        default:
            return disk_.cut_power_after(below(40));
    }
}

void World::write_groups() {
    Mode const before = server_->journal->mode();
    std::uint64_t const segment = server_->segments;
    for (std::uint32_t groups = 1 + below(3); groups > 0; --groups)
        if (server_->journal->core().write_next()) settle_acknowledged();
    server_->segments = disk_.paths().size();
    if (server_->segments != segment) mark(Mark::segment_began);
    Mode const after = server_->journal->mode();
    if (!look_at_names() && before == Mode::running && after == Mode::failed)
        mark(disk_.faults.write_error_in ? Mark::write_failed : Mark::sync_failed);
}

/// It may begin a segment, too.
void World::write_quiet_group() {
    auto& core = server_->journal->core();
    if (!core.quiet_group_due() || core.appended_lsn() != core.durable_lsn()) return;
    core.write_quiet_group();
    look_at_names();
}

/// What is written to a segment without a name is not there after a restart. True: there is one.
bool World::look_at_names() {
    if (!disk_.rename_has_failed()) return false;
    expect(server_->journal->mode() == Mode::failed,
           "the journal goes on in a segment that has no name");
    mark(Mark::rename_failed);
    return true;
}

/// What is durable now was told to whoever asked for it.
void World::settle_acknowledged() {
    std::uint64_t const durable = server_->journal->durable_lsn().value();
    expect(durable >= acknowledged_, "durable_lsn went back");
    if (durable == acknowledged_) return;
    // The group written now says that those before it are durable.
    proved_ = acknowledged_;
    acknowledged_ = durable;
    if (one_in(4)) follow();
}

/// A store follows somewhere behind (RELIABILITY.md 3.6).
void World::follow() {
    std::uint64_t const applied = commits_.back().lsn;
    std::uint64_t const until = applied + (acknowledged_ - applied) / (1 + below(2));
    if (until == applied) return;
    AnyRecord any;
    auto& reader = server_->follower;
    if (!reader) reader.emplace("data", disk_, Lsn{applied});
    auto const read = reader->read(Lsn{until}, until - applied, any);
    if (!read) return expect(false, "the store cannot follow: " + read.error().message);
    expect(read->last == Lsn{until}, "the store does not get all that is durable");
    commits_.push_back({until, read->chain});
}

/// A checkpoint of the store, and what it makes needless (RELIABILITY.md 3.6).
void World::compact() {
    // Often it is older than what was applied, which must not be deleted then.
    auto const commits = static_cast<std::uint32_t>(commits_.size());
    commits_.erase(commits_.begin(), commits_.begin() + (one_in(3) ? commits - 1 : below(commits)));
    // Asked before: an error that is met only once is gone afterwards.
    bool const faulty = disk_.is_faulty();
    auto const explained = [this, faulty] {
        return faulty || server_->journal->mode() == Mode::failed;
    };
    auto const found = server_->compaction->find(Lsn{commits_.front().lsn});
    if (!found) return expect(explained(), "compaction: " + found.error().message);
    if (!*found) return;
    auto const unprepared = server_->compaction->prepare(**found);
    if (disk_.rename_has_failed()) {
        expect(unprepared.has_value(), "a base file that has no name is relied on");
        mark(Mark::base_unnamed);
    }
    if (unprepared) return expect(explained(), "compaction: " + unprepared->message);
    mark(Mark::base_written);
    if (one_in(4)) return;  // as if the process ended here, or META could not be written
    if (auto const failure = server_->compaction->begin_with(**found, *server_->journal))
        return expect(explained(), "compaction: " + failure->message);
    if (one_in(8)) return;  // as if the process ended here
    if (auto const failure = server_->compaction->delete_before(**found))
        return expect(explained(), "compaction: " + failure->message);
    mark(Mark::segments_deleted);
}

void World::stop_well() {
    auto& core = server_->journal->core();
    while (!core.failed() && core.write_next()) {
    }
    if (core.failed()) {
        mark(Mark::process_killed);
        return die(false);
    }
    settle_acknowledged();
    core.write_clean_seal();
    if (!core.failed()) core.store_clean_meta();
    if (!core.failed()) mark(Mark::clean_stop);
    die(false);
}

void World::die(bool with_power) {
    server_.reset();
    static_cast<void>(disk_.rename_has_failed());
    if (with_power) {
        disk_.lose_power();
        commits_.resize(1 + below(static_cast<std::uint32_t>(commits_.size())));
    } else {
        disk_.lose_process();
    }
    if (!with_power && one_in(2)) disk_.faults = {};
}

/// Read-only mode for want of space heals by itself (P9).
void World::give_space_back() {
    disk_.faults = {};
    clock_.time += 6s;  // longer than the journal waits before it tries again
    server_->journal->core().upkeep().look();
    expect(server_->journal->mode() != Mode::read_only, "read-only although there is space");
}

void World::check() {
    Mode const mode = server_->journal->mode();
    if (mode == Mode::read_only && !server_->was_read_only) mark(Mark::space_ran_out);
    if (mode == Mode::running && server_->was_read_only) mark(Mark::space_came_back);
    server_->was_read_only = mode == Mode::read_only;
    expect(server_->journal->reserved() == 0, "journal space was kept");
    for (std::uint32_t place = 0; place < spec_->layout.place_count(); ++place) {
        PlaceState const seen = server_->event->place(SeatIndex{place}, now());
        expect(seen == model_.place(place, now()),
               "place " + std::to_string(place) + " looks other than its records say");
    }
    if (mode == Mode::read_only && one_in(20)) give_space_back();
    // A failed journal stays so until somebody restarts the server.
    if (mode == Mode::failed && one_in(8)) {
        mark(Mark::process_killed);
        die(one_in(4));  // else the next start finds what the kernel still has in memory
        start();
    }
}

}  // namespace holdfast::sim
