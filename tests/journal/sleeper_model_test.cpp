// The sleeper's own source, through all interleavings of its owner and those who wake it.
#include "journal/sleeper.hpp"
#include "tests/support/interleave.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <utility>

namespace holdfast::journal::test {
namespace {

using holdfast::test::deepened;
using holdfast::test::Explorer;
using holdfast::test::SteppedAtomics;

/// Compares and falls asleep in one step, as the kernel does.
struct SteppedFutex {
    using Word = SteppedAtomics::Atomic<std::uint32_t>;
    static void sleep_while_one(Word& word, std::optional<std::chrono::nanoseconds>) noexcept {
        Explorer::step();
        ++calls;
        if (word.peek() != 1) return;
        asleep = true;
        Explorer::wait_until([] { return !asleep; });
    }
    static void wake_one(Word&) noexcept {
        Explorer::step();
        ++calls;
        asleep = false;
    }
    inline static bool asleep{};
    inline static int calls{};
};

enum class Owner : std::uint8_t { as_it_should, looks_before_it_announces, sleeps_without_a_look };

/// An owner that sleeps until it has seen the work of all producers, two of each.
struct SleepModel {
    static constexpr std::uint32_t works = 2;

    SleepModel(int the_producers, Owner the_owner) : producers(the_producers), owner(the_owner) {}

    void produce() {
        for (std::uint32_t done = 0; done < works; ++done) {
            work->fetch_add(1, std::memory_order_seq_cst);
            sleeper->wake();
        }
    }
    [[nodiscard]] bool has_work() {
        std::uint32_t const all = work->load(std::memory_order_seq_cst);
        return std::exchange(seen, all) != all;
    }
    void rest() {
        bool const early = owner == Owner::looks_before_it_announces && has_work();
        sleeper->announce();
        bool const late = owner == Owner::as_it_should && has_work();
        if (early || late) return sleeper->stay_awake();
        sleeper->wait({});
        static_cast<void>(has_work());
    }
    [[nodiscard]] Explorer::Actors prepare() {
        sleeper.emplace();
        work.emplace();
        seen = 0;
        SteppedFutex::asleep = false;
        Explorer::Actors actors{[this] {
            while (seen < works * static_cast<std::uint32_t>(producers)) rest();
        }};
        for (int at = 0; at < producers; ++at) actors.emplace_back([this] { produce(); });
        return actors;
    }
    /// What was found; nothing if every wake-up came.
    [[nodiscard]] std::string explored(int preemptions) {
        Explorer explorer(deepened(preemptions));
        explorer.explore([this] { return prepare(); }, [] { return true; });
        schedules = explorer.schedules;
        return explorer.failure;
    }

    int producers;
    Owner owner;
    std::optional<SleeperOn<SteppedFutex>> sleeper;
    std::optional<SteppedAtomics::Atomic<std::uint32_t>> work;
    std::uint32_t seen{};
    std::uint64_t schedules{};
};

}  // namespace

TEST_CASE("no wake-up of a sleeper is lost, however its threads take turns", "[journal][model]") {
    if (!holdfast::test::has_fibers()) return;
    for (int const producers : {1, 2}) {
        SleepModel model(producers, Owner::as_it_should);
        CAPTURE(producers);
        CHECK(model.explored(4) == "");
        CHECK(model.schedules > 500);
    }
}

TEST_CASE("the model of a sleeper finds an owner that looks at the wrong time",
          "[journal][model]") {
    if (!holdfast::test::has_fibers()) return;
    for (auto const owner : {Owner::looks_before_it_announces, Owner::sleeps_without_a_look}) {
        SleepModel model(1, owner);
        CHECK_THAT(model.explored(2), Catch::Contains("a wake-up was lost"));
    }
}

TEST_CASE("who wakes one that is awake asks the kernel for nothing", "[journal][model]") {
    SleeperOn<SteppedFutex> sleeper;
    SteppedFutex::calls = 0;
    sleeper.wake();
    sleeper.announce();
    sleeper.stay_awake();
    sleeper.wake();
    CHECK(SteppedFutex::calls == 0);
    sleeper.announce();
    sleeper.wake();
    sleeper.wake();  // one call for one sleep
    CHECK(SteppedFutex::calls == 1);
}

}  // namespace holdfast::journal::test
