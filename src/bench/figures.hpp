// Figures: what a benchmark of the engine measures, and how it is told.
//
// Purpose: one table of figures drives the cases, the table for people and the JSON object.
// Thread safety: one thread.
#pragma once

#include "bench/measured_sale.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::bench {

enum class Figure : std::uint8_t {
    claims,
    releases,
    best,
    refusals,
    expiry,
    one_thread,
    two_threads,
    two_to_one,
    bytes_a_seat,
    bytes_a_slot,
    bytes_of_layout,
    mutex_map,
    floor_seats,
    floor_all,
    floor_to_claims,
    count,
};

class Figures {
public:
    void add(Figure figure, double value) {
        values_[static_cast<std::size_t>(figure)].push_back(value);
    }
    /// The newest value.
    [[nodiscard]] double last(Figure figure) const {
        return values_[static_cast<std::size_t>(figure)].back();
    }
    [[nodiscard]] std::string json(Size const& size) const;
    [[nodiscard]] std::string table(Size const& size) const;

    std::uint32_t exchanges_a_claim{};  // atomic read-modify-writes
    std::uint64_t checksum{};           // printed, so that no work can be left out

private:
    struct Summary {
        double median{}, min{}, max{};
    };
    [[nodiscard]] Summary summary(std::size_t figure) const;

    std::array<std::vector<double>, static_cast<std::size_t>(Figure::count)> values_;
};

/// Takes each figure once.
void measure_engine(Size const& size, Figures& figures);
void measure_threads(Size const& size, Figures& figures);
void measure_memory(Size const& size, Figures& figures);
/// After measure_engine: one figure is a ratio to it.
void measure_baselines(Size const& size, Figures& figures);

}  // namespace holdfast::bench
