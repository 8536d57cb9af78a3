// A data folder with one event and some sales, made without a server: what the commands on folders
// at rest are tried on.
#pragma once

#include "app/resting_folder.hpp"
#include "app/restored_state.hpp"
#include "tests/engine/fact_samples.hpp"
#include "tests/journal/fixture.hpp"
#include "tests/store/store_samples.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/engine/compaction.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::app::test {

using engine::HoldKey;
using engine::test::at;
using engine::test::order;

inline constexpr EventId show{1};

/// Sells by itself, one group a call; closed with the journal's clean seal.
class RestingShop {
public:
    explicit RestingShop(std::filesystem::path data) : data_(std::move(data)) { open(); }
    ~RestingShop() { close(); }
    RestingShop(RestingShop const&) = delete;
    RestingShop& operator=(RestingShop const&) = delete;

    /// One start; makes the event at the first.
    void open() {
        auto folder = DataFolder::open(data_);
        if (!folder) throw std::runtime_error(folder.error().message);
        folder_.emplace(std::move(*folder));
        auto state = restore_state(*folder_, disk_);
        if (!state) throw std::runtime_error(state.error().message);
        state_.emplace(std::move(*state));
        if (state_->catalogue.empty()) make_event("show");
        auto opened = journal::Journal::open(journal::test::small_options(data_), disk_, clock_,
                                             state_->journal.tail, listener_);
        if (!opened) throw std::runtime_error(opened.error().message);
        journal_ = *std::move(opened);
    }
    void close() {
        if (journal_) journal_->close();
        journal_.reset();
        state_.reset();
        folder_.reset();
    }
    void make_event(std::string const& slug) {
        EventSpec spec = samples::full_event(slug);
        auto const id = state_->store->insert_event(spec);
        if (!id || !*id) throw std::runtime_error("no event");
        spec.id = **id;
        state_->catalogue.push_back(std::move(spec));
    }

    template <class Fact>
    Lsn put(journal::RecordType type, Fact const& fact) {
        auto const payload = engine::encode(fact);
        if (!journal_->reserve(journal::record_header_bytes + payload.size()))
            throw std::runtime_error("the journal is full");
        Lsn const lsn = journal_->append(type, engine::fact_version, payload);
        if (!journal_->wait_durable(lsn)) throw std::runtime_error("the journal failed");
        return lsn;
    }
    HoldKey claim(std::vector<std::uint32_t> const& seats, EventId event = show) {
        HoldKey const key{event, HoldRef{1, SlotIndex{++slots_[event]}}};
        engine::ClaimFact fact{key, 1, at(100), at(900), {}};
        for (std::uint32_t const seat : seats) fact.seats.emplace_back(seat);
        put(journal::RecordType::claim, fact);
        return key;
    }
    OrderId sell(std::vector<std::uint32_t> const& seats, EventId event = show) {
        HoldKey const key = claim(seats, event);
        std::int64_t total = 0;
        for (std::uint32_t const seat : seats)
            total += spec(event).layout.price_of(SeatIndex{seat});
        OrderId const id = order(++orders_);
        sold_[id] = key;
        put(journal::RecordType::order,
            engine::OrderFact{id, at(200), engine::PaymentMethod::external, total, {key}});
        return id;
    }
    void cancel(OrderId const& id) {
        put(journal::RecordType::cancel, engine::CancelFact{id, at(300), {sold_.at(id)}});
    }
    void end(HoldKey const& key) {
        put(journal::RecordType::end, engine::EndFact{key, engine::EndCause::released});
    }
    /// Claims and ends until the journal has so many segments.
    void fill_segments(std::uint64_t segments) {
        std::string const number = std::to_string(segments);
        auto const last =
            data_ / "journal" / (std::string(16 - number.size(), '0') + number + ".hfj");
        SeatIndex const seat{spec().layout.place_count() - 1};
        std::uint64_t generation = 1;
        while (!std::filesystem::exists(last)) {
            HoldKey const key{show, HoldRef{++generation, SlotIndex{100}}};
            put(journal::RecordType::claim, engine::ClaimFact{key, 1, at(100), at(900), {seat}});
            end(key);
        }
    }
    /// Rows for all that the journal says so far, checkpointed.
    void project() {
        auto const failure = engine::catch_up(*state_->store, disk_, data_, finder_in(*state_),
                                              state_->key, journal_->durable_lsn());
        if (failure) throw std::runtime_error(failure->message);
        if (!state_->store->checkpoint()) throw std::runtime_error("no checkpoint");
    }
    /// Deletes the segments that the keeper would delete.
    void compact() {
        std::map<EventId, std::uint32_t> places;
        for (EventSpec const& event : state_->catalogue)
            places[event.id] = event.layout.place_count();
        engine::Compaction compaction(data_, disk_, journal::test::small_segment,
                                      state_->journal.tail.first_segment,
                                      [&places] { return places; });
        auto const start = compaction.find(state_->store->identity().applied_lsn);
        if (!start || !*start) throw std::runtime_error("nothing to delete");
        auto failure = compaction.prepare(**start);
        if (!failure) failure = compaction.begin_with(**start, *journal_);
        if (!failure) failure = compaction.delete_before(**start);
        if (failure) throw std::runtime_error(failure->message);
    }
    /// Goes on until old segments are deleted, and a base file stands for them.
    void outgrow_segments() {
        fill_segments(9);
        project();
        compact();
    }
    [[nodiscard]] EventSpec const& spec(EventId id = show) const {
        return state_->catalogue[id.value() - 1];
    }
    [[nodiscard]] Lsn last() const { return journal_->durable_lsn(); }

private:
    std::filesystem::path data_;
    journal::PosixDisk disk_;
    journal::test::StillClock clock_;
    journal::test::CountingListener listener_;
    std::optional<DataFolder> folder_;
    std::optional<RestoredState> state_;
    std::unique_ptr<journal::Journal> journal_;
    std::map<EventId, std::uint32_t> slots_;
    std::map<OrderId, HoldKey> sold_;
    std::uint64_t orders_{};
};

