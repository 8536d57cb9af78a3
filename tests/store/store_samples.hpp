// What the tests of the store share: a folder of their own, an event, an order, a dump.
#pragma once

#include "store/database.hpp"
#include "store/statement.hpp"
#include "tests/domain/layout_samples.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/store/store.hpp>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

/// What Catch prints of a result: its error. (Boost's own operator<< wants the value's.)
template <class T>
struct Catch::StringMaker<holdfast::ResultOf<T, holdfast::store::StoreError>> {
    static std::string convert(holdfast::ResultOf<T, holdfast::store::StoreError> const& result) {
        return result ? "success" : result.error().message;
    }
};

namespace holdfast::samples {

/// A fresh folder that goes with the test.
struct TempFolder : test::TempFolder {
    [[nodiscard]] std::filesystem::path file(char const* name = "store.db") const {
        return path() / name;
    }
};

inline constexpr std::array<std::uint8_t, 16> store_id{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

inline std::unique_ptr<store::Store> open_store(std::filesystem::path const& file) {
    auto opened = store::Store::open(file, store_id);
    if (!opened) throw std::runtime_error{opened.error().message};
    return *std::move(opened);
}

/// An event with every field set to something that is not its default.
inline EventSpec full_event(std::string slug) {
    EventSpec spec;
    spec.slug = std::move(slug);
    spec.name = "Näme with 'quotes'";
    spec.venue = "Town hall";
    spec.time_zone = "Europe/Berlin";
    spec.starts_at = ZonedTime{TimePoint{Milliseconds{1'900'000'000'123}}, 120};
    spec.opens_at = ZonedTime{TimePoint{Milliseconds{1'800'000'000'000}}, -330};
    spec.closes_at = ZonedTime{TimePoint{Milliseconds{1'850'000'000'000}}, 0};
    spec.currency = "JPY";
    spec.publish = true;
    spec.policy.hold_ttl = Milliseconds{61'000};
    spec.policy.hold_max_life = Milliseconds{602'000};
    spec.policy.max_extensions = 3;
    spec.policy.max_per_order = 7;
    spec.policy.max_per_user = 9;
    spec.policy.max_open_holds_per_user = 2;
    spec.policy.hold_seconds_budget = 600;
    spec.policy.rehold_cooldown = std::chrono::seconds{30};
    spec.policy.orphan_rule = OrphanRule::strict;
    spec.policy.orphan_endgame_pct = 25;
    spec.policy.guest = false;
    spec.policy.honour_open_holds = false;
    spec.policy.payment_methods = {.none = false, .wallet = true, .external = false};
    spec.layout = *mixed().build();
    spec.created_at = TimePoint{Milliseconds{1'700'000'000'001}};
    return spec;
}

/// With one hold and one ticket; its LSN is its number.
inline store::OrderRow nth_order(std::uint64_t number) {
    store::OrderRow row;
    row.order = {1, number};
    row.event = EventId{1};
    row.holds = {{EventId{1}, HoldRef{number, SlotIndex{3}}}};
    row.payment_method = "none";
    row.total = 12'000;
    row.currency = "EUR";
    row.lsn = Lsn{number};
    store::TicketRow ticket;
    ticket.ticket.bytes[15] = static_cast<std::uint8_t>(number);
    ticket.event = EventId{1};
    ticket.seat = SeatIndex{static_cast<std::uint32_t>(number)};
    ticket.seat_name = "A-1-" + std::to_string(number);
    ticket.section = "A";
    ticket.price = 12'000;
    row.tickets = {ticket};
    return row;
}

/// Rows of the projected tables, one text each.
inline std::vector<std::string> dump(std::filesystem::path const& file) {
    auto database = store::Database::open_reader(file, std::chrono::seconds{60});
    if (!database) throw std::runtime_error{database.error().message};
    std::vector<std::string> rows;
    for (std::string const table : {"event_steps", "orders", "order_holds", "tickets", "history"}) {
        store::Statement columns{*database,
                                 "SELECT group_concat('quote(' || name || ')', '||'' ''||') "
                                 "FROM pragma_table_info('" +
                                     table + "')"};
        if (auto const row = columns.next(); !row) throw std::runtime_error{row.error().message};
        std::string const list{columns.text(0)};
        store::Statement select{*database, "SELECT " + list + " FROM " + table + " ORDER BY 1"};
        for (;;) {
            auto const row = select.next();
            if (!row) throw std::runtime_error{row.error().message};
            if (!*row) break;
            rows.push_back(table + " " + std::string{select.text(0)});
        }
    }
    return rows;
}

}  // namespace holdfast::samples
