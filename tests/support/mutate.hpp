// A text with a small fault in it, for tests of readers. One thread.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

namespace holdfast::test {

/// One character replaced, put in or a few taken out, at random; of an empty text "{}" is made.
inline void mutate(std::string& text, std::string_view alphabet, std::mt19937_64& random) {
    if (text.empty()) text = "{}";
    std::size_t const at = random() % text.size();
    char const other = alphabet[random() % alphabet.size()];
    switch (random() % 3) {
        case 0:
            text[at] = other;
            return;
        case 1:
            text.insert(at, 1, other);
            return;
        default:
            text.erase(at, 1 + random() % 4);
    }
    if (text.empty()) text = "{}";
}

}  // namespace holdfast::test
