// What an audit reads of a store: the rows themselves.
#include "tests/store/store_samples.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

namespace holdfast::store {
namespace {

/// Flips one bit of the seat of that ticket's row. A row has the seat's one byte right behind the
/// ticket's id, as event 1 takes none; the index has it elsewhere, without the id.
void damage_seat(std::filesystem::path const& file, TicketId const& ticket) {
    std::fstream stream{file, std::ios::in | std::ios::out | std::ios::binary};
    std::string const bytes{std::istreambuf_iterator<char>{stream}, {}};
    std::string const id(ticket.bytes.begin(), ticket.bytes.end());
    auto const at = bytes.find(id);
    REQUIRE(at != std::string::npos);
    REQUIRE(bytes.find(id, at + 1) == std::string::npos);
    auto const seat = at + id.size();
    stream.seekp(static_cast<std::streamoff>(seat));
    stream.put(static_cast<char>(bytes[seat] ^ 1));
}

}  // namespace

TEST_CASE("P10: the seat that a ticket's row says is told, whatever its index says", "[store]") {
    samples::TempFolder const folder;
    OrderRow order = samples::nth_order(6);
    std::ranges::fill(order.tickets.front().ticket.bytes, std::uint8_t{0xA7});
    {
        auto const store = samples::open_store(folder.file());
        REQUIRE(store->insert_event(samples::full_event("demo")));
        REQUIRE(store->begin());
        REQUIRE(store->apply_order(order));
        REQUIRE(store->commit(Lsn{6}, 1));
        REQUIRE(store->checkpoint());
        auto const sound = store->live_tickets();
        REQUIRE(sound);
        REQUIRE(sound->size() == 1);
        CHECK(sound->front().seat == SeatIndex{6});
    }
    damage_seat(folder.file(), order.tickets.front().ticket);
    auto const store = samples::open_store(folder.file());
    CHECK(store->check());  // SQLite's quick check sees nothing in it
    auto const damaged = store->live_tickets();
    REQUIRE(damaged);
    REQUIRE(damaged->size() == 1);
    CHECK(damaged->front().seat == SeatIndex{7});
}

}  // namespace holdfast::store
