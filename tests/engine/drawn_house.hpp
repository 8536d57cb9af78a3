// DrawnHouse: an event whose rows are drawn as text, for tests that are about neighbours.
#pragma once

#include "tests/engine/sale_fixture.hpp"

#include <stdexcept>

namespace holdfast::engine::test {

using Names = std::vector<std::string>;

/// Rows are drawn, a character a seat: `a` and `b` categories, `x` not for sale, `|` an aisle,
/// `j` joined to the seat before it, `w` accessible, `s` sold, `h` held, `k` held until 1 s. Seats
/// are named "row-n" with the row's number from 1 and the seat's place in it from 1.
class DrawnHouse {
public:
    DrawnHouse(std::vector<std::string> const& rows, OrphanRule rule, std::uint32_t endgame = 10) {
        LayoutBuilder builder;
        builder.add_category({"a", "A", 100});
        builder.add_category({"b", "B", 200});
        Section section;
        section.id = "S";
        builder.add_section(section);
        for (std::size_t row = 0; row < rows.size(); ++row) add_row(builder, rows[row], row + 1);
        auto layout = std::move(builder).build();
        auto spec = std::make_shared<EventSpec>();
        spec->id = EventId{1};
        spec->slug = "drawn";
        spec->publish = true;
        spec->policy.orphan_rule = rule;
        spec->policy.orphan_endgame_pct = endgame;
        spec->policy.max_per_order = 500;
        spec->layout = std::move(*layout);
        event = engine.add(spec);
        engine.build(*event, {});
        take(sold_, 300s);
        take(held_, 300s);
        take(short_, 1s);
    }

    Result<HoldView> claim(Names const& names, Milliseconds when = 0ms) {
        lines = {line_of(names)};
        return engine.claim({event, lines, 0, {}, false, false, &report}, at(when), seats);
    }
    [[nodiscard]] ClaimLine line_of(Names const& names) const {
        ClaimLine line;
        for (std::string const& name : names)
            line.seats.push_back(*event->spec().layout.find_seat(name));
        return line;
    }
    [[nodiscard]] Names names_of(std::vector<SeatIndex> const& list) const {
        Names names;
        for (SeatIndex const each : list) names.emplace_back(event->spec().layout.name_of(each));
        return names;
    }
    /// "ok", or the orphans, then the alternatives, each after a slash.
    std::string answer(Names const& names, Milliseconds when = 0ms) {
        auto const hold = claim(names, when);
        if (hold) return "ok";
        if (hold.error().code != RefusalCode::orphan_seat) return "refused otherwise";
        return text_of_report();
    }
    [[nodiscard]] std::string text_of_report() const {
        std::string text = joined(names_of(report.orphans));
        for (auto const& each : report.alternatives) text += " / " + joined(names_of(each));
        return text;
    }

    holdfast::test::MemoryJournal journal;
    Engine engine{journal, {}};
    LiveEvent* event{};
    std::vector<ClaimLine> lines;
    std::vector<SeatIndex> seats;
    OrphanReport report;

private:
    static std::string joined(Names const& names) {
        std::string text;
        for (std::string const& name : names) text += (text.empty() ? "" : " ") + name;
        return text;
    }
    void add_row(LayoutBuilder& builder, std::string const& row, std::size_t number) {
        builder.add_row(std::to_string(number));
        unsigned flags = 0;
        int seat = 0;
        for (char const c : row) {
            if (c == '|') {
                flags |= unsigned(SeatFlag::aisle_before);
                continue;
            }
            if (c == 'x') flags |= unsigned(SeatFlag::not_for_sale);
            if (c == 'j') flags |= unsigned(SeatFlag::joined);
            if (c == 'w') flags |= unsigned(SeatFlag::accessible);
            std::string const label = std::to_string(++seat);
            std::string const name = std::to_string(number) + "-" + label;
            Seat made{{seat * 1.0, static_cast<double>(number)},
                      CategoryIndex{c == 'b' ? 1U : 0U},
                      static_cast<std::uint8_t>(flags)};
            builder.add_seat({name, label, made});
            if (c == 's') sold_.push_back(name);
            if (c == 'h') held_.push_back(name);
            if (c == 'k') short_.push_back(name);
            flags = 0;
        }
    }
    void take(Names const& names, Milliseconds ttl) {
        for (std::string const& name : names) {
            ClaimCommand command;
            lines = {line_of({name})};
            command.event = event;
            command.lines = lines;
            command.ttl = ttl;
            command.staff = true;  // not bound by the rule
            auto const hold = engine.claim(command, at(0ms), seats);
            if (!hold) throw std::runtime_error("the drawing cannot be set up");
            if (&names != &sold_) continue;
            HoldName const sold = hold->name;
            if (!engine.confirm({{1, ++orders_}, {&sold, 1}, PaymentMethod::none}, at(0ms)))
                throw std::runtime_error("the drawing cannot be sold");
        }
    }
    Names sold_, held_, short_;
    std::uint64_t orders_{};
};

}  // namespace holdfast::engine::test
