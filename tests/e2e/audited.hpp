// The audit of a folder at rest, by the program itself.
#pragma once

#include "tests/e2e/program.hpp"
#include "tests/support/child.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

namespace holdfast::test {

/// It counts from the journal alone, and so finds contradictions that no answer shows.
inline void check_audit(std::filesystem::path const& data) {
    auto const audit = run({program, "audit", "--data", data.string()});
    INFO(audit.errors << audit.output);
    REQUIRE(audit.exit_code == 0);
}

}  // namespace holdfast::test
