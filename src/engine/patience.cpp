#include "engine/patience.hpp"

#include <thread>

namespace holdfast::engine {

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
