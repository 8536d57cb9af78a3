// Notes on rows beside claims and ends under the simulated memory model: none hides the best block
// once all have stopped.

#include "tests/memory_model/guarded.hpp"

namespace holdfast::test {
namespace {

/// Two rows of three, the first one nearer.
Layout const& two_rows() {
    static Layout const layout = plain_layout(2, 3);
    return layout;
}
/// A near seat beside a far one, and behind them one that is between.
Layout const& near_and_far() {
    static Layout const layout = [] {
        LayoutBuilder builder;
        builder.add_category({"std", "Standard", 100});
        builder.set_focal({0, 0});
        Section section;
        section.id = "A";
        builder.add_section(section);
        builder.add_row("1");
        builder.add_seat({"A-1-1", "1", {{0, 1}, {}, 0}});
        builder.add_seat({"A-1-2", "2", {{5, 1}, {}, 0}});
        builder.add_row("2");
        builder.add_seat({"A-2-1", "1", {{0, 3}, {}, 0}});
        return std::move(*std::move(builder).build());
    }();
    return layout;
}

template <class Test, int threads>
struct NoteTest : HouseTest<Test, threads> {
    using HouseTest<Test, threads>::house;

    void look_for(std::uint32_t quantity) {
        Wish const wish = wish_for(quantity);
        static_cast<void>(BestBlock(house->places, wish).find());
    }
    /// What a search finds by hints and notes is what one finds that knows who has which seat.
    void finds_the_best() {
        FreeMap free(house->geometry);
        for (std::uint32_t place = 0; place < house->places.count(); ++place)
            if (house->is_free(place, at(1))) free.add(place);
        for (std::uint32_t quantity = 1; quantity <= 3; ++quantity) {
            Wish const wish = wish_for(quantity);
            auto const found = BestBlock(house->places, wish).find();
            RL_ASSERT(found == BestBlock(free, wish).find());
        }
    }

private:
    static Wish wish_for(std::uint32_t quantity) {
        Wish wish;
        wish.quantity = quantity;
        return wish;
    }
};

/// A cost noted beside the release of the seat that would cost less.
struct Cost : NoteTest<Cost, 2> {
    HoldRef hold_;
    void before() {
        open(near_and_far(), 2);
        hold_ = house->hold({0});
    }
    void thread(unsigned index) {
        if (index == 0) return house->end(hold_);
        look_for(1);
        look_for(1);
    }
    void after() {
        finds_the_best();
        close();
    }
};

/// "No two neighbours" noted beside the release of the seat between two others.
struct None : NoteTest<None, 3> {
    HoldRef hold_;
    void before() {
        open(two_rows(), 1);
        hold_ = house->hold({1});
    }
    void thread(unsigned index) {
        if (index == 0) return house->end(hold_);
        look_for(2);
    }
    void after() {
        finds_the_best();
        close();
    }
};

/// A row closed beside a release in it, and opened again.
struct Closed : NoteTest<Closed, 3> {
    HoldRef hold_;
    void before() {
        open(two_rows(), 1);
        hold_ = house->hold({0, 1, 2});
    }
    void thread(unsigned index) {
        if (index == 0) return house->end(hold_);
        look_for(index);
    }
    void after() {
        finds_the_best();
        close();
    }
};

/// "All pairs leave a single seat" noted beside the claim after which one does not. The other row
/// has a pair, too, but farther away.
struct Single : NoteTest<Single, 3> {
    void before() {
        open(two_rows(), 2);
        static_cast<void>(house->hold({5}));
    }
    void thread(unsigned index) {
        if (index == 0)
            static_cast<void>(house->claim({0}));
        else
            look_for(2);
    }
    void after() {
        finds_the_best();
        close();
    }
};

/// A claim and a release in one row, and a search that notes what it sees between them.
struct Both : NoteTest<Both, 3> {
    HoldRef hold_;
    void before() {
        open(two_rows(), 2);
        hold_ = house->hold({2});
        static_cast<void>(house->hold({5}));
    }
    void thread(unsigned index) {
        if (index == 0) return house->end(hold_);
        if (index == 1)
            static_cast<void>(house->claim({0}));
        else
            look_for(2);
    }
    void after() {
        finds_the_best();
        close();
    }
};

template <class Test>
SuiteOutcome simulate_notes(unsigned executions, bool history) {
    static_cast<void>(two_rows());  // before any simulation
    static_cast<void>(near_and_far());
    return simulate<Test>(executions, history);
}

}  // namespace

std::vector<Suite> note_suites() {
    return {{"a noted cost against a release", simulate_notes<Cost>},
            {"a row without neighbours against a release", simulate_notes<None>},
            {"a closed row against a release", simulate_notes<Closed>},
            {"a row that leaves single seats against a claim", simulate_notes<Single>},
            {"notes against a claim and a release", simulate_notes<Both>}};
}

}  // namespace holdfast::test
