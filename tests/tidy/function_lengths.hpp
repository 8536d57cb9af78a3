// How long each function body is, by matching braces in clang-formatted code.
#pragma once

#include "source_file.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::tidy {

struct FunctionLength {
    std::string head;  // its last line, to name it
    std::size_t first_line{};
    std::size_t lines{};  // from the head's line with '{' to the closing brace
};

/// Functions at namespace or class level; a lambda or local class counts to the function around it.
[[nodiscard]] std::vector<FunctionLength> function_lengths(SourceFile const& file);

}  // namespace holdfast::tidy
