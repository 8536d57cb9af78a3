#include "tests/sim/traced_sale.hpp"

#include <holdfast/journal/base_file.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using engine::test::SaleFixture;

std::filesystem::path const traced_data = "data";
EventId const traced_event{7};

std::shared_ptr<EventSpec const> traced_spec() {
    auto spec = std::make_shared<EventSpec>();
    spec->id = traced_event;
    spec->slug = "house";
    spec->publish = true;
    spec->policy.max_extensions = 1'000;
    spec->policy.orphan_rule = OrphanRule::off;
    spec->layout = engine::test::small_house();
    return spec;
}

std::map<EventId, std::uint32_t> traced_places() {
    static std::uint32_t const places = engine::test::small_house().place_count();
    return {{traced_event, places}};
}

journal::Options traced_options(Entropy& entropy) {
    journal::Options options;
    options.data = traced_data;
    options.segment_bytes = 64U << 10;
    options.free_bytes_min = 0;
    options.entropy = &entropy;
    return options;
}

class TracedSink final : public journal::RecordSink {
public:
    TracedSink(Tape const& tape, journal::Disk& disk, engine::Replay& replay)
        : tape_(tape), disk_(disk), replay_(replay) {}
    bool begin(journal::SegmentStart const& start) override {
        read = start.before.value();
        from_base = true;
        auto const base = journal::read_base(traced_data, disk_, start);
        return base && replay_.load(*base);
    }
    bool record(journal::RecordView const& view) override {
        bool const known = view.lsn.value() == read + 1 && read < tape_.size() &&
                           tape_[read].type == view.type && tape_[read].version == view.version &&
                           std::ranges::equal(tape_[read].payload, view.payload);
        if (!known) wrong = "LSN " + std::to_string(view.lsn.value()) + " is another record";
        ++read;
        return replay_.record(view);
    }
    std::uint64_t read{};
    bool from_base{};
    std::string wrong;

private:
    Tape const& tape_;
    journal::Disk& disk_;
    engine::Replay& replay_;
};

}  // namespace

TracedSale::TracedSale(Files const& files, Tape& tape, std::uint64_t acknowledged, Chance& chance)
    : chance_(chance),
      disk_(files),
      tape_(tape),
      acknowledged_(acknowledged),
      spec_(traced_spec()) {
    disk_.trace([this] { return acknowledged_; });
}

TracedSale::~TracedSale() = default;

Found TracedSale::find(journal::Disk& disk, Tape const& tape, std::uint64_t acknowledged,
                       Entropy& entropy) {
    Found found;
    engine::Replay replay(traced_places());
    TracedSink sink(tape, disk, replay);
    std::optional<journal::StoreState> store;
    // A store that has followed all that is durable: the most that it can say.
    if (acknowledged > 0) store = journal::StoreState{{}, Lsn{acknowledged}, {}};
    auto recovered = journal::recover(traced_data, disk, store, sink, entropy);
    if (!recovered) {
        found.wrong = "no start: " + recovered.error().message;
        return found;
    }
    std::uint64_t const last = recovered->tail.last_lsn.value();
    found.wrong = sink.wrong;
    if (last != sink.read) found.wrong = "recovery counts other records than it read";
    if (last < acknowledged)
        found.wrong = "acknowledged up to " + std::to_string(acknowledged) + ", but only " +
                      std::to_string(last) + " came back";
    if (sink.from_base && found.wrong.empty()) {
        engine::Replay all(traced_places());
        for (std::uint64_t lsn = 1; lsn <= last; ++lsn) {
            TapeRecord const& record = tape[lsn - 1];
            static_cast<void>(all.record({Lsn{lsn}, record.type, record.version, record.payload}));
        }
        if (replay.save() != all.save()) found.wrong = "a base file and the rest are not all";
    }
    found.recovered = *recovered;
    found.marks = replay.marks();
    found.event = std::move(replay.take()[traced_event]);
    found.from_base = sink.from_base;
    return found;
}

std::string TracedSale::start() {
    Found found = find(disk_, tape_, acknowledged_, entropy_);
    if (!found.wrong.empty()) return found.wrong;
    journal::Tail const& tail = found.recovered->tail;
    tape_.resize(tail.last_lsn.value());
    clock_.time = std::max(clock_.time, tail.last_wall);
    journal_ = std::make_unique<SimJournal>(traced_options(entropy_), disk_, clock_, tail, tape_);
    if (auto const error = journal_->core().prepare(tail)) return "prepare: " + error.message();
    settle();
    compaction_.emplace(traced_data, disk_, traced_options(entropy_).segment_bytes,
                        tail.first_segment, [] { return traced_places(); });
    engine_.emplace(*journal_, engine::EngineOptions{.marks = {1U << 20, 1U << 20}});
    event_ = engine_->add(spec_);
    for (engine::RestoredHold const& hold : found.event.holds)
        if (hold.order == OrderId{}) holds_.push_back({traced_event, hold.ref});
    engine_->build(*event_, found.event);
    return {};
}

void TracedSale::settle() {
    acknowledged_ = std::max(acknowledged_, journal_->durable_lsn().value());
}

