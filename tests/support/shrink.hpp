// Shrink: makes a failing sequence of commands as short as deleting parts of it can.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace holdfast::test {

/// `fails(sequence)` is true for the one given, and for the one returned. Deletes chunks, large
/// ones first, as long as that helps: in the end no single command can be left out.
template <class Command, class Fails>
std::vector<Command> shrink(std::vector<Command> sequence, Fails fails) {
    for (std::size_t chunk = std::max<std::size_t>(sequence.size() / 2, 1); chunk > 0;) {
        bool shorter = false;
        for (std::size_t at = 0; at < sequence.size();) {
            std::vector<Command> less(sequence.begin(),
                                      sequence.begin() + static_cast<std::ptrdiff_t>(at));
            std::size_t const end = std::min(at + chunk, sequence.size());
            less.insert(less.end(), sequence.begin() + static_cast<std::ptrdiff_t>(end),
                        sequence.end());
            if (fails(less)) {
                sequence = std::move(less);
                shorter = true;
            } else {
                at = end;
            }
        }
        if (!shorter || chunk > 1) chunk = chunk == 1 ? 0 : chunk / 2;
    }
    return sequence;
}

}  // namespace holdfast::test
