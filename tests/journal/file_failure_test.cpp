// What an errno means: want of something is never damage.
#include "journal/segment_files.hpp"

#include <holdfast/journal/file_failure.hpp>

#include <catch2/catch.hpp>
#include <cerrno>

namespace holdfast::journal::test {
namespace {

std::error_code errno_of(int number) {
    return {number, std::generic_category()};
}

}  // namespace

TEST_CASE("an errno is want, a lack of rights, a bad device, or nothing of the kind",
          "[journal][failure]") {
    for (int const number : {ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE, ENOMEM, EAGAIN}) {
        CAPTURE(number);
        CHECK(trouble_of(errno_of(number)) == Trouble::want);
        CHECK(exit_code_of(errno_of(number), Access::read) == 76);
        CHECK(exit_code_of(errno_of(number), Access::write) == 76);
        CHECK_FALSE(remedy_of(errno_of(number)).empty());
    }
    for (int const number : {EACCES, EPERM, EROFS}) {
        CAPTURE(number);
        CHECK(trouble_of(errno_of(number)) == Trouble::rights);
        CHECK(exit_code_of(errno_of(number), Access::read) == 76);
        CHECK_FALSE(remedy_of(errno_of(number)).empty());
    }
    for (int const number : {EIO, EUCLEAN, EBADMSG, ESTALE}) {
        CAPTURE(number);
        CHECK(trouble_of(errno_of(number)) == Trouble::device);
        CHECK(exit_code_of(errno_of(number), Access::read) == 77);
        CHECK(exit_code_of(errno_of(number), Access::write) == 76);
        CHECK_FALSE(remedy_of(errno_of(number)).empty());
    }
    for (int const number : {0, ENOENT, ENOTDIR, ELOOP, EINVAL, ENAMETOOLONG}) {
        CAPTURE(number);
        CHECK(trouble_of(errno_of(number)) == Trouble::none);
        CHECK(exit_code_of(errno_of(number), Access::read) == 1);
        CHECK(remedy_of(errno_of(number)).empty());
    }
    // A number of another kind of error is no errno.
    CHECK(trouble_of({ENOSPC, std::iostream_category()}) == Trouble::none);
}

TEST_CASE("a failure of a file names the file, the cause and the remedy", "[journal][failure]") {
    auto const full = file_failure("data/x", "cannot be written", errno_of(ENOSPC), Access::write);
    CHECK(full.exit_code == 76);
    CHECK(full.message ==
          "data/x: cannot be written: No space left on device; free space on its disk");
    auto const odd = file_failure("data/x", "cannot be read", errno_of(EISDIR), Access::read);
    CHECK(odd.exit_code == 1);
    CHECK(odd.message == "data/x: cannot be read: Is a directory");
}

TEST_CASE("a part of the journal that cannot be read is damage, but for want", "[journal]") {
    auto const bad = unreadable("x.hfj", 8, errno_of(EIO));
    CHECK(bad.exit_code == 77);
    CHECK_THAT(bad.message, Catch::Contains("at offset 8") && Catch::Contains("holdfast salvage"));
    CHECK(unreadable("x.hfj", 0, errno_of(EINVAL)).exit_code == 77);
    auto const want = unreadable("x.hfj", 0, errno_of(EMFILE));
    CHECK(want.exit_code == 76);
    CHECK_THAT(want.message, !Catch::Contains("damage") && !Catch::Contains("backup") &&
                                 Catch::Contains("file descriptors"));
}

}  // namespace holdfast::journal::test
