// What the tests of segment deletion share: a shop that fills segments, and a start after it.
#pragma once

#include "tests/engine/projector_world.hpp"

#include <holdfast/engine/compaction.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

namespace holdfast::engine::test {

inline constexpr std::uint32_t shop_slots = 8;

inline std::map<EventId, std::uint32_t> places_of(World const& world) {
    return {{demo, world.find(demo)->layout.place_count()}};
}

inline Compaction compaction_of(World& world, journal::Disk& disk, std::uint64_t first) {
    return {"data", disk, journal::test::small_segment, first,
            [&world] { return places_of(world); }};
}

/// What a start from this disk knows; empty if there is none.
class Start final : public journal::RecordSink {
public:
    Start(World& world, journal::Disk& disk) : disk_(disk), replay_(places_of(world)) {
        auto const recovered = journal::recover("data", disk, {}, *this);
        if (!recovered) {
            why_not = recovered.error().message;
            return;
        }
        last = recovered->tail.last_lsn;
        first_segment = recovered->tail.first_segment;
        state = replay_.save();
        generations = replay_.take()[demo].generations;
        while (!generations.empty() && generations.back() == 0) generations.pop_back();
    }
    bool begin(journal::SegmentStart const& start) override {
        auto const base = journal::read_base("data", disk_, start);
        return base && replay_.load(*base);
    }
    bool record(journal::RecordView const& record) override { return replay_.record(record); }
    std::string why_not;
    std::vector<std::byte> state;
    std::vector<std::uint64_t> generations;
    Lsn last{};
    std::uint64_t first_segment{};

private:
    journal::Disk& disk_;
    Replay replay_;
};

/// A shop that goes on until at least so many segments exist.
class Shop {
public:
    explicit Shop(World& world) : world_(world) {}

    /// Claims, ends, sells and cancels, one group a claim; slot 1 stays held and slot 2 sold.
    void fill_segments(std::uint64_t segments) {
        if (generation_ > 0) {
            world_.end(held());
        } else {
            // Used once, and never again: only a base file can remember it.
            world_.claim(hold(4 * shop_slots, 1), {0});
            world_.end(hold(4 * shop_slots, 1));
        }
        std::string const number = std::to_string(segments);
        std::string const name = std::string(16 - number.size(), '0') + number + ".hfj";
        while (!world_.disk.has("data/journal/" + name)) {
            ++generation_;
            for (std::uint32_t slot = 3; slot <= shop_slots; ++slot) claim_and_end(slot);
        }
        ++generation_;
        world_.claim(held(), {3});
        HoldKey const sold = hold(shop_slots + ++sold_, generation_);
        world_.claim(sold, {shop_slots + sold_});
        Lsn const last = world_.sell(order(++orders_), {sold});
        REQUIRE(world_.journal->wait_durable(last));
    }
    [[nodiscard]] HoldKey held() const { return hold(1, generation_); }

private:
    void claim_and_end(std::uint32_t slot) {
        HoldKey const key = hold(slot, generation_);
        REQUIRE(world_.journal->wait_durable(world_.claim(key, {slot - 3})));
        if (slot != shop_slots) {
            world_.end(key);
            return;
        }
        world_.sell(order(++orders_), {key});
        world_.cancel(order(orders_), {key});
    }

    World& world_;
    std::uint64_t generation_{};
    std::uint64_t orders_{};
    std::uint32_t sold_{};
};

/// The next base file is made, named and used; what went wrong, if anything did.
inline std::string compact(Compaction& compaction, journal::SegmentStart const& start,
                           World& world) {
    auto failure = compaction.prepare(start);
    if (!failure) failure = compaction.begin_with(start, *world.journal);
    if (!failure) failure = compaction.delete_before(start);
    return failure ? failure->message : "";
}

/// What may go once everything is in the store. There must be something.
inline journal::SegmentStart found_by(Compaction const& compaction, World& world) {
    auto const found = compaction.find(world.journal->durable_lsn());
    if (!found) throw std::runtime_error{found.error().message};
    if (!*found) throw std::runtime_error{"no segment may go"};
    return **found;
}

inline std::size_t count_of(World& world, std::string const& ending) {
    auto const paths = world.disk.paths();
    return static_cast<std::size_t>(std::ranges::count_if(
        paths, [&](std::string const& path) { return path.ends_with(ending); }));
}

}  // namespace holdfast::engine::test
