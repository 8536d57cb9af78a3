// Model tests of wishes for accessible seats beside edits.

#include "tests/inventory/model_house.hpp"

namespace holdfast::inventory::test {
namespace {

/// One row of three seats, the first of them accessible.
Layout one_accessible() {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    builder.set_focal({1, -1});
    Section section;
    section.id = "A";
    builder.add_section(section);
    builder.add_row("1");
    for (int seat = 0; seat < 3; ++seat) {
        std::string const name = "A-1-" + std::to_string(seat);
        auto const flags =
            static_cast<std::uint8_t>(seat == 0 ? SeatFlag::accessible : SeatFlag::none);
        builder.add_seat({name, name, {{seat * 1.0, 0}, {}, flags}});
    }
    return std::move(*std::move(builder).build());
}

TEST_CASE("D23: enough places are not called sold out while the accessible one is edited",
          "[model]") {
    HoldRef hold;
    Scenario scenario{"D23, an edit of the accessible seat's hold, and a wish for it", 2,
                      one_accessible()};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0}, at(0), at(90'000)).ref;
        return Actors{[&] {
                          auto const edit =
                              house.holds.enter(hold, house.word(hold), State::editing);
                          if (edit) house.holds.leave(*edit, State::held);
                      },
                      [&] {
                          Wish wish;
                          wish.quantity = 2;
                          wish.accessible = 1;
                          std::vector<SeatIndex> chosen;
                          Choice const said = house.search.best(wish, at(1), chosen);
                          house.expect(said.kind != Choice::Kind::sold_out,
                                       "two are free, and it is called sold out");
                          house.expect(said.kind != Choice::Kind::chosen,
                                       "the only accessible seat is given twice");
                      }};
    };
    scenario.check = [](ModelHouse& house) { house.books_at_rest(); };
    explore(scenario);
}

}  // namespace
}  // namespace holdfast::inventory::test
