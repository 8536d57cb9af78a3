// Times and order ids for tests of facts.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/ids.hpp>

#include <cstdint>

namespace holdfast::engine::test {

inline TimePoint at(std::int64_t ms) {
    return TimePoint{Milliseconds{ms}};
}
inline OrderId order(std::uint64_t number) {
    return {7, number};
}

}  // namespace holdfast::engine::test
