#include <holdfast/base/assert.hpp>
#include <holdfast/base/entropy.hpp>

#include <cerrno>
#include <sys/random.h>

namespace holdfast {

void SystemEntropy::fill(std::span<std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        ssize_t const got = ::getrandom(bytes.data(), bytes.size(), 0);
        if (got < 0 && errno == EINTR) continue;  // while a machine that has just begun has none
        HOLDFAST_ASSERT(got > 0);
        bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
}

Entropy& system_entropy() noexcept {
    static SystemEntropy entropy;
    return entropy;
}

}  // namespace holdfast
