// Venue: what the bench knows of the event's places, from GET …/map; and sets of places.
//
// Purpose: names become numbers once, so that the ledger and its checks count instead of compare
// texts. Thread safety: values. Invariants: Places::seats is sorted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace holdfast::loadgen {

/// A set of places: labelled seats by SeatIndex, and how many of each general-admission area.
struct Places {
    std::vector<std::uint32_t> seats;
    std::map<std::uint32_t, std::uint32_t> general;  // area -> places, never 0
    [[nodiscard]] std::uint64_t count() const noexcept {
        std::uint64_t sum = seats.size();
        for (auto const& [area, places] : general) sum += places;
        return sum;
    }
    friend bool operator==(Places const&, Places const&) = default;
};

struct Ticket {
    std::string id;
    std::uint32_t place{};  // SeatIndex, or area if `general`
    bool general{};
    friend bool operator==(Ticket const&, Ticket const&) = default;
};

struct Venue {
    struct Row {
        std::uint32_t first;  // SeatIndex
        std::uint32_t seats;
    };
    struct Area {
        std::string section;
        std::uint32_t capacity;
    };
    std::vector<std::string> seats;  // names, by SeatIndex
    std::vector<bool> joined;        // by SeatIndex: sold together with the seat before it only
    std::vector<Row> rows;           // in SeatIndex order, without gaps
    std::vector<Area> areas;
    std::map<std::string, std::uint64_t> section_capacity;  // all sections
    std::unordered_map<std::string, std::uint32_t> seat_index;
    std::unordered_map<std::string, std::uint32_t> area_index;

    [[nodiscard]] std::uint64_t capacity() const noexcept {
        std::uint64_t sum = seats.size();
        for (auto const& area : areas) sum += area.capacity;
        return sum;
    }
};

enum class SeatState : std::uint8_t { free, held, sold, blocked };

struct Counts {
    std::uint64_t free{}, held{}, sold{}, blocked{};
    [[nodiscard]] std::uint64_t sum() const noexcept { return free + held + sold + blocked; }
};

/// GET …/state: what every place is at one moment.
struct Snapshot {
    std::vector<SeatState> seats;  // by SeatIndex
    std::vector<Counts> areas;     // as Venue::areas
    [[nodiscard]] Counts total() const noexcept {
        Counts sum;
        for (auto const& area : areas) {
            sum.free += area.free;
            sum.held += area.held;
            sum.sold += area.sold;
            sum.blocked += area.blocked;
        }
        for (auto const seat : seats) {
            sum.free += seat == SeatState::free;
            sum.held += seat == SeatState::held;
            sum.sold += seat == SeatState::sold;
            sum.blocked += seat == SeatState::blocked;
        }
        return sum;
    }
};

}  // namespace holdfast::loadgen
