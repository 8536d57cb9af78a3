#include "app/server.hpp"
#include "tests/app/resting_shop.hpp"

#include <holdfast/engine/facts.hpp>

#include <catch2/catch.hpp>
#include <filesystem>

namespace holdfast::app::test {
namespace {

struct EventRecords final : journal::RecordSink {
    std::vector<engine::EventFact> facts;
    bool record(journal::RecordView const& record) override {
        if (record.type != journal::RecordType::event) return true;
        facts.push_back(engine::decode_event(record.payload).value());
        return true;
    }
};

std::vector<engine::EventFact> events_told(std::filesystem::path const& data) {
    journal::PosixDisk disk;
    EventRecords sink;
    REQUIRE(journal::recover(data, disk, {}, sink).has_value());
    return sink.facts;
}

void serve_once(std::filesystem::path const& data) {
    journal::PosixDisk disk;
    Config config;
    config.listen = config.admin_listen = "127.0.0.1:0";
    config.data = data;
    config.free_bytes_min = 0;
    config.segment_bytes = 1U << 16;
    config.token = "token-of-the-test-of-told-events-000000000000000";
    auto folder = DataFolder::open(data);
    REQUIRE(folder.has_value());
    auto restored = restore_state(*folder, disk);
    REQUIRE(restored.has_value());
    auto server = Server::start({config, *folder, disk, false, nullptr}, std::move(*restored));
    REQUIRE(server.has_value());
    CHECK((*server)->stop() == 0);
}

}  // namespace

TEST_CASE("P3: a start tells the journal of an event that a crash kept from it", "[app][start]") {
    holdfast::test::TempFolder const temp;
    auto const data = temp.path() / "data";
    RestingShop shop(data);  // which writes the catalogue and no more
    shop.make_event("second");
    LifeStep const begins = shop.spec().publish ? LifeStep::published : LifeStep::drafted;
    shop.close();
    REQUIRE(events_told(data).empty());
    for (int start = 0; start < 2; ++start) {
        serve_once(data);
        auto const told = events_told(data);
        REQUIRE(told.size() == 2);
        CHECK(told[0].event == EventId{1});
        CHECK(told[1].event == EventId{2});
        CHECK(told[0].step == begins);
    }
}

}  // namespace holdfast::app::test
