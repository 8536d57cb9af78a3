// Power cuts of SQLite: its WAL is cut after every frame, and rows and applied_lsn still agree.
#include "tests/store/store_samples.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

namespace holdfast::store {
namespace {

using samples::TempFolder;

constexpr std::uint64_t wal_header_bytes = 32;
constexpr std::uint64_t frame_bytes = 24 + 4'096;

std::filesystem::path wal_of(std::filesystem::path const& file) {
    return file.string() + "-wal";
}

OrderRow order_at(Lsn lsn, EventId event) {
    OrderRow row;
    row.order = {0xFF00000000000001, lsn.value()};
    row.event = event;
    row.payment_method = "none";
    row.currency = "EUR";
    row.lsn = lsn;
    TicketRow ticket;
    ticket.ticket.bytes[15] = static_cast<std::uint8_t>(lsn.value());
    ticket.event = event;
    ticket.seat = SeatIndex{static_cast<std::uint32_t>(lsn.value())};
    ticket.seat_name = "A-1-" + std::to_string(lsn.value());
    ticket.section = "A";
    row.tickets.push_back(ticket);
    return row;
}

/// What a reader finds in a copy whose WAL ends after so many bytes: the highest LSN with rows, and
/// applied_lsn.
struct Found {
    std::int64_t rows{};
    std::int64_t applied{};
};
Found after_cut(std::filesystem::path const& file, std::uint64_t wal_bytes) {
    TempFolder const copy;
    std::filesystem::copy_file(file, copy.file());
    std::filesystem::copy_file(wal_of(file), wal_of(copy.file()));
    std::filesystem::resize_file(wal_of(copy.file()), wal_bytes);
    auto database = Database::open_writer(copy.file());
    REQUIRE(database);
    auto const rows = database->number("SELECT ifnull(max(lsn), 0) FROM orders");
    auto const applied = database->number("SELECT applied_lsn FROM meta");
    REQUIRE(rows);
    REQUIRE(applied);
    return {*rows, *applied};
}

}  // namespace

TEST_CASE("P12: rows and applied_lsn move together wherever the power is cut", "[store]") {
    TempFolder const folder;
    auto const store = samples::open_store(folder.file());
    auto const event = store->insert_event(samples::full_event("demo"));
    REQUIRE(event);
    for (std::uint64_t lsn = 1; lsn <= 12; ++lsn) {
        REQUIRE(store->begin());
        REQUIRE(store->apply_order(order_at(Lsn{lsn}, **event)));
        REQUIRE(store->commit(Lsn{lsn}, 0));
    }
    std::uint64_t const whole = std::filesystem::file_size(wal_of(folder.file()));
    std::set<std::int64_t> ends;
    for (int frames = 0; frames < 80; ++frames) {
        std::uint64_t const lost = static_cast<std::uint64_t>(frames) * frame_bytes;
        if (whole < wal_header_bytes + lost) break;
        CAPTURE(frames, whole);
        Found const found = after_cut(folder.file(), whole - lost);
        REQUIRE(found.rows == found.applied);
        ends.insert(found.applied);
    }
    CHECK(ends.size() > 6);  // the cut met many commits
}

}  // namespace holdfast::store
