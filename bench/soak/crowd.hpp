// Crowd: the buyers and the staff of a soak, on one thread.
//
// Purpose: a steady load of all that may leave something behind: holds that expire, are given back
//   whole and in part, extended, exchanged and bought; orders that are cancelled and refunded;
//   requests with keys; blocks; events that are made, sold, closed and cancelled; reads;
//   connections kept and new. Orders acknowledged last are asked for again after each start.
// Thread safety: belongs to the loop's thread.
// Invariants: a request without an answer is lost while the server is away, and wrong at any other
//   time: also while it stops gracefully, if its connection had been accepted.
#pragma once

#include "loadgen/client.hpp"
#include "loadgen/dice.hpp"

#include <holdfast/base/histogram.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::soak {

using loadgen::Moment;
using loadgen::Query;
using loadgen::Reply;

inline constexpr char const* great_event = "great";
inline constexpr std::uint32_t seat_rows = 20;
inline constexpr std::uint32_t small_rows = 2;  // of an event that comes and goes
inline constexpr std::uint32_t seats_a_row = 50;

using loadgen::text_of;

struct Tally {
    Histogram claim_us;
    std::uint64_t claims{};                     // that got places
    std::uint64_t ends{}, orders{}, cancels{};  // answered with yes
    std::uint64_t other{};                      // extensions, exchanges, reads, blocks, events
    std::uint64_t refused{};                    // answered with no, as the server may
    std::uint64_t lost{};                       // without an answer, while the server was away
    std::uint64_t behind{};                     // claims left out because no buyer was free
    std::uint64_t wrong{};
};

struct CrowdOptions {
    std::size_t buyers{64};
    double rate{};  // claims a second; 0: as many as the buyers can make
    double orders_a_second{10};
    std::uint64_t seed{1};
    std::string admin_token;
    std::uint32_t places{2'000};  // of the great event's floor
    Milliseconds event_every{std::chrono::minutes{15}};
};

class Buyer;
class Staff;

class Crowd {
public:
    Crowd(loadgen::Loop& loop, CrowdOptions options);
    ~Crowd();
    Crowd(Crowd const&) = delete;
    Crowd& operator=(Crowd const&) = delete;

    /// Once, on a new server, by blocking calls: the event that is there all the time. Why not, if
    /// it cannot be made.
    [[nodiscard]] std::string open_great_event(loadgen::Url const& url) const;
    /// From now on the server is at `url`.
    void begin(loadgen::Url const& url);
    /// It is about to go: nothing new is asked. What is in flight is answered if it `drains`.
    void pause(bool drains) noexcept {
        away_ = true;
        drains_ = drains;
    }
    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }
    void set_rate(double rate) noexcept { options_.rate = rate; }
    /// Asks for what was acknowledged last, by blocking calls; how many orders it looked at.
    std::size_t check_kept(loadgen::Url const& url);

    /// Since the last call.
    [[nodiscard]] Tally take_tally();
    void note_wrong(std::string what);
    [[nodiscard]] std::string const& first_wrong() const noexcept { return first_wrong_; }
    [[nodiscard]] std::size_t events_made() const noexcept { return events_made_; }

private:
    friend class Buyer;
    friend class Staff;

    struct Order {
        enum class State { bought, asked_back, given_back };
        std::string id, token;
        Moment bought_at;
        State state{State::bought};
    };

    void tick();
    void send_buyers(Moment now);
    void give_orders_back(Moment now);
    void give_back(std::size_t number);
    void turn_events(Moment now);
    void make_small_event();
    void end_event(std::string const& id);
    void block_a_while();
    void note_lost(loadgen::Outcome const& outcome, char const* whom);
    void note_order(std::string id, std::string token);
    [[nodiscard]] bool may_order();
    /// A refusal that a good server may give.
    [[nodiscard]] bool may_refuse(Reply const& reply);

    loadgen::Loop& loop_;
    CrowdOptions options_;
    loadgen::Dice dice_;
    loadgen::Url url_;
    std::vector<std::unique_ptr<Buyer>> buyers_;
    // The longest idle first, so that no kept connection comes near the server's idle timer.
    std::deque<Buyer*> idle_;
    std::unique_ptr<Staff> staff_;
    std::deque<Order> orders_;   // oldest first
    std::size_t first_order_{};  // number of the oldest
    std::size_t next_back_{};    // number of the next to be given back
    std::string small_event_;    // on sale; empty: none
    std::size_t events_made_{};
    std::size_t in_flight_{};
    double claims_due_{};
    double orders_due_{};
    Moment ticked_{};
    Moment event_made_{};
    Moment blocked_{};
    bool away_{true};
    bool drains_{};  // it goes away, and answers what it was asked before
    bool ticks_{};
    Tally tally_;
    std::size_t wrongs_{};
    std::string first_wrong_;
};

}  // namespace holdfast::soak
