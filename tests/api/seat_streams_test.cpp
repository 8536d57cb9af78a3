// Streams of seat changes without sockets: what is told, when, and to whom.
#include "tests/api/watched_house.hpp"
#include "tests/engine/failing_memory.hpp"

namespace holdfast::test {
namespace {

using api::SeatStreams;
using Watcher = SeatStreams::Watcher;

std::string text_of(http::Stream& stream) {
    std::string text;
    for (auto piece = stream.next(); piece.bytes != nullptr; piece = stream.next()) {
        text += *piece.bytes;
        if (piece.last) break;
    }
    return text;
}

}  // namespace

TEST_CASE("a stream without a number begins with the hint to take the state", "[streams]") {
    WatchedHouse house;
    auto const stream = house.open();
    CHECK(stream->next().bytes == nullptr);  // nobody has looked yet
    house.look();
    CHECK(text_of(*stream) == "event: resync\nid: 0\ndata: {\"seq\":0}\n\n");
    auto const hold = house.take({"A-1-2", "A-2-1"});
    house.look();
    CHECK(text_of(*stream) == "id: 1\ndata: {\"seq\":1,\"held\":[1,8]}\n\n");
    house.release(hold);
    house.look();
    CHECK(text_of(*stream) == "id: 2\ndata: {\"seq\":2,\"free\":[1,8]}\n\n");
    house.look();
    CHECK(text_of(*stream).empty());
}

TEST_CASE("sections without seats are told as counts, and blocks as blocked", "[streams]") {
    WatchedHouse house;
    auto const stream = house.open();
    house.look();
    CHECK(text_of(*stream).starts_with("event: resync"));
    REQUIRE(ok(house.claim({house.general(3)})));
    std::vector<SeatIndex> const kept{SeatIndex{4}};
    REQUIRE(ok(house.engine.block({house.event, kept}, house.now, house.seats)));
    house.look();
    CHECK(text_of(*stream) ==
          "id: 2\ndata: {\"seq\":2,\"blocked\":[4],\"general\":[{\"section\":\"GA\",\"free\":7,"
          "\"held\":3,\"sold\":0,\"blocked\":0}]}\n\n");
}

TEST_CASE("who has a state goes on from its number and misses nothing", "[streams]") {
    WatchedHouse house;
    auto const first = house.open();
    house.look();
    auto const hold = house.take({"A-1-1"});
    auto client = house.client();
    client.take(house.document());
    house.release(hold);
    house.look();
    auto const stream = house.open(client.number());
    client.read(*stream);
    CHECK(client.resyncs == 0);
    CHECK(house.difference(client) == "");
    // All of it is in a document of now.
    auto late = house.client();
    late.take(house.document());
    auto const idle = house.open(late.number());
    CHECK(idle->next().bytes == nullptr);
}

TEST_CASE("a seat that looks as it did is told if it was another in between", "[streams]") {
    WatchedHouse house;
    auto const watching = house.open();
    house.look();
    auto const hold = house.take({"A-1-1", "A-1-2"});
    house.look();
    auto client = house.client();
    SECTION("released, and held by somebody else") {
        house.release(hold);
        client.take(house.document());
        static_cast<void>(house.take({"A-1-1", "A-1-2"}));
    }
    SECTION("given back and taken again by the same hold") {
        auto const change = [&](std::vector<std::string> const& names) {
            std::vector<engine::ClaimLine> const lines{house.named(names)};
            engine::ExchangeCommand command;
            command.hold = hold;
            command.lines = lines;
            command.staff = true;
            REQUIRE(ok(house.engine.exchange(command, house.now, house.seats)));
        };
        change({"A-1-2"});
        client.take(house.document());
        change({"A-1-1", "A-1-2"});
    }
    CHECK(client.seats()[0] == 0);
    house.look();
    auto const stream = house.open(client.number());
    client.read(*stream);
    CHECK(client.resyncs == 0);
    CHECK(house.difference(client) == "");
}

TEST_CASE("P6: what is not on disk is not told to streams", "[streams][durable]") {
    WatchedHouse house;
    auto const stream = house.open();
    house.look();
    CHECK(!text_of(*stream).empty());
    house.journal.hold_back(true);
    auto const hold = house.take({"A-1-1"});
    house.look();
    house.look();
    CHECK(text_of(*stream).empty());
    house.release(hold);
    house.journal.hold_back(false);
    house.look();
    // What was seen first comes first; at the next look the rest.
    CHECK(text_of(*stream) == "id: 1\ndata: {\"seq\":1,\"held\":[0]}\n\n");
    house.look();
    CHECK(text_of(*stream) == "id: 2\ndata: {\"seq\":2,\"free\":[0]}\n\n");
}

TEST_CASE("a hold past its deadline is free to streams when its end is a fact", "[streams]") {
    WatchedHouse house;
    auto client = house.client();
    auto const stream = house.open();
    house.look();
    static_cast<void>(house.take({"A-1-1"}));
    house.look();
    client.read(*stream);
    client.take(house.document());
    house.now += 301s;
    house.look();
    client.read(*stream);
    CHECK(client.seats()[0] == 1);
    CHECK(house.engine.expire(house.now) == 1);
    house.look();
    client.read(*stream);
    CHECK(client.seats()[0] == 0);
}

TEST_CASE("a document that a stream asked for has what the stream has told", "[streams]") {
    // Documents of large events may be old, but not older than that.
    WatchedHouse house;
    auto client = house.client();
    client.take(house.document());
    static_cast<void>(house.take({"A-1-1"}));
    auto const stream = house.open();
    house.look();
    client.read(*stream);
    REQUIRE(client.wants_document());
    CHECK(house.streams->told(house.event->spec().id) == Lsn{1});
    CHECK(house.document_number() >= 1);
}

TEST_CASE("numbers that are not of this life of the server are no numbers", "[streams]") {
    api::Sequence const sequence{1'000'000, Lsn{0}};
    WatchedHouse house({}, sequence);
    auto const watching = house.open();
    house.look();
    static_cast<void>(house.take({"A-1-1"}));
    house.look();
    CHECK(house.document_number() == 1'000'001);
    for (std::uint64_t const number :
         {std::uint64_t{0}, std::uint64_t{999'999}, std::uint64_t{1'000'002}, ~std::uint64_t{0}}) {
        CAPTURE(number);
        auto const stream = house.open(number);
        CHECK(text_of(*stream) == "event: resync\nid: 1000001\ndata: {\"seq\":1000001}\n\n");
    }
    auto const known = house.open(1'000'001);
    CHECK(known->next().bytes == nullptr);
    auto const behind = house.open(1'000'000);
    CHECK(text_of(*behind) == "id: 1000001\ndata: {\"seq\":1000001,\"held\":[0]}\n\n");
}

TEST_CASE("a server that starts later numbers higher", "[streams]") {
    TimePoint const now{Milliseconds{1'800'000'000'000}};
    auto const old = api::Sequence::begun(now, Lsn{5});
    auto const next = api::Sequence::begun(now + 1s, Lsn{100'000});
    CHECK(old.number(Lsn{100'000}) < next.number(Lsn{100'000}));
    CHECK(old.number(Lsn{5}) == 1'800'000'000'000'000);
    CHECK(old.fact(old.number(Lsn{77})) == Lsn{77});
    CHECK(!next.fact(old.number(Lsn{100'000})));
}

TEST_CASE("a reader that fell out of the ring is told so, and its stream ends", "[streams]") {
    WatchedHouse house;
    auto client = house.client();
    auto const slow = house.open();
    house.look();
    client.read(*slow);
    client.take(house.document());
    auto const old = client.number();
    for (std::size_t i = 0; i <= limits::stream_ring_deltas_max / 2; ++i) {
        auto const hold = house.take({"A-1-1"});
        house.look();
        house.release(hold);
        house.look();
    }
    auto const piece = slow->next();
    CHECK(piece.last);
    CHECK(piece.bytes->starts_with("event: resync\n"));
    auto const back = house.open(old);
    CHECK(back->next().bytes->starts_with("event: resync\n"));
    // The newest are still there.
    auto const near = house.open(house.document_number() - 10);
    auto const found = near->next();
    REQUIRE(found.bytes != nullptr);
    CHECK(found.bytes->starts_with("id: "));
    CHECK_FALSE(found.last);
}

TEST_CASE("every stream of an event is given the same bytes", "[streams]") {
    WatchedHouse house;
    auto const one = house.open();
    auto const other = house.open();
    house.look();
    CHECK(one->next().bytes == other->next().bytes);
    static_cast<void>(house.take({"A-1-1"}));
    house.look();
    auto const bytes = one->next().bytes;
    REQUIRE(bytes != nullptr);
    CHECK(bytes == other->next().bytes);
    CHECK(house.streams->counts().deltas == 1);
}

TEST_CASE("streams are bounded in all and for a network, and loopback is spared", "[streams]") {
    WatchedHouse house({.streams_max = 5, .per_network_max = 2});
    auto const open = [&](std::uint8_t network, bool loopback = false) {
        Watcher watcher;
        watcher.network[0] = network;
        watcher.loopback = loopback;
        return house.streams->open(*house.event, watcher, {});
    };
    auto first = open(1);
    auto const second = open(1);
    CHECK(open(1).refused == SeatStreams::Refused::network);
    auto const third = open(1, true);
    auto const fourth = open(2);
    auto const fifth = open(3);
    CHECK(fifth.stream != nullptr);
    CHECK(open(4).refused == SeatStreams::Refused::all);
    first.stream.reset();
    CHECK(open(1).stream != nullptr);  // and it ends here
    CHECK(open(1).stream != nullptr);
    CHECK(house.streams->counts().refused == 2);
    WatchedHouse strict({.streams_max = 5, .per_network_max = 1, .limit_loopback = true});
    Watcher const local{.network = {}, .loopback = true};
    auto const held = strict.streams->open(*strict.event, local, {});
    CHECK(strict.streams->open(*strict.event, local, {}).refused == SeatStreams::Refused::network);
}

TEST_CASE("P9: any allocation of a stream's opening may fail, and no place is lost by it",
          "[streams][memory]") {
    for (long nth = 1;; ++nth) {
        CAPTURE(nth);
        WatchedHouse house({.streams_max = 1, .per_network_max = 1, .limit_loopback = true});
        bool refused = false;
        engine::test::fail_allocation(nth, false);
        try {
            static_cast<void>(house.streams->open(*house.event, {}, {}));  // and it ends here
        } catch (std::bad_alloc const&) {
            refused = true;
        }
        bool const failed = engine::test::allocation_failed();
        engine::test::fail_allocation(0, false);
        CHECK(refused == failed);
        auto const stream = house.open();
        CHECK(house.streams->open(*house.event, {}, {}).refused == SeatStreams::Refused::all);
        if (!failed) break;
        REQUIRE(nth < 100);
    }
}

TEST_CASE("an event that nobody watches any more costs nothing after a minute", "[streams]") {
    WatchedHouse house;
    auto stream = house.open();
    house.look();
    auto const number = house.document_number();
    stream.reset();
    static_cast<void>(house.take({"A-1-1"}));
    house.look();
    CHECK(house.streams->counts().events == 1);
    // Who only lost the connection finds what it missed.
    auto client = house.client();
    auto const back = house.open(number);
    client.read(*back);
    CHECK(client.resyncs == 0);
    CHECK(client.seats()[0] == 1);
    auto const watched = house.streams->counts().events;
    CHECK(watched == 1);
}

TEST_CASE("the ring of an event goes a minute after its last stream", "[streams]") {
    WatchedHouse house;
    auto stream = house.open();
    house.look();
    stream.reset();
    house.look();
    house.look(60s);
    CHECK(house.streams->counts().events == 0);
}

TEST_CASE("looks are further apart with many streams", "[streams]") {
    CHECK(SeatStreams::period(0) == 250ms);
    CHECK(SeatStreams::period(2'500) == 250ms);
    CHECK(SeatStreams::period(10'000) == 1s);
    WatchedHouse house;
    auto const stream = house.open();
    house.streams->look(house.now);
    CHECK(!text_of(*stream).empty());
    static_cast<void>(house.take({"A-1-1"}));
    house.streams->look(house.now + 249ms);
    CHECK(text_of(*stream).empty());
    house.streams->look(house.now + 250ms);
    CHECK(!text_of(*stream).empty());
}

}  // namespace holdfast::test
