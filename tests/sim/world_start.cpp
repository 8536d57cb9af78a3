// World: starts. Recovery is cut short, meets errors and damage, and must come to the same end.

#include "journal/segment_files.hpp"
#include "tests/sim/server.hpp"

#include <holdfast/journal/base_file.hpp>
#include <holdfast/journal/recovery.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::sim {

using journal::Mode;
using namespace std::chrono_literals;

namespace {

constexpr Milliseconds restart_grace = 30s;
constexpr std::uint64_t segment_bytes = 64U << 10;
constexpr std::size_t mark_bytes = 16U << 20;

/// Hands on what is read back, and says whether it differs from what was appended.
class ComparingSink final : public journal::RecordSink {
public:
    ComparingSink(Tape const& tape, journal::Disk& disk, engine::Replay& next)
        : tape_(tape), disk_(disk), next_(next) {}
    bool begin(journal::SegmentStart const& start) override {
        read_ = start.before.value();
        auto const base = journal::read_base(data, disk_, start);
        from_base_ = true;
        return base && next_.load(*base);
    }
    bool record(journal::RecordView const& view) override {
        bool const known = view.lsn.value() == read_ + 1 && read_ < tape_.size() &&
                           tape_[read_].type == view.type && tape_[read_].version == view.version &&
                           std::ranges::equal(tape_[read_].payload, view.payload);
        if (!known) differs_ = true;
        ++read_;
        return next_.record(view);
    }
    [[nodiscard]] bool differs() const { return differs_; }
    [[nodiscard]] std::uint64_t read() const { return read_; }
    [[nodiscard]] bool from_base() const { return from_base_; }

private:
    Tape const& tape_;
    journal::Disk& disk_;
    engine::Replay& next_;
    std::uint64_t read_{};
    bool differs_{};
    bool from_base_{};
};

/// The last record before a segment, as its header has it; 0 if it has none.
std::uint64_t last_before(journal::Disk& disk, std::string const& segment) {
    std::unique_ptr<journal::File> file;
    std::optional<journal::SegmentHeader> header;
    if (disk.open(segment, journal::OpenMode::read_device, file)) return 0;
    if (journal::read_segment_header(*file, header) || !header) return 0;
    return header->prev_last_lsn;
}

}  // namespace

journal::Options World::options() {
    journal::Options options;
    options.data = data;
    options.segment_bytes = segment_bytes;
    options.free_bytes_min = 0;
    options.entropy = &entropy_;
    return options;
}

void World::start() {
    // Each try may be cut short again; the machine comes back in the end.
    for (int tries = 0; !broken_; ++tries) {
        if (tries > 20) disk_.faults = {};
        try {
            if (try_start(tries < 3)) return;
            die(false);
            disk_.faults = {};  // somebody looked after the disk
        } catch (PowerCut const&) {
            mark(Mark::cut_in_start);
            die(true);
        }
    }
}

bool World::try_start(bool may_be_cut) {
    // The wall clock may have been set in between; the line of time only goes on.
    if (one_in(8)) clock_.time += Milliseconds{below(3'600'000)};
    if (disk_.paths().size() > 3 && one_in(10)) damage_something();
    if (one_in(12)) put_copy_in_place();
    if (may_be_cut && one_in(4)) disk_.cut_power_after(below(30));
    if (unlucky_ && one_in(8)) disk_.faults.read_error_in = below(40);
    engine::Replay replay({{spec_->id, spec_->layout.place_count()}});
    ComparingSink sink(tape_, disk_, replay);
    std::optional<journal::StoreState> store;
    if (Commit const& last = commits_.back(); last.lsn > 0)
        store = journal::StoreState{{}, Lsn{last.lsn}, last.chain};
    auto const recovered = journal::recover(data, disk_, store, sink, entropy_);
    if (!recovered) {
        expect(disk_.is_faulty(), "no start though nothing is wrong: " + recovered.error().message);
        if (disk_.faults.read_error_in) mark(Mark::read_failed);
        return false;
    }
    disk_.faults.read_error_in.reset();
    std::uint64_t const last = recovered->tail.last_lsn.value();
    expect(!sink.differs(), "a record came back other than it was appended");
    expect(last == sink.read(), "recovery counts other records than it read");
    expect(last >= acknowledged_, "acknowledged up to " + std::to_string(acknowledged_) +
                                      ", but only " + std::to_string(last) + " came back");  // P3
    if (broken_) return false;
    if (recovered->cut_bytes > 0) mark(Mark::torn_tail);
    if (last < tape_.size()) mark(Mark::records_lost);
    tape_.resize(last);
    for (Keyed& key : keyed_)
        if (key.lsn.value() > last) key.lsn = no_lsn;  // lost with its record, unacknowledged
    if (sink.from_base()) compare_with_all_records(replay);
    modelled_ = 0;
    model_ = {};
    for (; modelled_ < tape_.size(); ++modelled_) {
        std::string const wrong = model_.apply(tape_[modelled_], no_deadline);
        expect(wrong.empty(), "in the journal: " + wrong);
        mix(tape_[modelled_].payload.size());
    }
    clock_.time = std::max(clock_.time, recovered->tail.last_wall);
    auto marks = replay.marks();
    return open(recovered->tail, std::move(replay.take()[spec_->id]), std::move(marks));
}

/// What was deleted must make no difference: base file and records left say what all records say.
void World::compare_with_all_records(engine::Replay const& replay) {
    mark(Mark::started_from_base);
    engine::Replay all({{spec_->id, spec_->layout.place_count()}});
    std::uint64_t lsn = 0;
    for (TapeRecord const& record : tape_)
        static_cast<void>(all.record({Lsn{++lsn}, record.type, record.version, record.payload}));
    expect(replay.save() == all.save(), "a base file and what follows are not all records");
}

