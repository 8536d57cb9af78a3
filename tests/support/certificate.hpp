// A self-signed certificate and its key, made at run time for one test.
//
// Thread safety: a function. Cost: an ECDSA key, under a millisecond.
#pragma once

#include <string>

namespace holdfast::test {

struct Certificate {
    std::string certificate;  // PEM
    std::string key;          // PEM
};

[[nodiscard]] Certificate make_certificate(std::string const& name);

}  // namespace holdfast::test
