// What the claims are compared with, in the same run: a hash map under a mutex, and bare CAS.

#include "bench/figures.hpp"

#include <holdfast/inventory/restore.hpp>
#include <holdfast/inventory/search.hpp>
#include <holdfast/timer/wheel.hpp>

#include <mutex>
#include <unordered_map>
#include <utility>

namespace holdfast::bench {
namespace {

using inventory::StdAtomics;
using Word = StdAtomics::Atomic<std::uint64_t>;

double mutex_map_rate(Size const& size, Figures& figures) {
    std::mutex mutex;
    std::unordered_map<std::uint32_t, std::uint64_t> owners;
    owners.reserve(size.seats());
    Rate rate;
    for (int round = 0; round < size.rounds; ++round) {
        rate.measure([&] {
            for (std::uint32_t seat = 0; seat < size.seats(); seat += 2) {
                std::scoped_lock const lock(mutex);
                require(!owners.contains(seat) && !owners.contains(seat + 1), "a seat owned twice");
                owners[seat] = owners[seat + 1] = seat + 1;
            }
            return std::uint64_t{size.seats() / 2};
        });
        figures.checksum += owners.size();
        owners.clear();
    }
    return rate.per_second();
}

/// Counts what a claim does to shared words: the product's own claims, on atomics that count.
struct CountedAtomics {
    static inline std::uint32_t exchanges = 0;
    static constexpr auto relaxed = StdAtomics::relaxed;
    static constexpr auto acquire = StdAtomics::acquire;
    static constexpr auto release = StdAtomics::release;
    static constexpr auto acq_rel = StdAtomics::acq_rel;
    using Order = std::memory_order;

    template <class T>
    class Atomic {
    public:
        Atomic(T value = T{}) : value_(value) {}
        T load(Order) const { return value_; }
        void store(T value, Order) { value_ = value; }
        T exchange(T value, Order) { return change(value); }
        T fetch_add(T by, Order) { return change(static_cast<T>(value_ + by)); }
        T fetch_or(T bits, Order) { return change(static_cast<T>(value_ | bits)); }
        T fetch_and(T bits, Order) { return change(static_cast<T>(value_ & bits)); }
        bool compare_exchange_strong(T& expected, T wanted, Order, Order) {
            T const before = change(value_ == expected ? wanted : value_);
            bool const good = before == expected;
            expected = before;
            return good;
        }
        bool compare_exchange_weak(T& expected, T wanted, Order good, Order bad) {
            return compare_exchange_strong(expected, wanted, good, bad);
        }

    private:
        T change(T next) {
            ++exchanges;
            return std::exchange(value_, next);
        }
        T value_;
    };
};

struct CountedFacts {
    bool reserve_claim(std::uint32_t) noexcept { return true; }
    void give_back_claim(std::uint32_t) noexcept {}
    Lsn claim(HoldRef, inventory::ClaimTerms const&, std::span<SeatIndex const>) noexcept {
        ++CountedAtomics::exchanges;  // the journal's counter
        return Lsn{1};
    }
    bool reserve_end() noexcept { return true; }
    void give_back_end() noexcept {}
    Lsn end(HoldRef, inventory::State) noexcept { return Lsn{1}; }
    void arm(SlotIndex slot) { wheel.arm(slot); }
    timer::Wheel<CountedAtomics> wheel{8, Milliseconds{1'000}};
};

std::uint32_t exchanges_of_a_claim() {
    inventory::Geometry const geometry(make_venue(Size::quick(), 10)->layout);
    inventory::Places<CountedAtomics> places(geometry, 8);
    inventory::Restore<CountedAtomics>(places, {}).finish();
    CountedFacts facts;
    inventory::Claims<CountedAtomics, CountedFacts> claims(places, facts);
    CountedAtomics::exchanges = 0;
    std::vector<SeatIndex> const seats{SeatIndex{0}, SeatIndex{1}};
    TimePoint const now = MeasuredSale::now;
    auto const outcome = claims.claim(seats, {now, now + std::chrono::minutes{5}, 0});
    require(outcome.kind == inventory::ClaimOutcome::Kind::won, "a free pair that cannot be had");
    return CountedAtomics::exchanges;
}

void swap_in(Word& word, std::uint64_t value) {
    std::uint64_t before = word.load(StdAtomics::relaxed);
    require(word.compare_exchange_strong(before, value, StdAtomics::acq_rel, StdAtomics::relaxed),
            "a CAS that fails on one thread");
}

/// The memory of a claim and its CAS, with nothing between them: one a seat, the rest on the hold's
/// slot, the word of hints, and the words that all claims share.
class Floor {
public:
    explicit Floor(Size const& size)
        : size_(size), owners_(size.seats()), hints_(size.seats() / 64 + 1), slots_(size.seats()) {}

    double rate(std::uint32_t exchanges_a_claim) {
        Rate rate;
        for (int round = 0; round < size_.rounds; ++round) {
            rate.measure([&] {
                for (std::uint32_t seat = 0; seat < size_.seats(); seat += 2)
                    claim(seat, exchanges_a_claim);
                return std::uint64_t{size_.seats() / 2};
            });
        }
        return rate.per_second();
    }
    [[nodiscard]] std::uint64_t sum() const { return owners_.back().load(StdAtomics::relaxed); }

private:
    struct alignas(64) Slot {
        Word word{0};
    };
    void claim(std::uint32_t seat, std::uint32_t exchanges_a_claim) {
        swap_in(owners_[seat], seat + 1);
        swap_in(owners_[seat + 1], seat + 1);
        Word* const others[] = {&shared_[0].word, &slots_[seat / 2].word, &hints_[seat / 64],
                                &shared_[1].word, &shared_[2].word};
        for (std::uint32_t i = 2; i < exchanges_a_claim; ++i)
            swap_in(*others[(i - 2) % std::size(others)], seat + i);
    }

    Size const& size_;
    std::vector<Word> owners_, hints_;
    std::vector<Slot> slots_;
    Slot shared_[3];
};

}  // namespace

void measure_baselines(Size const& size, Figures& figures) {
    figures.exchanges_a_claim = exchanges_of_a_claim();
    Floor floor(size);
    double const two = floor.rate(2);
    double const all = floor.rate(figures.exchanges_a_claim);
    figures.checksum += floor.sum();
    figures.add(Figure::mutex_map, mutex_map_rate(size, figures));
    figures.add(Figure::floor_seats, two);
    figures.add(Figure::floor_all, all);
    figures.add(Figure::floor_to_claims, all / figures.last(Figure::claims));
}

}  // namespace holdfast::bench
