// The cases on one thread, and the hot section on two.

#include "bench/figures.hpp"

#include <latch>
#include <random>
#include <thread>

namespace holdfast::bench {
namespace {

/// Sells a house pair by pair and frees it, again and again.
class Rounds {
public:
    Rounds(Size const& size, Figures& figures)
        : size_(size), figures_(figures), spec_(make_venue(size, 10)) {
        held_.reserve(size.seats() / 2);
    }

    void claims_releases_refusals() {
        MeasuredSale sale(spec_);
        PairClaim pair(sale);
        Rate claims;
        Rate releases;
        for (int round = 0; round < size_.rounds; ++round) {
            claims.measure([&] { return claim_all(pair); });
            if (round == 0) refusals(sale);
            releases.measure([&] { return release_all(sale); });
            sale.empty_wheel();
        }
        figures_.add(Figure::claims, claims.per_second());
        figures_.add(Figure::releases, releases.per_second());
    }

    void best_available() {
        MeasuredSale sale(spec_);
        auto const lines = best_two();
        engine::ClaimCommand const command{sale.event(), lines, 0, {}, false};
        std::vector<SeatIndex> places;
        Rate best;
        // A tenth of the rounds: each of these claims takes ten times as long.
        for (int round = 0; round < size_.rounds; round += 10) {
            held_.clear();
            best.measure([&] {
                for (;;) {
                    auto const hold = sale.engine().claim(command, MeasuredSale::now, places);
                    if (!hold) break;
                    held_.push_back(hold->name);
                }
                return held_.size();
            });
            require(held_.size() == size_.seats() / 2, "a house that is not sold out in pairs");
            release_all(sale);
            sale.empty_wheel();
        }
        figures_.add(Figure::best, best.per_second());
    }

    void expiry() {
        MeasuredSale sale(spec_);
        Milliseconds const ttl = limits::hold_ttl_lowest;
        PairClaim pair(sale, ttl);
        Rate expiry;
        TimePoint now = MeasuredSale::now;
        for (int round = 0; round < size_.rounds; ++round, now += std::chrono::hours{1}) {
            claim_all(pair, now);
            require(sale.engine().expire(now) == 0, "a hold that ends too early");
            expiry.measure([&] {
                std::uint64_t ended = 0;
                TimePoint tick = now + ttl;
                for (; ended < held_.size(); tick += limits::timer_tick) {
                    std::size_t const more = sale.engine().expire(tick);
                    require(more > 0, "a hold that does not end");
                    ended += more;
                }
                return ended;
            });
        }
        figures_.add(Figure::expiry, expiry.per_second());
    }

private:
    [[nodiscard]] static std::vector<engine::ClaimLine> best_two() {
        std::vector<engine::ClaimLine> lines(1);
        lines[0].kind = engine::ClaimLine::Kind::best;
        lines[0].best.quantity = 2;
        return lines;
    }
    std::uint64_t claim_all(PairClaim& pair, TimePoint now = MeasuredSale::now) {
        held_.clear();
        for (std::uint32_t seat = 0; seat < size_.seats(); seat += 2) {
            auto const hold = pair.claim(seat, now);
            require(hold.has_value(), "a free pair that cannot be had");
            held_.push_back(hold->name);
        }
        return held_.size();
    }
    std::uint64_t release_all(MeasuredSale& sale) {
        for (engine::HoldName const& hold : held_) {
            auto const lsn = sale.engine().release(hold, MeasuredSale::now);
            require(lsn.has_value(), "a hold that cannot be released");
            figures_.checksum += lsn->value() != 0 ? 1 : 0;
        }
        return held_.size();
    }
    void refusals(MeasuredSale& sale) {
        auto const lines = best_two();
        engine::ClaimCommand const command{sale.event(), lines, 0, {}, false};
        std::vector<SeatIndex> places;
        // The first refusal comes from a scan and keeps a verdict; it answers all the others.
        require(!sale.engine().claim(command, MeasuredSale::now, places), "a seat of a full house");
        require(engine::Engine::sold_out(command, MeasuredSale::now) == 0, "no kept verdict");
        Rate rate;
        rate.measure([&] {
            for (std::uint64_t i = 0; i < size_.refusals; ++i)
                figures_.checksum +=
                    sale.engine().claim(command, MeasuredSale::now, places).has_error() ? 1 : 0;
            return size_.refusals;
        });
        figures_.add(Figure::refusals, rate.per_second());
    }

    Size const& size_;
    Figures& figures_;
    std::shared_ptr<EventSpec const> spec_;
    std::vector<engine::HoldName> held_;
};

constexpr std::uint32_t hot_seats = 1'000;

/// Buyers who want two seats of one section at a time and give them back.
std::uint64_t buy_and_return(MeasuredSale& sale, std::uint32_t claims, std::uint64_t seed) {
    PairClaim pair(sale);
    std::minstd_rand random(static_cast<std::minstd_rand::result_type>(seed));
    std::uint64_t won = 0;
    for (std::uint32_t i = 0; i < claims; ++i) {
        auto const hold = pair.claim(2 * static_cast<std::uint32_t>(random() % (hot_seats / 2)));
        if (!hold) continue;  // the other thread has one of them just now
        require(sale.engine().release(hold->name, MeasuredSale::now).has_value(),
                "a hold that cannot be released");
        ++won;
    }
    return won;
}

double hot_rate(std::shared_ptr<EventSpec const> const& spec, Size const& size, unsigned threads) {
    MeasuredSale sale(spec);
    std::vector<std::uint64_t> won(threads);
    std::latch ready(threads + 1);
    std::vector<std::thread> buyers;
    for (unsigned thread = 0; thread < threads; ++thread) {
        buyers.emplace_back([&, thread] {
            ready.arrive_and_wait();
            won[thread] = buy_and_return(sale, size.hot_claims, thread + 1);
        });
    }
    Rate rate;
    ready.arrive_and_wait();
    rate.measure([&] {
        std::uint64_t all = 0;
        for (unsigned thread = 0; thread < threads; ++thread) {
            buyers[thread].join();
            all += won[thread];
        }
        return all;
    });
    return rate.per_second();
}

}  // namespace

void measure_engine(Size const& size, Figures& figures) {
    Rounds rounds(size, figures);
    rounds.claims_releases_refusals();
    rounds.best_available();
    rounds.expiry();
}

void measure_threads(Size const& size, Figures& figures) {
    auto const spec = make_venue(Size{hot_seats / 100, 100}, 10);
    double const one = hot_rate(spec, size, 1);
    double const two = hot_rate(spec, size, 2);
    figures.add(Figure::one_thread, one);
    figures.add(Figure::two_threads, two);
    figures.add(Figure::two_to_one, two / one);
}

}  // namespace holdfast::bench
