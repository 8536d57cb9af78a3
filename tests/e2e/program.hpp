// The executable that the end-to-end tests run.
#pragma once

#include <string>

inline std::string const program = HOLDFAST_EXECUTABLE;