engine::Mark const* TracedSale::next_mark() {
    mark_ = {{++keys_, tape_.size()}, {keys_, 1}};
    static_cast<void>(engine_->marks().begin(mark_, clock_.time));
    return &mark_;
}

void TracedSale::request() {
    if (holds_.empty() || below(5) < 2) {
        std::vector<engine::ClaimLine> const lines{SaleFixture::best(1 + below(3))};
        engine::ClaimCommand command{event_, lines, 0, 300s, false};
        command.mark = next_mark();
        auto const hold = engine_->claim(command, clock_.time, seats_);
        if (hold) return holds_.push_back(hold->name);
        if (!orders_.empty()) {
            auto const [order, name] = orders_.back();
            orders_.pop_back();
            std::vector<engine::HoldName> const names{name};
            engine::ChangeAnswer const after{order, true, 0, {{SeatIndex{1}, false}}};
            static_cast<void>(engine_->cancel(order, names, clock_.time, {nullptr, after}));
            return;
        }
    }
    if (holds_.empty()) return;
    std::uint32_t const which = below(static_cast<std::uint32_t>(holds_.size()));
    engine::HoldName const name = holds_[which];
    switch (below(6)) {
        case 0:
            holds_.erase(holds_.begin() + which);
            static_cast<void>(engine_->release(name, clock_.time, next_mark()));
            return;
        case 1: {
            OrderId const order{tape_.size() + 1, 1};
            std::vector<engine::HoldName> const names{name};
            holds_.erase(holds_.begin() + which);
            if (engine_->confirm({order, names, engine::PaymentMethod::none, next_mark()},
                                 clock_.time))
                orders_.emplace_back(order, name);
            return;
        }
        default:
            static_cast<void>(engine_->extend(name, 400s, clock_.time, seats_, next_mark()));
    }
}

// Mostly few; some groups have more than one page.
std::uint32_t TracedSale::requests_of_group() {
    std::uint32_t const which = below(40);
    if (which < 30) return 1 + below(2);
    if (which < 37) return 4 + below(12);
    return which < 39 ? 30 + below(30) : 150;
}

void TracedSale::write_group() {
    if (journal_->core().write_next()) ++groups_;
    settle();
}

void TracedSale::run(std::uint64_t operations) {
    std::uint32_t group = requests_of_group();
    for (; operations > 0; --operations) {
        request();
        clock_.time += Milliseconds{below(2'000)};
        if (below(100) == 0) engine_->expire(clock_.time += 200s);
        if (--group > 0) continue;
        group = requests_of_group();
        write_group();
        if (below(2) == 0) look();
        if (below(10) == 0 && journal_->core().quiet_group_due() &&
            journal_->appended_lsn() == journal_->durable_lsn())
            journal_->core().write_quiet_group();
        if (groups_ % 8 == 0) compact();
    }
}

void TracedSale::look() {
    std::uint32_t calls = below(6);
    disk_.meanwhile([this, calls]() mutable {
        if (calls-- != 0) return;
        std::vector<std::string> names;
        static_cast<void>(disk_.list(traced_data / "journal", names));
        // Beside the spare that is just being made there is one: the journal waits for none.
        if (std::ranges::count_if(names, [](auto& each) { return each.ends_with(".tmp"); }) < 2)
            return;
        for (std::uint32_t more = requests_of_group(); more > 0; --more) request();
        write_group();
    });
    journal_->core().upkeep().look();
    disk_.meanwhile([] {});
}

void TracedSale::compact() {
    auto const found = compaction_->find(journal_->durable_lsn());
    if (!found || !*found || compaction_->prepare(**found)) return;
    if (compaction_->begin_with(**found, *journal_)) return;
    if (!compaction_->delete_before(**found)) ++compactions_;
}

void TracedSale::stop_well() {
    auto& core = journal_->core();
    while (core.write_next()) {
    }
    settle();
    core.write_clean_seal();
    core.store_clean_meta();
}

std::string TracedSale::judge(Files const& files, Tape const& tape, std::uint64_t acknowledged) {
    TracedDisk disk(files);
    Chance chance(acknowledged);
    SimEntropy entropy(chance);
    SimClock clock;
    Found found = find(disk, tape, acknowledged, entropy);
    if (!found.wrong.empty()) return found.wrong;
    journal::Tail const tail = found.recovered->tail;
    Tape after(tape.begin(), tape.begin() + static_cast<std::ptrdiff_t>(tail.last_lsn.value()));
    clock.time = std::max(clock.time, tail.last_wall);
    SimJournal journal(traced_options(entropy), disk, clock, tail, after);
    if (auto const error = journal.core().prepare(tail)) return "prepare: " + error.message();
    auto const payload = engine::encode(engine::ClockFact{clock.time + 30s});
    if (!journal.reserve(journal::record_header_bytes + payload.size())) return "no room";
    Lsn const lsn = journal.append(journal::RecordType::clock, engine::fact_version, payload);
    static_cast<void>(journal.core().write_next());
    if (journal.durable_lsn() != lsn) return "the first record is not durable";
    Found const again = find(disk, after, lsn.value(), entropy);
    return again.wrong.empty() ? "" : "after that start: " + again.wrong;
}

}  // namespace holdfast::sim
