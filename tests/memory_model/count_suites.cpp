// Counts of what is free, and places that nobody counts, under the simulated memory model.

#include "tests/memory_model/guarded.hpp"

namespace holdfast::test {
namespace {

/// Two seats that are not for sale: staff may hold them, but nobody hints at them or counts them,
/// so only the words of the holds order one after another.
Layout const& two_not_for_sale() {
    static Layout const layout = [] {
        LayoutBuilder builder;
        builder.add_category({"std", "Standard", 100});
        Section section;
        section.id = "A";
        builder.add_section(section);
        builder.add_row("1");
        auto const flags = static_cast<std::uint8_t>(SeatFlag::not_for_sale);
        builder.add_seat({"A-1-1", "1", {{0, 0}, {}, flags}});
        builder.add_seat({"A-1-2", "2", {{1, 0}, {}, flags}});
        return std::move(*std::move(builder).build());
    }();
    return layout;
}

/// Holds one after another of which nothing but their words tells, in slots used again.
struct Unhinted : HouseTest<Unhinted, 3> {
    void before() { open(two_not_for_sale(), 1); }
    void thread(unsigned index) {
        house->claim_and_end({index == 2 ? 1U : 0U});
        if (index != 0) house->claim_and_end({index == 2 ? 1U : 0U});
    }
    void after() { close(); }
};

/// What a kept refusal says is left, against a claim of a part of it.
struct Left : HouseTest<Left, 2> {
    void before() {
        open(floor_of_seven(), 2);
        static_cast<void>(house->hold({0, 1, 2, 3}));
        RL_ASSERT(left() == 3);
        static_cast<void>(house->hold({4}));  // nobody watches the counts any more
    }
    void thread(unsigned index) {
        if (index == 0)
            static_cast<void>(house->claim({5}));
        else
            static_cast<void>(left());
    }
    void after() {
        RL_ASSERT(left() == 1);
        close();
    }

private:
    std::uint32_t left() {
        std::vector<SeatIndex> chosen;
        auto const choice = house->search.general(SectionIndex{0}, 4, {}, at(1), chosen);
        RL_ASSERT(choice.kind == Choice::Kind::sold_out);
        return choice.number;
    }
};

SuiteOutcome simulate_unhinted(unsigned executions, bool history) {
    static_cast<void>(two_not_for_sale());  // before any simulation
    return simulate<Unhinted>(executions, history);
}

}  // namespace

std::vector<Suite> count_suites() {
    return {{"what is left against a claim", simulate<Left>},
            {"holds of places that nobody hints at", simulate_unhinted}};
}

}  // namespace holdfast::test
