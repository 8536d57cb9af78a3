// Buyer: one simulated client on one keep-alive connection.
//
// Purpose: claims, then pays, releases or goes away, again and again until nothing is left. The mix
// (per cent; fixed, so that runs can be compared):
//
//     claim   best available, 1-4 places 70 | named neighbours, 1-4 seats 20 | general, 1-4 10
//     then    pay 75 | release 12 | abandon 13, of which a quarter comes back too late to pay
//
// (Where a kind of place is sold out or does not exist the other kinds take its share; a named seat
// of a table that is sold as a whole brings all of the table.) A buyer who was refused looks at the
// map and names places; refused twice in a row, it waits a little. An order or release whose answer
// was lost, or is that the result is unknown, is sent again; such a claim is given up and left to
// expire. A server that takes no more changes ends the run. Where holds are long, nobody abandons
// any once half is sold, or the end would wait for each round of them.
// Thread safety: belongs to the loop's thread. Cost: a few microseconds a step.
#pragma once

#include "loadgen/market.hpp"

namespace holdfast::loadgen {

class Buyer {
public:
    Buyer(Market& market, std::uint64_t seed);
    Buyer(Buyer const&) = delete;
    Buyer& operator=(Buyer const&) = delete;

    void start() { step(); }
    /// After a pause: does what it was about to do.
    void resume();

private:
    enum class Next : std::uint8_t { claim, pay, pay_late, release };

    void step();
    void wait(std::uint32_t least_ms);
    void send(Query query, Histogram& latency, void (Buyer::*answered)(Outcome const&));
    void lost(Outcome const& outcome);
    [[nodiscard]] bool tells_the_result(Outcome const& outcome);
    void leave_open();

    [[nodiscard]] bool choose();
    void claim();
    void claimed(Outcome const& outcome);
    void claim_refused(Outcome const& outcome);
    void decide();
    void pay();
    void paid(Outcome const& outcome);
    void payment_refused(Outcome const& outcome);
    void read_order_again(std::string const& order);
    void order_read_again(Outcome const& outcome);
    void add_order(Outcome const& outcome);
    void pay_late();
    void paid_late(Outcome const& outcome);
    void release();
    void released(Outcome const& outcome);

    void broken(std::string_view verb, Outcome const& outcome);
    [[nodiscard]] HoldEntry& hold() { return market_.ledger.holds[hold_]; }
    [[nodiscard]] Fields proof();
    [[nodiscard]] std::string_view doing() const noexcept;

    Market& market_;
    Connection connection_;
    Dice dice_;
    Next next_{Next::claim};
    Wish wish_;
    std::size_t hold_{};  // index into the ledger
    std::uint32_t refused_in_a_row_{};
    std::uint32_t stops_seen_{};
    bool parked_{};
};

}  // namespace holdfast::loadgen