bool World::open(journal::Tail const& tail, engine::RestoredEvent restored,
                 std::vector<engine::MarkEntry> marks) {
    server_ = std::make_unique<Server>();
    server_->journal = std::make_unique<SimJournal>(options(), disk_, clock_, tail, tape_);
    bool const began = !server_->journal->core().prepare(tail);
    if (disk_.rename_has_failed()) {
        expect(!began, "a start has a segment without a name");
        mark(Mark::rename_failed);
    }
    if (!began) return false;
    // As in app/restart_grace: before anybody is told of these deadlines.
    TimePoint const until = now() + restart_grace;
    bool raised = false;
    for (engine::RestoredHold& hold : restored.holds) {
        if (hold.order != OrderId{} || hold.expires_at >= until) continue;
        hold.expires_at = until;
        raised = true;
    }
    if (raised && !make_durable(engine::ClockFact{until})) return false;
    server_->compaction.emplace(data, disk_, segment_bytes, tail.first_segment, [this] {
        return std::map<EventId, std::uint32_t>{{spec_->id, spec_->layout.place_count()}};
    });
    server_->engine.emplace(*server_->journal,
                            engine::EngineOptions{.marks = {mark_bytes, mark_bytes}});
    server_->event = server_->engine->add(spec_);
    server_->engine->build(*server_->event, restored);
    server_->engine->marks().restore(std::move(marks));
    server_->segments = disk_.paths().size();
    keep_copy();
    return true;
}

bool World::make_durable(engine::ClockFact const& fact) {
    auto const payload = engine::encode(fact);
    SimJournal& journal = *server_->journal;
    if (!journal.reserve(journal::record_header_bytes + payload.size())) return false;
    Lsn const lsn = journal.append(journal::RecordType::clock, engine::fact_version, payload);
    take_in_records();
    static_cast<void>(journal.core().write_next());
    if (journal.durable_lsn() < lsn) return false;
    settle_acknowledged();
    mark(Mark::restart_grace);
    return true;
}

/// One fault in what was acknowledged and is proved by something later: the server must refuse to
/// start, and once it is mended, start as if nothing had been.
void World::damage_something() {
    std::vector<std::string> segments;
    for (std::string const& path : disk_.paths())
        if (path.ends_with(".hfj")) segments.push_back(path);
    if (segments.empty()) return;
    DiskFaults const later = std::exchange(disk_.faults, {});  // one fault at a time
    auto const image = disk_.save();
    std::uint64_t const proved = below(4) != 0 ? damage_bytes(segments) : damage_files(segments);
    engine::Replay replay({{spec_->id, spec_->layout.place_count()}});
    ComparingSink sink(tape_, disk_, replay);
    auto const recovered = journal::recover(data, disk_, {}, sink, entropy_);
    expect(!sink.differs(), "damage was read as a record");
    if (recovered) {
        // Padding, and the torn tail of an earlier start, belong to nobody.
        expect(recovered->tail.last_lsn.value() >= proved, "damage was cut");  // P10
    } else {
        int const code = recovered.error().exit_code;
        expect(code == 77 || code == 78, "damage has another exit code");
        mark(damage_);
    }
    disk_.restore(*image);
    disk_.faults = later;
}

/// A byte that is not 0, if a few looks find one: most of a segment is zeros that nobody reads.
std::uint64_t World::some_byte_of(std::string const& path) {
    std::uint64_t byte = 0;
    for (int tries = 0; tries < 64; ++tries) {
        byte = chance_() % disk_.size_of(path);
        if (disk_.at(path, byte) != std::byte{0}) break;
    }
    return byte;
}

/// A bit that is another, or a page that was written to another place. Up to which LSN that is no
/// excuse.
std::uint64_t World::damage_bytes(std::vector<std::string> files) {
    std::string const last = files.back();
    for (std::string const& path : disk_.paths())
        if (path.ends_with(".hfb")) files.push_back(path);
    std::string const& path = files[below(static_cast<std::uint32_t>(files.size()))];
    if (one_in(3)) {
        std::string const& from = files[below(static_cast<std::uint32_t>(files.size()))];
        std::uint64_t const byte = some_byte_of(from);
        disk_.misdirect(from, byte, path, some_byte_of(path));
        damage_ = Mark::misdirection_found;
    } else {
        std::uint64_t const byte = some_byte_of(path);
        disk_.flip(path, byte, below(8));
        damage_ = Mark::damage_found;
    }
    // Damage to the very last group passes for a torn tail (RELIABILITY.md 3.4, the blind spot).
    return path == last ? proved_ : acknowledged_;
}

/// A segment that is missing, empty, or another one's. Of the last one nothing may be left that
/// vouches for it; those before it still vouch for what they hold.
std::uint64_t World::damage_files(std::vector<std::string> const& segments) {
    damage_ = Mark::loss_found;
    std::size_t const one = below(static_cast<std::uint32_t>(segments.size()));
    std::size_t const other = below(static_cast<std::uint32_t>(segments.size()));
    std::uint32_t const how = one == other ? below(2) : below(3);
    std::uint64_t const before_last = last_before(disk_, segments.back());
    if (how == 0) disk_.lose(segments[one]);
    if (how == 1) disk_.empty(segments[one]);
    if (how == 2) disk_.swap_names(segments[one], segments[other]);
    bool const touches_last = std::max(one, how == 2 ? other : one) + 1 == segments.size();
    return touches_last ? std::min(acknowledged_, before_last) : acknowledged_;
}

}  // namespace holdfast::sim
