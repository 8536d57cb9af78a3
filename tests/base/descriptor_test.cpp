#include <holdfast/base/descriptor.hpp>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <utility>

namespace holdfast {
namespace {

Descriptor opened() {
    return Descriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
}

bool is_descriptor(int fd) {
    return ::fcntl(fd, F_GETFD) >= 0;
}

}  // namespace

TEST_CASE("a descriptor is closed with its object", "[base][descriptor]") {
    int fd = -1;
    {
        Descriptor const one = opened();
        fd = one.get();
        CHECK(one.is_open());
        CHECK(is_descriptor(fd));
    }
    CHECK_FALSE(is_descriptor(fd));
    CHECK_FALSE(Descriptor{}.is_open());
}

TEST_CASE("who is moved from has no descriptor, and what was there before is closed",
          "[base][descriptor]") {
    Descriptor from = opened();
    Descriptor to = opened();
    int const moved = from.get();
    int const before = to.get();
    REQUIRE(moved != before);
    to = std::move(from);
    CHECK(to.get() == moved);
    CHECK(is_descriptor(moved));
    CHECK_FALSE(from.is_open());
    CHECK_FALSE(is_descriptor(before));
    Descriptor const last = std::move(to);
    CHECK(last.get() == moved);
    CHECK_FALSE(to.is_open());
}

TEST_CASE("a descriptor that is given nothing lets go of what it had", "[base][descriptor]") {
    Descriptor one = opened();
    int const fd = one.get();
    one = Descriptor{};
    CHECK_FALSE(one.is_open());
    CHECK_FALSE(is_descriptor(fd));
}

}  // namespace holdfast
