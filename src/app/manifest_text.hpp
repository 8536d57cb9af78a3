// Manifest text: MANIFEST.json as text. Private to manifest.cpp and its tests.
//
// Purpose: JSON for people and tools, always written in one way. Thread safety: pure functions.
// Invariants: manifest_of takes just the texts that to_text gives. Cost: linear in the files.
#pragma once

#include "app/manifest.hpp"

#include <span>
#include <string>
#include <string_view>

namespace holdfast::app {

[[nodiscard]] std::string hexadecimal(std::span<unsigned char const> bytes);
[[nodiscard]] std::string to_text(Manifest const& manifest);
/// 77: no manifest; 78: of a newer format.
[[nodiscard]] ResultOf<Manifest, journal::Failure> manifest_of(std::string_view text);

}  // namespace holdfast::app
