// Turns: what one thread appends between begin_turn and end_turn is written as one group.
#include "tests/journal/fixture.hpp"

#include <catch2/catch.hpp>
#include <thread>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

/// A journal on a disk in memory.
struct TurnJournal {
    TurnJournal() {
        auto const recovered = recover("data", disk, {}, sink);
        REQUIRE(recovered.has_value());
        auto options = small_options("data");
        options.idle_close = Milliseconds{60'000};  // no empty group is counted
        auto opened = Journal::open(options, disk, clock, recovered->tail, listener);
        REQUIRE(opened.has_value());
        journal = std::move(*opened);
    }
    MemoryDisk disk;
    CollectingSink sink;
    CountingListener listener;
    StillClock clock;
    std::unique_ptr<Journal> journal;
};

}  // namespace

TEST_CASE("the records of a turn make one group, written at its end", "[journal]") {
    TurnJournal run;
    Journal& journal = *run.journal;
    journal.begin_turn();
    for (int i = 0; i < 100; ++i) REQUIRE(append_record(journal, "claim") != no_lsn);
    CHECK(journal.durable_lsn() == no_lsn);
    CHECK(journal.health().groups == 0);
    journal.end_turn();
    REQUIRE(journal.wait_durable(Lsn{100}));
    CHECK(journal.health().groups == 1);
    // An empty turn asks for nothing, and after a turn each record is asked for as before.
    journal.begin_turn();
    journal.end_turn();
    REQUIRE(append_record(journal, "claim") == Lsn{101});
    REQUIRE(journal.wait_durable(Lsn{101}));
    CHECK(journal.health().groups == 2);
}

TEST_CASE("other threads do not wait for the end of a turn", "[journal]") {
    TurnJournal run;
    Journal& journal = *run.journal;
    journal.begin_turn();
    REQUIRE(append_record(journal, "of the turn") == Lsn{1});
    bool durable = false;
    std::thread other{[&] { durable = journal.wait_durable(append_record(journal, "other")); }};
    other.join();
    CHECK(durable);
    journal.end_turn();
    CHECK(journal.wait_durable(Lsn{2}));
}

TEST_CASE("a turn that waits, fills the room or goes on for long does not keep its records back",
          "[journal]") {
    TurnJournal run;
    Journal& journal = *run.journal;
    journal.begin_turn();
    SECTION("it waits itself") {
        REQUIRE(append_record(journal, "claim") == Lsn{1});
        CHECK(journal.wait_durable(Lsn{1}));
    }
    SECTION("as much as is worth a group") {
        std::string const large(20'000, 'x');
        REQUIRE(append_record(journal, large) == Lsn{1});
        bool durable = false;
        std::thread other{[&] { durable = journal.wait_durable(Lsn{1}); }};
        other.join();
        CHECK(durable);
    }
    SECTION("no room is left") {
        REQUIRE(append_record(journal, "claim") == Lsn{1});
        CHECK_FALSE(journal.reserve(100'000'000));
        bool durable = false;
        std::thread other{[&] { durable = journal.wait_durable(Lsn{1}); }};
        other.join();
        CHECK(durable);
    }
    journal.end_turn();
}

TEST_CASE("a turn that was not ended is written by a close", "[journal]") {
    TurnJournal run;
    run.journal->begin_turn();
    REQUIRE(append_record(*run.journal, "claim") == Lsn{1});
    run.journal->close();
    CHECK(run.journal->durable_lsn() == Lsn{1});
    run.journal->end_turn();
}
