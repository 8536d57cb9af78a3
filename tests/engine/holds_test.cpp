#include "tests/engine/sale_fixture.hpp"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

namespace holdfast::engine::test {
namespace {

TEST_CASE("a hold can be read until its deadline and not at it", "[engine]") {
    SaleFixture sale;
    auto const hold = sale.claim({SaleFixture::best(2)});
    REQUIRE(ok(hold));
    CHECK(ok(sale.engine.read(hold->name, at(299'999ms), sale.seats)));
    auto const late = sale.engine.read(hold->name, at(300s), sale.seats);
    REQUIRE_FALSE(ok(late));
    CHECK(late.error().code == RefusalCode::hold_expired);
    CHECK(late.error().at == at(300s));
    CHECK(sale.free(300s) == 30);
}

TEST_CASE("release is idempotent and remembers what was released", "[engine]") {
    SaleFixture sale;
    auto const hold = sale.claim({SaleFixture::best(2)});
    auto const lsn = sale.engine.release(hold->name, at(1s));
    REQUIRE(ok(lsn));
    CHECK(*lsn == Lsn{2});
    auto const again = sale.engine.release(hold->name, at(1s));
    REQUIRE(ok(again));
    CHECK(*again == no_lsn);
    CHECK(sale.engine.read(hold->name, at(1s), sale.seats).error().code ==
          RefusalCode::already_released);
    CHECK(sale.confirm({hold->name}, 1s).error().code == RefusalCode::already_released);
    CHECK(sale.free() == 30);
}

TEST_CASE("a release sent twice at one time is remembered", "[engine][stress]") {
    SaleFixture sale;
    for (int round = 0; round < 400; ++round) {
        auto const hold = sale.claim({sale.named({"A-1-1"})});
        REQUIRE(ok(hold));
        std::atomic<int> ready{0};
        std::array<bool, 2> released{};
        std::array<std::thread, 2> threads;
        for (std::size_t i = 0; i < threads.size(); ++i) {
            threads[i] = std::thread([&, i] {
                ++ready;
                while (ready < 2) {
                }
                released[i] = ok(sale.engine.release(hold->name, at(1s)));
            });
        }
        for (std::thread& thread : threads) thread.join();
        REQUIRE(released[0]);
        REQUIRE(released[1]);
        REQUIRE(sale.engine.read(hold->name, at(1s), sale.seats).error().code ==
                RefusalCode::already_released);
    }
}

TEST_CASE("a release that meets another end is not remembered", "[engine]") {
    SaleFixture sale;
    auto const hold = sale.claim({sale.named({"A-1-1"})});
    REQUIRE(ok(hold));
    SECTION("the deadline") {
        CHECK(*sale.engine.release(hold->name, at(300s)) == no_lsn);
    }
    SECTION("no room in the journal, and then the deadline") {
        sale.journal.set_room(0);
        CHECK_FALSE(ok(sale.engine.release(hold->name, at(299s))));
        sale.journal.set_room(1U << 20);
    }
    CHECK(sale.engine.read(hold->name, at(300s), sale.seats).error().code ==
          RefusalCode::hold_expired);
    CHECK(sale.engine.read(hold->name, at(301s), sale.seats).error().code ==
          RefusalCode::hold_expired);
}

TEST_CASE("an old hold of a reused slot releases nothing", "[engine]") {
    SaleFixture sale;
    auto const first = sale.claim({SaleFixture::best(2)});
    REQUIRE(ok(sale.engine.release(first->name, at(0ms))));
    auto const second = sale.claim({SaleFixture::best(2)});
    REQUIRE(second->name.ref.slot() == first->name.ref.slot());
    CHECK(*sale.engine.release(first->name, at(0ms)) == no_lsn);
    CHECK(sale.confirm({first->name}).error().code == RefusalCode::already_released);
    CHECK(ok(sale.engine.read(second->name, at(0ms), sale.seats)));
}

TEST_CASE("an extension moves the deadline within its bounds and is counted", "[engine]") {
    EventPolicy policy;
    policy.max_extensions = 2;
    policy.hold_max_life = 700s;
    SaleFixture sale(policy);
    auto const hold = sale.claim({SaleFixture::best(2)});
    auto const extended = sale.engine.extend(hold->name, 300s, at(100s), sale.seats);
    REQUIRE(ok(extended));
    CHECK(extended->expires_at == at(400s));
    CHECK(extended->extensions_left == 1);
    CHECK(sale.seats.size() == 2);
    // Never earlier than before; and what moves nothing uses nothing up.
    auto const same = sale.engine.extend(hold->name, 1s, at(100s), sale.seats);
    REQUIRE(ok(same));
    CHECK(same->expires_at == at(400s));
    CHECK(same->extensions_left == 1);
    CHECK(same->lsn == no_lsn);
    CHECK(sale.journal.count(journal::RecordType::edit) == 1);
    CHECK(sale.engine.extend(hold->name, 301s, at(100s), sale.seats)->extensions_left == 0);
    auto const refused = sale.engine.extend(hold->name, 1s, at(100s), sale.seats);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().extension_reason == ExtensionReason::used_up);
    CHECK(ok(sale.engine.read(hold->name, at(400'999ms), sale.seats)));
    CHECK(sale.engine.extend(hold->name, 1s, at(401s), sale.seats).error().code ==
          RefusalCode::hold_expired);
}

TEST_CASE("a hold at its longest life is not extended further", "[engine]") {
    EventPolicy policy;
    policy.max_extensions = 9;
    policy.hold_max_life = 500s;
    SaleFixture sale(policy);
    auto const hold = sale.claim({SaleFixture::best(1)});
    CHECK(sale.engine.extend(hold->name, 3600s, at(100s), sale.seats)->expires_at == at(500s));
    auto const refused = sale.engine.extend(hold->name, 10s, at(499s), sale.seats);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().extension_reason == ExtensionReason::max_life);
}

TEST_CASE("an extension is possible up to the last millisecond", "[engine]") {
    SaleFixture sale;
    auto const hold = sale.claim({SaleFixture::best(1)});
    REQUIRE(ok(sale.engine.extend(hold->name, 300s, at(299'999ms), sale.seats)));
    auto const late = sale.claim({SaleFixture::best(1)});
    auto const refused = sale.engine.extend(late->name, 300s, at(300s), sale.seats);
    CHECK(refused.error().code == RefusalCode::hold_expired);
    CHECK(sale.journal.count(journal::RecordType::edit) == 1);
}

TEST_CASE("an extension obeys what a claim obeys, #28", "[engine]") {
    EventPolicy policy;
    policy.max_extensions = 9;
    SaleFixture sale(policy);
    auto const hold = sale.claim({SaleFixture::best(2)});
    auto const extend = [&](Milliseconds by) {
        return sale.engine.extend(hold->name, by, at(100s), sale.seats);
    };
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::paused, at(1s))));
    // Also one that would move nothing.
    CHECK(extend(300s).error().code == RefusalCode::sale_not_open);
    CHECK(extend(1s).error().code == RefusalCode::sale_not_open);
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::published, at(2s))));
    REQUIRE(ok(extend(300s)));
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::closed, at(3s))));
    CHECK(extend(400s).error().code == RefusalCode::sale_closed);
    auto const read = sale.engine.read(hold->name, at(100s), sale.seats);
    REQUIRE(ok(read));
    CHECK(read->expires_at == at(400s));
    CHECK(read->extensions_left == 8);
    // It can still be paid until then.
    CHECK(ok(sale.confirm({hold->name}, 399'999ms)));
}

TEST_CASE("expire ends what is due, and only that, each with its END", "[engine]") {
    SaleFixture sale;
    REQUIRE(ok(sale.claim({SaleFixture::best(2)}, 0ms)));
    auto const late = sale.claim({SaleFixture::best(2)}, 50s);
    for (auto when = 0ms; when <= 300s; when += 10s) sale.engine.expire(at(when));
    CHECK(sale.journal.count(journal::RecordType::end) == 1);
    CHECK(ok(sale.engine.read(late->name, at(300s), sale.seats)));
    for (auto when = 300s; when <= 350s; when += 1s) sale.engine.expire(at(when));
    CHECK(sale.journal.count(journal::RecordType::end) == 2);
    CHECK(sale.free(350s) == 30);
    CHECK(sale.engine.expire(at(400s)) == 0);
}

TEST_CASE("a crowd with one deadline is ended over several ticks, within the bound of each",
          "[engine]") {
    SaleFixture sale;
    std::size_t ended = 0;
    for (int i = 0; i < 30; ++i)
        REQUIRE(ok(sale.claim({i < 20 ? SaleFixture::neighbours(1) : sale.general(1)})) ==
                (i < 18 || i >= 20));
    for (auto when = 0ms; when <= 300'100ms; when += 10ms) {
        std::size_t const now_ended = sale.engine.expire(at(when));
        CHECK(now_ended <= limits::expired_per_tick_max);
        ended += now_ended;
    }
    CHECK(ended == 28);
}

TEST_CASE("a hold of an unknown event or slot is not found or expired, never a crash", "[engine]") {
    SaleFixture sale;
    CHECK(sale.engine.read({EventId{9}, HoldRef{1, SlotIndex{1}}}, at(0ms), sale.seats)
              .error()
              .code == RefusalCode::not_found);
    for (std::uint32_t const slot : {0U, 1U, 5'000'000U})
        CHECK(sale.engine.read({EventId{7}, HoldRef{1, SlotIndex{slot}}}, at(0ms), sale.seats)
                  .error()
                  .code == RefusalCode::hold_expired);
}

}  // namespace
}  // namespace holdfast::engine::test
