// The requests that are asked of a PoorHouse: every route, and every way by which they come.
#pragma once

#include "tests/app/poor_house.hpp"

#include <functional>
#include <string>
#include <vector>

namespace holdfast::app::test {

struct PoorRequest {
    char const* name{};
    /// As it is sent, whole.
    std::function<std::string(PoorHouse const&)> text;
    /// What is answered, with memory; of several in one batch each.
    std::vector<unsigned> answers;
    /// It has a key: asked again it is done, and once.
    bool keyed{};
    /// Of the admin listener.
    bool admin{};
};

[[nodiscard]] std::vector<PoorRequest> poor_changes();
[[nodiscard]] std::vector<PoorRequest> poor_reads();
[[nodiscard]] std::vector<PoorRequest> poor_ways();

}  // namespace holdfast::app::test
