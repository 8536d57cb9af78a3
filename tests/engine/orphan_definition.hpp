// The orphan rule as its definition says it, for tests against random rows.
#pragma once

#include "tests/engine/drawn_house.hpp"

#include <string>
#include <vector>

namespace holdfast::engine::test {

/// The definition, as a plain sweep over the whole row: what was free and had a free neighbour, and
/// has none any more.
inline Names brute_orphans(std::string const& drawn, std::vector<bool> const& claimed,
                           bool lenient) {
    std::string row;
    std::vector<bool> aisle;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        if (drawn[i] == '|') continue;
        row += drawn[i];
        aisle.push_back(i > 0 && drawn[i - 1] == '|');
    }
    int const size = static_cast<int>(row.size());
    auto const category = [&](int i) { return row[i] == 'b'; };
    auto const was_free = [&](int i) { return row[i] == 'a' || row[i] == 'b'; };
    auto const cut = [&](int left) {
        return aisle[left + 1] || category(left) != category(left + 1);
    };
    Names orphans;
    for (int begin = 0; begin < size;) {
        int end = begin;
        int taken = 0;
        while (end < size && was_free(end) && (end == begin || !cut(end - 1)))
            taken += claimed[end++] ? 1 : 0;
        if (end == begin) ++end;
        bool const excused = lenient && end - begin == taken + 1;
        for (int i = begin; i < end && end - begin > 1 && !excused; ++i) {
            bool const left_free = i > begin && !claimed[i - 1];
            bool const right_free = i + 1 < end && !claimed[i + 1];
            if (claimed[i] || left_free || right_free) continue;
            auto const is_edge = [&](int other, int left) {
                return other >= 0 && other < size && (cut(left) || row[other] == 'x');
            };
            bool const meant =
                (i == begin && is_edge(i - 1, i - 1)) || (i + 1 == end && is_edge(i + 1, i));
            if (!meant) orphans.push_back("1-" + std::to_string(i + 1));
        }
        begin = end;
    }
    return orphans;
}

}  // namespace holdfast::engine::test
