#include "engine/engine_core.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace holdfast::engine {
namespace {

constexpr int yields = 16;
constexpr int naps = 250;
constexpr int doublings_max = 4;  // from 64 microseconds to about a millisecond

}  // namespace

bool Patience::lasts() {
    if (waits_ == yields + naps) return false;
    int const nap = waits_++ - yields;
    if (nap < 0) {
        std::this_thread::yield();
    } else {
        std::this_thread::sleep_for(std::chrono::microseconds{64 << std::min(nap, doublings_max)});
    }
    return true;
}

}  // namespace holdfast::engine
