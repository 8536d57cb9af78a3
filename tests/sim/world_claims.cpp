// World: how clients get holds, and whether each gets what the records leave.

#include "tests/sim/server.hpp"

#include <algorithm>

namespace holdfast::sim {

using engine::ClaimLine;
using engine::test::SaleFixture;

ClaimLine World::random_seats(std::uint32_t count) {
    ClaimLine line;
    line.kind = ClaimLine::Kind::seats;
    std::uint32_t const first = below(labelled);
    for (std::uint32_t i = 0; i < count; ++i)
        line.seats.push_back(SeatIndex{(first + i * 7) % labelled});
    return line;
}

ClaimLine World::some_of_the_floor() {
    ClaimLine line;
    line.kind = ClaimLine::Kind::general;
    line.count = 1 + below(3);
    line.section = *spec_->layout.find_section("GA");
    return line;
}

std::vector<ClaimLine> World::random_lines() {
    if (one_in(4)) {
        ClaimLine line = SaleFixture::best(1 + below(3));
        line.best.prevent_orphans = one_in(2);
        return {line};
    }
    std::vector<ClaimLine> lines;
    if (!one_in(3)) lines.push_back(random_seats(1 + below(3)));
    if (lines.empty() || one_in(3)) lines.push_back(some_of_the_floor());
    return lines;
}

void World::won(engine::HoldView const& hold, TimePoint deadline) {
    for (SeatIndex const seat : seats_)
        expect(model_.is_free(seat.value(), now()), "a claim was given a taken place");
    expect(hold.expires_at == deadline, "a claim has another deadline");
    expect(hold.lsn.value() == tape_.size(), "a claim's LSN is not that of its record");
    clients_.push_back({hold.name, {}});
}

void World::claim() {
    auto const lines = random_lines();
    Milliseconds const ttl{30'000 + below(300'000)};
    bool may = true;
    for (ClaimLine const& line : lines)
        for (SeatIndex const seat : line.seats) may = may && model_.is_free(seat.value(), now());
    engine::ClaimCommand command{server_->event, lines, 0, ttl, false};
    command.mark = next_mark();
    auto const hold = server_->engine->claim(command, now(), seats_);
    note_key(command.mark, hold.has_value());
    if (hold) {
        expect(may, "a claim of taken seats was granted");
        won(*hold, now() + ttl);
        mark(Mark::claim_won);
    } else {
        mark(Mark::claim_refused);
        if (hold.error().code == RefusalCode::seats_unavailable)
            expect(!model_.is_free(hold.error().seat.value(), now()),
                   "a claim was refused because of a free seat");  // P2
        // Without named seats it is a search that decides; its answers have tests of their own.
        bool const named = std::ranges::all_of(
            lines, [](ClaimLine const& line) { return line.kind == ClaimLine::Kind::seats; });
        if (named) return static_cast<void>(judge(hold, may, "a claim"));
    }
    take_in_records();
}

/// Of one or two lines of seats, and sometimes of the floor: the seats that can be had, all of
/// them, and nothing else; the floor wholly or not at all.
void World::claim_partly() {
    std::vector<ClaimLine> lines{random_seats(1 + below(4))};
    std::vector<SeatIndex> named = lines[0].seats;
    if (one_in(3)) {
        ClaimLine more = random_seats(1 + below(3));
        std::erase_if(more.seats, [&](SeatIndex seat) {
            return std::ranges::find(named, seat) != named.end();
        });
        named.insert(named.end(), more.seats.begin(), more.seats.end());
        if (!more.seats.empty()) lines.push_back(more);
    }
    std::uint32_t floor = 0;
    if (one_in(4)) {
        lines.push_back(some_of_the_floor());
        floor = lines.back().count;
    }
    std::vector<SeatIndex> free;
    std::ranges::copy_if(named, std::back_inserter(free),
                         [this](SeatIndex seat) { return model_.is_free(seat.value(), now()); });
    std::ranges::sort(free);
    std::uint32_t left = 0;
    for (std::uint32_t place = labelled; place < spec_->layout.place_count(); ++place)
        left += model_.is_free(place, now()) ? 1 : 0;
    bool const may = left >= floor && (!free.empty() || floor > 0);

    Milliseconds const ttl{30'000 + below(300'000)};
    engine::ClaimCommand command{server_->event, lines, 0, ttl, false};
    command.partial = true;
    command.mark = next_mark();
    auto const hold = server_->engine->claim(command, now(), seats_);
    note_key(command.mark, hold.has_value());
    if (hold) {
        bool const ends_on_floor = std::ranges::all_of(
            seats_.begin() + std::min(std::ssize(free), std::ssize(seats_)), seats_.end(),
            [](SeatIndex seat) { return seat.value() >= labelled; });
        expect(seats_.size() == free.size() + floor && ends_on_floor &&
                   std::ranges::equal(free, std::span{seats_}.first(free.size())),
               "a partial claim has other seats than could be had");
        won(*hold, now() + ttl);
        mark(free.size() < named.size() ? Mark::partly_won : Mark::claim_won);
    } else if (hold.error().code == RefusalCode::seats_unavailable) {
        SeatIndex const seat = hold.error().seat;
        expect(
            std::ranges::find(named, seat) != named.end() && !model_.is_free(seat.value(), now()),
            "a partial claim was refused because of a free seat");
        mark(Mark::partly_refused);
    }
    static_cast<void>(judge(hold, may, "a partial claim"));
}

}  // namespace holdfast::sim
