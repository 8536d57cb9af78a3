// How long each function body is, by matching braces in clang-formatted code.
#pragma once

#include "source_file.hpp"

#include <cstddef>
#include <vector>

namespace holdfast::tidy {

struct FunctionLength {
    std::size_t first_line{};  // the one with '{', counted from 1
    std::size_t lines{};       // down to the closing brace
};

/// Functions at namespace or class level; a lambda or local class counts to the function around it.
[[nodiscard]] std::vector<FunctionLength> function_lengths(SourceFile const& file);

}  // namespace holdfast::tidy
