#include "journal/word.hpp"

#include <catch2/catch.hpp>

namespace {

using holdfast::journal::FillWord;

constexpr std::uint64_t wrap = std::uint64_t{1} << FillWord::lsn_bits;

}  // namespace

TEST_CASE("a fill word keeps its three parts apart", "[journal][word]") {
    for (std::uint64_t const lsn : {std::uint64_t{0}, std::uint64_t{1}, wrap - 1}) {
        for (std::uint32_t const sequence : {0U, 1U, 15U}) {
            for (std::uint32_t const filled : {0U, 1U, (1U << 20) - 1}) {
                FillWord const word{lsn, sequence, filled};
                CHECK(word.lsn_low() == lsn);
                CHECK(word.sequence() == sequence);
                CHECK(word.filled() == filled);
                CHECK(FillWord{word.bits()}.bits() == word.bits());
            }
        }
    }
}

TEST_CASE("a record goes into the filling block exactly if it fits", "[journal][word]") {
    constexpr std::size_t capacity = 1'000;
    for (std::uint32_t filled = 0; filled <= capacity; ++filled) {
        FillWord const word{41, 7, filled};
        auto const next = word.with_record(300, capacity);
        CAPTURE(filled);
        REQUIRE(next.lsn_low() == 42);
        bool const fits = filled + 300 <= capacity;
        REQUIRE(next.sequence() == (fits ? 7U : 8U));
        REQUIRE(next.filled() == (fits ? filled + 300 : 300));
    }
}

TEST_CASE("LSN and sequence wrap without touching their neighbours", "[journal][word]") {
    FillWord const last{wrap - 1, 15, 900};
    auto const same = last.with_record(100, 1'000);
    CHECK(same.lsn_low() == 0);
    CHECK(same.sequence() == 15);
    CHECK(same.filled() == 1'000);
    auto const moved = last.with_record(101, 1'000);
    CHECK(moved.lsn_low() == 0);
    CHECK(moved.sequence() == 0);
    CHECK(moved.filled() == 101);
    auto const closed = last.closed();
    CHECK(closed.lsn_low() == wrap - 1);
    CHECK(closed.sequence() == 0);
    CHECK(closed.filled() == 0);
}

TEST_CASE("low bits are extended to the nearest LSN", "[journal][word]") {
    for (std::uint64_t const near :
         {std::uint64_t{5'000}, wrap - 3, wrap, wrap + 2, 7 * wrap - 1}) {
        for (std::int64_t ahead = -1'000; ahead <= 1'000; ++ahead) {
            std::uint64_t const lsn = near + static_cast<std::uint64_t>(ahead);
            CAPTURE(near, ahead);
            REQUIRE(FillWord::extend(lsn & FillWord::lsn_mask, near) == lsn);
        }
    }
}
