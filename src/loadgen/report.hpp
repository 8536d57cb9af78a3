// Report: what a bench sale found, for people and for machines.
//
// Thread safety: values.
#pragma once

#include "loadgen/market.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::loadgen {

struct Report {
    std::uint64_t seed{};
    std::uint32_t clients{};
    std::string plan;  // file name or "demo"
    std::string url;   // empty: own server
    std::uint64_t capacity{}, places_sold{}, orders{};
    double selling_s{};   // until sold out, without the time of the abrupt stop
    double bulk_s{};      // until 90 % were sold, likewise
    double restart_ms{};  // the longest from start to `ready`; 0: none
    std::uint32_t stops{};
    std::uint64_t requests_in_bulk{};
    std::uint64_t places_in_bulk{};
    Conduct conduct;
    std::uint64_t claims_unanswered{};
    std::vector<Check> checks;
    std::string failure;  // why the run broke; empty: it ran to its end

    [[nodiscard]] bool ok() const noexcept;
};

[[nodiscard]] std::string text_report(Report const& report);
[[nodiscard]] std::string json_report(Report const& report);

}  // namespace holdfast::loadgen
