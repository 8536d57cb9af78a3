// WatchedHouse: a small house on sale, its streams and its state documents.
#pragma once

#include "api/event_snapshots.hpp"
#include "tests/api/stream_client.hpp"
#include "tests/engine/sale_fixture.hpp"

#include <holdfast/api/seat_streams.hpp>

#include <catch2/catch.hpp>

namespace holdfast::test {

using namespace std::chrono_literals;
using engine::test::ok;

struct WatchedHouse : engine::test::SaleFixture {
    explicit WatchedHouse(api::SeatStreams::Bounds const& bounds = {},
                          api::Sequence const& sequence = {})
        : streams(std::make_shared<api::SeatStreams>(journal, sequence, bounds)),
          snapshots(journal, [](TimePoint) { return Milliseconds{0}; }, streams.get()) {}

    [[nodiscard]] std::shared_ptr<http::Stream> open(std::optional<std::uint64_t> after = {}) {
        auto opened = streams->open(*event, {}, after);
        REQUIRE(opened.stream != nullptr);
        return opened.stream;
    }
    [[nodiscard]] std::string document() {
        auto const document = snapshots.state(*event, now);
        REQUIRE(document != nullptr);
        return document->body;
    }
    [[nodiscard]] std::uint64_t document_number() {
        return boost::json::parse(document()).at("seq").to_number<std::uint64_t>();
    }
    /// The next look; its time is another than that of the deadlines.
    void look(Milliseconds later = 1s) { streams->look(looked += later); }
    [[nodiscard]] engine::HoldName take(std::vector<std::string> const& names) {
        auto const hold =
            engine.claim({event, std::vector{named(names)}, 0, {}, false, true}, now, seats);
        REQUIRE(ok(hold));
        return hold->name;
    }
    void release(engine::HoldName const& hold) { REQUIRE(ok(engine.release(hold, now))); }
    [[nodiscard]] StreamClient client() const { return StreamClient{layout().labelled_count()}; }
    /// "" if the client believes what is true; all deadlines that have passed must be facts.
    [[nodiscard]] std::string difference(StreamClient const& client) const {
        engine::SeatStates truth;
        if (!event->seat_states(now, truth)) return "no state";
        for (std::uint32_t seat = 0; seat < layout().labelled_count(); ++seat) {
            unsigned const state = truth.seats[seat / 4] >> (2 * (seat % 4)) & 3U;
            if (client.seats()[seat] == state) continue;
            return "seat " + std::to_string(seat) + " is " + std::to_string(state) + ", not " +
                   std::to_string(client.seats()[seat]);
        }
        for (auto const& count : truth.general) {
            auto const& believed =
                client.general().at(layout().sections()[count.section.value()].id);
            StreamClient::Counts const real{count.free, count.held, count.sold, count.blocked};
            if (believed != real) return "counts of a section";
        }
        return {};
    }

    TimePoint now{engine::test::at(0ms)};
    TimePoint looked{now};
    std::shared_ptr<api::SeatStreams> streams;
    api::EventSnapshots snapshots;
};

}  // namespace holdfast::test
