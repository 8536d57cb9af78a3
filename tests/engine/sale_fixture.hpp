// SaleFixture: one event on sale over a journal in memory.
#pragma once

#include "tests/support/memory_journal.hpp"

#include <holdfast/engine/engine.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::engine::test {

using namespace std::chrono_literals;

inline TimePoint at(Milliseconds since_start) {
    return TimePoint{1'000'000s + since_start};
}

/// Two rows of eight in section A (the second has two accessible seats), one row of four in B,
/// which is dearer, and ten places in GA. `with_table`: also four seats of T, far away, which are
/// sold together or not at all.
inline Layout small_house(bool with_table = false) {
    LayoutBuilder builder;
    auto const std_price = builder.add_category({"std", "Standard", 4'500});
    auto const vip_price = builder.add_category({"vip", "VIP", 12'000});
    builder.set_focal({3.5, 0});
    auto const add_row = [&](std::string const& section, int row, int seats,
                             CategoryIndex category) {
        builder.add_row(std::to_string(row));
        for (int seat = 1; seat <= seats; ++seat) {
            std::string const label = std::to_string(seat);
            std::string const name = section + "-" + std::to_string(row) + "-" + label;
            bool const accessible = row == 2 && seat > 6;
            bool const joined = section == "T" && seat > 1;
            auto const flags = static_cast<std::uint8_t>(accessible ? SeatFlag::accessible
                                                         : joined   ? SeatFlag::joined
                                                                    : SeatFlag::none);
            builder.add_seat({name, label, {{seat - 1.0, row * 1.0}, category, flags}});
        }
    };
    Section a;
    a.id = "A";
    a.category = std_price;
    builder.add_section(a);
    add_row("A", 1, 8, std_price);
    add_row("A", 2, 8, std_price);
    Section b;
    b.id = "B";
    b.category = vip_price;
    builder.add_section(b);
    add_row("B", 10, 4, vip_price);
    if (with_table) {
        Section tables;
        tables.id = "T";
        tables.category = std_price;
        builder.add_section(tables);
        add_row("T", 100, 4, std_price);
    }
    Section floor;
    floor.id = "GA";
    floor.general = true;
    floor.capacity = 10;
    floor.category = std_price;
    builder.add_general(floor);
    auto layout = std::move(builder).build();
    return std::move(*layout);
}

/// For the checks: Catch would print a Result, which cannot be printed.
template <class T>
[[nodiscard]] bool ok(Result<T> const& result) {
    return result.has_value();
}

class SaleFixture {
public:
    explicit SaleFixture(EventPolicy policy = {}, EngineOptions const& options = {},
                         Layout house = small_house())
        : engine(journal, options) {
        auto spec = std::make_shared<EventSpec>();
        spec->id = EventId{7};
        spec->slug = "house";
        spec->publish = true;
        spec->policy = policy;
        spec->layout = std::move(house);
        event = engine.add(spec);
        engine.build(*event, {});
    }

    [[nodiscard]] Layout const& layout() const { return event->spec().layout; }
    [[nodiscard]] SeatIndex seat(std::string_view name) const { return *layout().find_seat(name); }
    [[nodiscard]] SectionIndex section(std::string_view id) const {
        return *layout().find_section(id);
    }

    [[nodiscard]] ClaimLine named(std::vector<std::string> const& names) const {
        ClaimLine line;
        line.kind = ClaimLine::Kind::seats;
        for (std::string const& name : names) line.seats.push_back(seat(name));
        return line;
    }
    [[nodiscard]] ClaimLine general(std::uint32_t count) const {
        ClaimLine line;
        line.kind = ClaimLine::Kind::general;
        line.count = count;
        line.section = section("GA");
        return line;
    }
    [[nodiscard]] static ClaimLine best(std::uint32_t quantity) {
        ClaimLine line;
        line.kind = ClaimLine::Kind::best;
        line.best.quantity = quantity;
        return line;
    }
    [[nodiscard]] static ClaimLine neighbours(std::uint32_t quantity) {
        ClaimLine line = best(quantity);
        line.best.together = true;
        return line;
    }

    Result<HoldView> claim(std::vector<ClaimLine> const& lines, Milliseconds when = 0ms) {
        return engine.claim({event, lines, 0, {}, false}, at(when), seats);
    }
    Result<PlacedOrder> confirm(std::vector<HoldName> const& holds, Milliseconds when = 0ms,
                                OrderId order = {1, 2}) {
        return engine.confirm({order, holds, PaymentMethod::none}, at(when));
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (SeatIndex const each : seats) all.emplace_back(layout().name_of(each));
        return all;
    }
    /// Free places of all sections together.
    [[nodiscard]] std::uint32_t free(Milliseconds when = 0ms) const {
        std::uint32_t count = 0;
        for (SectionCount const& each : event->availability(at(when))) count += each.free;
        return count;
    }
    /// The state that the journal describes.
    [[nodiscard]] RestoredEvent replayed() const {
        Replay replay(std::map<EventId, std::uint32_t>{{EventId{7}, layout().place_count()}});
        for (auto const& record : journal.records())
            if (!replay.record({record.lsn, record.type, record.version, record.payload})) break;
        if (!replay.breach().empty()) throw std::runtime_error(replay.breach());
        return std::move(replay.take()[EventId{7}]);
    }

    holdfast::test::MemoryJournal journal;
    Engine engine;
    LiveEvent* event{};
    std::vector<SeatIndex> seats;
};

}  // namespace holdfast::engine::test
