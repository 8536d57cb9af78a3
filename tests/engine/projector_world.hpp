// A journal on a disk in memory, a store in a folder, and the projector between them.
#pragma once

#include "tests/engine/fact_samples.hpp"
#include "tests/journal/fixture.hpp"
#include "tests/store/store_samples.hpp"

#include <holdfast/engine/facts.hpp>
#include <holdfast/engine/projector.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <vector>

namespace holdfast::engine::test {

inline constexpr EventId demo{1};
inline constexpr Milliseconds patience{20'000};

inline HoldKey hold(std::uint32_t slot, std::uint64_t generation) {
    return {demo, HoldRef{generation, SlotIndex{slot}}};
}

/// Passes the journal's news on; after attach(nullptr) no call is under way any more.
class NotifyingListener final : public journal::DurableListener {
public:
    void durable_advanced() noexcept override {
        std::lock_guard const lock{mutex_};
        if (projector_ != nullptr) projector_->notify();
    }
    void attach(Projector* projector) {
        std::lock_guard const lock{mutex_};
        projector_ = projector;
    }

private:
    std::mutex mutex_;
    Projector* projector_{};
};

class AcceptingSink final : public journal::RecordSink {
public:
    bool begin(journal::SegmentStart const&) override { return true; }
    bool record(journal::RecordView const&) override { return true; }
};

/// The projector and its thread over an open store.
class RunningProjector {
public:
    RunningProjector(store::Store& store, journal::Journal& journal, journal::Disk& disk,
                     FindSpec find_spec, ServerKey const& key, NotifyingListener& listener,
                     Milliseconds retry = Projector::retry_default)
        : projector(store, journal, disk, "data", std::move(find_spec), key, retry),
          listener_(listener),
          thread_([this] {
              pthread_setname_np(pthread_self(), "store");
              projector.run();
          }) {
        listener_.attach(&projector);
    }
    ~RunningProjector() {
        listener_.attach(nullptr);
        projector.stop();
        thread_.join();
    }
    Projector projector;

private:
    NotifyingListener& listener_;
    std::thread thread_;
};

/// The data folder of a shop with one event, and what may run on it.
class World {
public:
    World() { open_journal(); }
    ~World() {
        stop();
        close_journal();
    }

    void open_journal() {
        AcceptingSink sink;
        auto const recovered = journal::recover("data", disk, {}, sink);
        if (!recovered) throw std::runtime_error{recovered.error().message};
        auto opened = journal::Journal::open(journal::test::small_options("data"), disk, clock,
                                             recovered->tail, listener);
        if (!opened) throw std::runtime_error{opened.error().message};
        journal = *std::move(opened);
    }
    void close_journal() {
        if (journal) journal->close();
        journal.reset();
    }
    /// Opens the store and runs the projector on it.
    void start(Milliseconds retry = Projector::retry_default) {
        open_store();
        running = std::make_unique<RunningProjector>(
            *store, *journal, disk, [this](EventId id) { return find(id); }, key, listener, retry);
    }
    void open_store() {
        store = samples::open_store(folder.file());
        auto loaded = store->load_events();
        if (!loaded) throw std::runtime_error{loaded.error().message};
        if (loaded->empty()) {
            EventSpec spec = samples::full_event("demo");
            auto const id = store->insert_event(spec);
            if (!id) throw std::runtime_error{id.error().message};
            spec.id = id->value();
            loaded->push_back(std::move(spec));
        }
        specs = *std::move(loaded);
    }
    void stop() {
        running.reset();
        store.reset();
    }
    [[nodiscard]] EventSpec const* find(EventId id) const {
        for (EventSpec const& spec : specs) {
            if (spec.id == id) return &spec;
        }
        return nullptr;
    }
    Projector& projector() { return running->projector; }

    template <class Fact>
    Lsn put(journal::RecordType type, Fact const& fact) {
        std::vector<std::byte> const payload = encode(fact);
        std::size_t const bytes = journal::record_header_bytes + payload.size();
        if (!journal->reserve(bytes)) throw std::runtime_error{"the journal is full"};
        return journal->append(type, fact_version, payload);
    }
    Lsn claim(HoldKey key_of, std::vector<std::uint32_t> const& seats) {
        ClaimFact fact{key_of, 1, at(100), at(900), {}};
        for (std::uint32_t const seat : seats) fact.seats.emplace_back(seat);
        return put(journal::RecordType::claim, fact);
    }
    Lsn end(HoldKey key_of) {
        return put(journal::RecordType::end, EndFact{key_of, EndCause::expired});
    }
    Lsn sell(OrderId id, std::vector<HoldKey> holds) {
        return put(journal::RecordType::order,
                   OrderFact{id, at(200), PaymentMethod::external, 777, std::move(holds)});
    }
    Lsn cancel(OrderId id, std::vector<HoldKey> holds) {
        return put(journal::RecordType::cancel, CancelFact{id, at(300), std::move(holds)});
    }
    Lsn step(LifeStep to) { return put(journal::RecordType::event, EventFact{demo, to, at(1)}); }
    [[nodiscard]] std::vector<std::string> dump() const { return samples::dump(folder.file()); }

    journal::test::MemoryDisk disk;
    journal::test::StillClock clock;
    NotifyingListener listener;
    samples::TempFolder folder;
    ServerKey key{ServerKey::Secret{1, 2, 3}};
    std::unique_ptr<journal::Journal> journal;
    std::vector<EventSpec> specs;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<RunningProjector> running;
};

inline store::OrderRow read_order(World const& world, OrderId id) {
    auto reader = store::Reader::open(world.folder.file());
    if (!reader) throw std::runtime_error{reader.error().message};
    auto row = (*reader)->order(id);
    if (!row) throw std::runtime_error{row.error().message};
    if (!*row) throw std::runtime_error{"no such order"};
    return **row;
}

}  // namespace holdfast::engine::test
