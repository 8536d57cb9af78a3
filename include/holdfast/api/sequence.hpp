// Sequence: how facts are numbered for those who follow an event.
//
// Purpose: the number of a state document and of a delta is that of a record of the journal, moved
//   so that numbers of two lives of the server never meet: records that a crash undid are made
//   again with other content, and a client that knew them must be told to begin anew.
// Thread safety: a value. Invariants: a life's numbers begin with its start in microseconds since
//   1970, so they are above all earlier ones (no life makes a million records a second all the
//   while) and whole in a double until 2255.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/ids.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::api {

struct Sequence {
    std::uint64_t first{};  // the number of `from`
    Lsn from{};

    /// Of a life that begins now, with `from` as its newest fact.
    [[nodiscard]] static Sequence begun(TimePoint now, Lsn from) noexcept {
        using std::chrono::microseconds;
        auto const since_1970 = std::chrono::duration_cast<microseconds>(now.time_since_epoch());
        return {static_cast<std::uint64_t>(since_1970.count()), from};
    }
    [[nodiscard]] std::uint64_t number(Lsn fact) const noexcept {
        return first + (fact.value() - from.value());
    }
    /// Nothing: a number of an earlier life, or of none.
    [[nodiscard]] std::optional<Lsn> fact(std::uint64_t number) const noexcept {
        if (number < first) return std::nullopt;
        return Lsn{from.value() + (number - first)};
    }
};

}  // namespace holdfast::api
