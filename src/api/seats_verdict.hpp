// Seats verdict: what reading a body that names seats comes to.
//
// Purpose: the decoders of claims and blocks say it in the same words. Thread safety: plain data.
#pragma once

#include <cstdint>

namespace holdfast::api {

enum class SeatsVerdict : std::uint8_t {
    good,
    input_error,      // the decoder's error() says where and what
    unknown_seats,    // its offenders() are the names, as sent
    duplicate_seats,  // its offenders() are the seats named twice
    inseparable,      // a part of a group; its offenders() are all of the group
};

}  // namespace holdfast::api
