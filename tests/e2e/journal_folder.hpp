// What a data folder's journal shows from outside.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace holdfast::test {

/// The number of the oldest segment that is left; it grows with each deletion.
inline std::uint64_t first_segment(std::filesystem::path const& data) {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    for (auto const& entry : std::filesystem::directory_iterator(data / "journal")) {
        if (entry.path().extension() != ".hfj") continue;
        first = std::min<std::uint64_t>(first, std::stoull(entry.path().stem().string()));
    }
    return first;
}

}  // namespace holdfast::test
