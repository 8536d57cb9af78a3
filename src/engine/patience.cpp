#include "engine/patience.hpp"

#include <chrono>
#include <thread>

namespace holdfast::engine {
namespace {

constexpr int yields = 16;
constexpr std::chrono::microseconds nap{250};

}  // namespace

Patience::Patience(Milliseconds longest) noexcept
    : waits_left_(yields + static_cast<int>(longest / nap)) {}

bool Patience::lasts() {
    if (waits_left_ == 0) return false;
    bool const naps = yielded_ == yields;
    --waits_left_;
    if (naps) {
        std::this_thread::sleep_for(nap);
    } else {
        ++yielded_;
        std::this_thread::yield();
    }
    return true;
}

}  // namespace holdfast::engine