/// A hold of 2 places, orders of 2 and 1 places, a cancelled one; projected in part.
inline void trade(RestingShop& shop) {
    shop.claim({0, 1});
    shop.sell({2, 3});
    OrderId const gone = shop.sell({4});
    shop.project();
    shop.cancel(gone);
    shop.sell({4});
}

/// Name and bytes of every file below a folder; the target of a link is not followed.
inline std::map<std::string, std::string> content_of(std::filesystem::path const& folder) {
    std::map<std::string, std::string> content;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder)) {
        std::string const name = entry.path().lexically_relative(folder).string();
        content[name] =
            entry.is_regular_file() ? holdfast::test::read_file(entry.path()) : "folder";
    }
    return content;
}

inline std::filesystem::path segment(std::filesystem::path const& data, int number) {
    std::string const text = std::to_string(number);
    return data / "journal" / (std::string(16 - text.size(), '0') + text + ".hfj");
}

/// Of a folder whose old segments were deleted.
inline std::filesystem::path base_file(std::filesystem::path const& data) {
    for (auto const& entry : std::filesystem::directory_iterator(data / "journal"))
        if (entry.path().extension() == ".hfb") return entry.path();
    throw std::runtime_error("no base file");
}

inline void flip_bit(std::filesystem::path const& file, std::uint64_t offset) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(offset));
    int const byte = stream.get();
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(static_cast<char>(byte ^ 4));
    if (!stream) throw std::runtime_error("no bit flipped in " + file.string());
}

/// Of the group with this record; empty groups may stand anywhere between.
inline std::uint64_t group_of(std::filesystem::path const& file, std::uint64_t lsn) {
    std::string const bytes = holdfast::test::read_file(file);
    for (std::size_t page = 4'096; page + 4'096 <= bytes.size(); page += 4'096) {
        std::uint32_t count = 0;
        std::uint64_t first = 0;
        std::memcpy(&count, &bytes[page + 12], sizeof count);
        std::memcpy(&first, &bytes[page + 16], sizeof first);
        if (count == 1 && first == lsn) return page;
    }
    throw std::runtime_error("no group with that record in " + file.string());
}

/// Of the last group in a segment.
inline std::uint64_t last_group(std::filesystem::path const& file) {
    std::string const bytes = holdfast::test::read_file(file);
    std::size_t const used = bytes.find_last_not_of('\0');
    return used / 4'096 * 4'096;
}

inline void edit_store(std::filesystem::path const& data, std::string const& sql) {
    auto database = store::Database::open_writer(data / "store.db");
    if (!database) throw std::runtime_error(database.error().message);
    if (auto const done = database->run(sql.c_str()); !done)
        throw std::runtime_error(done.error().message);
    if (!database->checkpoint()) throw std::runtime_error("no checkpoint");
}

/// Their first page, so that SQLite finds it and the events can be read.
inline void damage_tickets(std::filesystem::path const& data) {
    std::uint64_t offset = 0;
    {
        auto database = store::Database::open_writer(data / "store.db");
        if (!database) throw std::runtime_error(database.error().message);
        auto const page =
            database->number("SELECT rootpage FROM sqlite_schema WHERE name = 'tickets'");
        auto const bytes = database->number("PRAGMA page_size");
        if (!page || !bytes || !database->checkpoint()) throw std::runtime_error("no page");
        offset = static_cast<std::uint64_t>((*page - 1) * *bytes);
    }
    flip_bit(data / "store.db", offset);
}

inline void remove_store(std::filesystem::path const& data) {
    for (char const* const name : {"store.db", "store.db-wal", "store.db-shm"})
        std::filesystem::remove(data / name);
}

}  // namespace holdfast::app::test
