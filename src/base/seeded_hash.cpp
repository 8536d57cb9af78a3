#include <holdfast/base/entropy.hpp>
#include <holdfast/base/seeded_hash.hpp>

#include <cstddef>
#include <span>

namespace holdfast {

SeededHash::SeededHash() : seed_() {
    system_entropy().fill(std::as_writable_bytes(std::span{&seed_, 1}));
}

}  // namespace holdfast
