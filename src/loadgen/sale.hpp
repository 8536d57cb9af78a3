// Sale: the course of one bench sale, from an empty server to the verdict.
//
//     start -> event on sale -> buyers … half sold: kill -9, restart, read everything back …
//     buyers … sold out -> read everything back -> kill -9, restart -> read everything back
//
// Thread safety: one owner; everything runs on its thread.
// Invariants: run() always comes back with a report: every wait has a limit.
#pragma once

#include "loadgen/buyer.hpp"
#include "loadgen/host.hpp"
#include "loadgen/report.hpp"
#include "loadgen/watcher.hpp"

#include <holdfast/loadgen/bench_sale.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::loadgen {

class Sale {
public:
    explicit Sale(SaleOptions const& options);
    ~Sale();
    Sale(Sale const&) = delete;
    Sale& operator=(Sale const&) = delete;

    [[nodiscard]] Report run();

private:
    // Before. Each step returns false if the run is over; failure_ says why.
    [[nodiscard]] bool prepare();
    [[nodiscard]] bool connect();
    [[nodiscard]] bool create_event(std::string const& plan);
    [[nodiscard]] bool wait_until_open();
    [[nodiscard]] bool read_map();
    // During.
    [[nodiscard]] bool sell();
    void on_change();
    [[nodiscard]] bool turn();
    [[nodiscard]] bool stop_in_the_middle();
    void note_bulk();
    // After.
    [[nodiscard]] bool check_end();
    [[nodiscard]] bool stop_at_the_end();
    [[nodiscard]] std::vector<std::size_t> holds_alive(Moment stopped_at) const;
    [[nodiscard]] std::vector<std::size_t> holds_released() const;
    [[nodiscard]] std::vector<ReadBack> read_orders();
    [[nodiscard]] std::vector<ReadBack> read_holds(std::vector<std::size_t> const& which);
    [[nodiscard]] ReadBack read_back(std::size_t entry, std::string target,
                                     std::string const& token);
    [[nodiscard]] std::optional<Snapshot> read_state();

    [[nodiscard]] bool restart();
    void add_check(Check check, std::string_view when);
    [[nodiscard]] ResultOf<Reply, FetchError> call(Query query, bool as_admin = false);
    bool fail(std::string why);
    void tell(std::string const& line) const;
    void fill(Report& report);

    SaleOptions const& options_;
    Host host_;
    std::string event_;
    std::string plan_name_;
    Milliseconds hold_ttl_{};
    Url url_;
    std::unique_ptr<Session> session_;
    std::string failure_;
    Venue venue_;
    std::uint64_t blocked_at_start_{};
    std::vector<Check> checks_;

    Loop loop_;
    std::unique_ptr<Picture> picture_;
    std::unique_ptr<Market> market_;
    std::unique_ptr<Watcher> watcher_;
    std::vector<std::unique_ptr<Buyer>> buyers_;
    Moment began_{}, ended_{};
    Moment bulk_ended_{};  // unset: not yet
    std::chrono::steady_clock::duration stopped_for_{};
    std::chrono::steady_clock::duration stopped_in_bulk_{};
    std::uint64_t bulk_requests_{}, bulk_places_{};
};

}  // namespace holdfast::loadgen
