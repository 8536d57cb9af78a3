// Bench sale: sells out a venue over HTTP and checks that every promise was kept.
//
// Purpose: the driver behind `holdfast bench sale`; a client like any other, it knows only the API.
// Thread safety: run() blocks its caller; it makes its own threads.
// Cost: one thread of load for all clients.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace holdfast::loadgen {

struct SaleOptions {
    std::string url;                   // empty: start a server as a child of this executable
    std::filesystem::path executable;  // for the child
    std::filesystem::path plan;        // empty: the shipped demo plan
    std::string demo_plan;             // its text
    std::uint32_t clients{200};
    std::uint64_t seed{1};
    bool json{};
    std::string admin_token;  // with url; else the child's own
};

/// Prints progress and the report; 0 if every check holds, 1 if one fails or the run breaks.
[[nodiscard]] int run_sale(SaleOptions const& options);

}  // namespace holdfast::loadgen
