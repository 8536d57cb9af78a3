// Linear: is a recorded concurrent history one of some sequential order? After Wing and Gong, with
// memory of what has been tried.
//
// Purpose: every operation has a call time and a return time; a history is linearizable if the
//   operations can be put in one order that keeps "returned before the other was called" and in
//   which the sequential State allows every result. State: copyable, ordered by <, and
//   `bool apply(Op const&)`: whether the operation with its result is allowed now; applies it.
// Thread safety: none needed.
// Cost: exponential in the operations that overlap, at worst; at most 64 operations.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace holdfast::test {

template <class Op>
struct Recorded {
    Op op;
    std::uint64_t called{};
    std::uint64_t returned{};
};

template <class State, class Op>
bool linearizable(std::vector<Recorded<Op>> const& history, State const& initial) {
    std::uint64_t const all =
        history.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << history.size()) - 1;
    using Point = std::pair<std::uint64_t, State>;  // which operations are done, and the state then
    std::set<Point> seen;
    std::vector<Point> open{{0, initial}};
    while (!open.empty()) {
        Point const point = std::move(open.back());
        open.pop_back();
        if (point.first == all) return true;
        // An operation may be next if none that is left has returned before it was called.
        std::uint64_t first_return = ~std::uint64_t{0};
        for (std::size_t i = 0; i < history.size(); ++i) {
            bool const left = (point.first >> i & 1U) == 0;
            if (left && history[i].returned < first_return) first_return = history[i].returned;
        }
        for (std::size_t i = 0; i < history.size(); ++i) {
            if ((point.first >> i & 1U) != 0 || history[i].called > first_return) continue;
            Point next{point.first | std::uint64_t{1} << i, point.second};
            if (next.second.apply(history[i].op) && seen.insert(next).second)
                open.push_back(std::move(next));
        }
    }
    return false;
}

}  // namespace holdfast::test
