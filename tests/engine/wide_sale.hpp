// WideSale: an event of many rows on sale, and blocks of ranges of its seats.
#pragma once

#include "tests/engine/sale_fixture.hpp"

#include <stdexcept>

namespace holdfast::engine::test {

/// `rows` rows of 100 seats, all one category.
inline Layout wide_house(std::uint32_t rows) {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    Section section;
    section.id = "A";
    builder.add_section(section);
    for (std::uint32_t row = 1; row <= rows; ++row) {
        builder.add_row(std::to_string(row));
        for (std::uint32_t seat = 1; seat <= 100; ++seat) {
            std::string const label = std::to_string(seat);
            builder.add_seat({"A-" + std::to_string(row) + "-" + label,
                              label,
                              {{seat * 1.0, row * 1.0}, {}, 0}});
        }
    }
    auto layout = std::move(builder).build();
    return std::move(*layout);
}

struct WideSale {
    explicit WideSale(std::uint32_t rows) : spec(std::make_shared<EventSpec>()) {
        spec->id = EventId{7};
        spec->slug = "wide";
        spec->publish = true;
        spec->policy.orphan_rule = OrphanRule::off;
        spec->layout = wide_house(rows);
        event = engine.add(spec);
        engine.build(*event, {});
    }
    [[nodiscard]] RestoredEvent replayed() const {
        Replay replay(
            std::map<EventId, std::uint32_t>{{EventId{7}, event->spec().layout.place_count()}});
        for (auto const& record : journal.records()) {
            if (!replay.record({record.lsn, record.type, record.version, record.payload})) break;
        }
        if (!replay.breach().empty()) throw std::runtime_error(replay.breach());
        return std::move(replay.take()[EventId{7}]);
    }
    std::shared_ptr<EventSpec> spec;
    holdfast::test::MemoryJournal journal;
    Engine engine{journal, {}};
    LiveEvent* event{};
};

inline std::vector<SeatIndex> range(std::uint32_t first, std::uint32_t count) {
    std::vector<SeatIndex> seats;
    for (std::uint32_t i = 0; i < count; ++i) seats.emplace_back(first + i);
    return seats;
}

/// The places must live as long as the command.
inline BlockCommand block_of(LiveEvent* event, std::vector<SeatIndex> const& places) {
    BlockCommand command;
    command.event = event;
    command.places = places;
    return command;
}

}  // namespace holdfast::engine::test
