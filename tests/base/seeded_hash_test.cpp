#include <holdfast/base/seeded_hash.hpp>

#include <catch2/catch.hpp>
#include <set>
#include <string>

using holdfast::SeededHash;

namespace {

using Address = std::array<std::uint8_t, 16>;

}  // namespace

TEST_CASE("a seeded hash is the same for copies and another for each seed", "[hash]") {
    SeededHash const one;
    SeededHash const copy = one;
    SeededHash const other;
    Address const address{1, 2, 3};
    CHECK(one(7) == copy(7));
    CHECK(one(address) == copy(address));
    CHECK(one("abc") == copy("abc"));
    CHECK(one(7) != other(7));
    CHECK(one(address) != other(address));
    CHECK(one("abc") != other("abc"));
    CHECK(SeededHash{5}(7) == SeededHash{5}(7));
}

TEST_CASE("every part of a key moves its hash", "[hash]") {
    SeededHash const hash{4'711};
    std::set<std::size_t> addresses;
    for (std::size_t byte = 0; byte < 16; ++byte) {
        for (unsigned value = 1; value < 256; ++value) {
            Address address{};
            address[byte] = static_cast<std::uint8_t>(value);
            addresses.insert(hash(address));
        }
    }
    CHECK(addresses.size() == 16 * 255);
    std::set<std::size_t> texts;
    for (std::size_t length = 0; length < 100; ++length)
        texts.insert(hash(std::string(length, '\0')));
    for (std::size_t at = 0; at < 100; ++at) {
        std::string changed(100, 'a');
        changed[at] = 'b';
        texts.insert(hash(changed));
    }
    CHECK(texts.size() == 200);
}

TEST_CASE("keys that follow each other spread over the buckets", "[hash]") {
    SeededHash const hash{4'711};
    std::array<int, 64> buckets{};
    for (std::uint64_t key = 0; key < 64'000; ++key) ++buckets[hash(key) % buckets.size()];
    for (int const count : buckets) {
        CHECK(count > 800);
        CHECK(count < 1'200);
    }
}
