// Kept verdicts that nothing fits, and the advice when to scan for one, under the simulated memory
// model.

#include "tests/memory_model/guarded.hpp"

namespace holdfast::test {
namespace {

/// A suite without a house.
template <class Test, int threads>
struct BareTest : rl::test_suite<Test, threads> {
    BareTest() {
        UntracedMemory::use();
        Burst::choose();
    }
};

using Fits = FitVerdicts<RelacyAtomics>;

/// Verdicts of counts of frees 0, 1 and 2 in one entry: who reads one finds its own words, or those
/// of its renewal, and its own deadline.
struct Verdicts3 {
    Verdicts3() { fits.keep(0, 0, {5, 0}, {4, 40}, at(1'000)); }
    void keep_first() { fits.keep(0, 1, {3, 0}, {2, 20}, at(50)); }
    void renew_first() { fits.renew(0, 1, {3, 0}, {1, 10}); }
    void keep_second() { fits.keep(0, 2, {2, 0}, {1, 5}, at(100)); }
    void read(std::uint64_t frees, std::int64_t now) {
        auto const words = fits.refuses(0, frees, {6, 0}, at(now));
        if (!words) return;
        if (frees == 1) {
            RL_ASSERT(now < 50);
            bool const kept = words->largest == 2 && words->most == 20;
            RL_ASSERT(kept || (words->largest == 1 && words->most == 10));
        } else {
            RL_ASSERT(words->largest == 1 && words->most == 5);
        }
    }
    void read_all() {
        for (std::int64_t const now : {40, 60}) {
            read(1, now);
            read(2, now);
        }
    }
    Fits fits{1, false};
};

template <class Test, int threads>
struct FitTest : BareTest<Test, threads> {
    std::unique_ptr<Verdicts3> verdicts;
    void before() { verdicts = std::make_unique<Verdicts3>(); }
    void after() {
        verdicts->read_all();
        verdicts.reset();
    }
};

/// Two that keep, and one that reads.
struct FitWords : FitTest<FitWords, 3> {
    void thread(unsigned index) {
        if (index == 0)
            verdicts->keep_first();
        else if (index == 1)
            verdicts->keep_second();
        else
            verdicts->read_all();
    }
};

/// A verdict that ends beside one that is kept for longer.
struct FitDeadline : FitTest<FitDeadline, 2> {
    void before() {
        FitTest::before();
        verdicts->keep_first();
    }
    void thread(unsigned index) {
        if (index == 0) return verdicts->keep_second();
        for (int again = 0; again < 3; ++again) verdicts->read(1, 60);
    }
};

/// One that keeps, one that renews what it finds, and one that reads.
struct FitRenewed : FitTest<FitRenewed, 3> {
    void thread(unsigned index) {
        if (index == 0) return verdicts->keep_first();
        for (int again = 0; again < 2; ++again) {
            if (index == 1)
                verdicts->renew_first();
            else
                verdicts->read_all();
        }
    }
};

/// Of all who ask at one time one is told to scan, and nobody again while nothing is freed and few
/// have asked.
struct ScanAdvice : BareTest<ScanAdvice, 3> {
    static constexpr std::uint32_t places = 8 * limits::scan_places_a_refusal;
    std::unique_ptr<Renewals<RelacyAtomics>> renewals;
    RelacyAtomics::Atomic<int> told{0};

    void before() { renewals = std::make_unique<Renewals<RelacyAtomics>>(1, places); }
    void thread(unsigned) {
        for (int again = 0; again < 2; ++again)
            if (renewals->pays(0, 7)) told.fetch_add(1, Order::relaxed);
    }
    void after() {
        RL_ASSERT(told.load(Order::relaxed) == 1);
        renewals.reset();
    }
};

/// Two rows of three with a seat held in each.
Layout const& rows_of_three() {
    static Layout const layout = plain_layout(2, 3);
    return layout;
}

/// "No three together", found and kept beside the release after which there are.
struct Party : HouseTest<Party, 3> {
    HoldRef hold_;
    void before() {
        open(rows_of_three(), 2);
        hold_ = house->hold({1});
        static_cast<void>(house->hold({4}));
    }
    void thread(unsigned index) {
        if (index == 0) return house->end(hold_);
        static_cast<void>(ask());
        static_cast<void>(ask());
    }
    void after() {
        RL_ASSERT(ask().kind == Choice::Kind::chosen);
        close();
    }

private:
    Choice ask() {
        std::vector<SeatIndex> chosen;
        Wish wish;
        wish.quantity = 3;
        wish.together = true;
        return house->search.best(wish, at(1), chosen);
    }
};

SuiteOutcome simulate_party(unsigned executions, bool history) {
    static_cast<void>(rows_of_three());  // before any simulation
    return simulate<Party>(executions, history);
}

}  // namespace

std::vector<Suite> fit_suites() {
    return {{"kept verdicts that nothing fits, and their words", simulate<FitWords>},
            {"the deadline of a verdict that nothing fits", simulate<FitDeadline>},
            {"a renewed verdict that nothing fits", simulate<FitRenewed>},
            {"a party that nothing takes against a release", simulate_party},
            {"who is told to scan", simulate<ScanAdvice>}};
}

}  // namespace holdfast::test
