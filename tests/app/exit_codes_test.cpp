#include "app/exit_codes.hpp"

#include <boost/system/system_error.hpp>
#include <catch2/catch.hpp>
#include <new>
#include <stdexcept>
#include <system_error>

using namespace holdfast::app;

TEST_CASE("an exception that nobody catches ends with 76 if something was wanting", "[app][exit]") {
    auto const code = [](std::errc error) { return std::make_error_code(error); };
    auto const thread =
        ending_of(std::system_error(code(std::errc::resource_unavailable_try_again)));
    CHECK(thread.exit_code == exit_not_durable);
    CHECK_THAT(thread.why, Catch::StartsWith("a thread cannot be started: ") &&
                               Catch::Contains("more threads (ulimit -u, TasksMax=)"));
    auto const epoll =
        ending_of(std::system_error(code(std::errc::too_many_files_open), "epoll_create1"));
    CHECK(epoll.exit_code == exit_not_durable);
    CHECK_THAT(epoll.why, Catch::StartsWith("epoll_create1: ") && Catch::Contains("LimitNOFILE="));
    boost::system::error_code const none{ENFILE, boost::system::system_category()};
    CHECK(ending_of(boost::system::system_error(none, "socket")).exit_code == exit_not_durable);
    auto const memory = ending_of(std::bad_alloc());
    CHECK(memory.exit_code == exit_not_durable);
    CHECK(memory.why == "there is no memory left; let the process have more memory");
    // An address or a config is not as it must be.
    auto const used = ending_of(std::system_error(code(std::errc::address_in_use), "listening"));
    CHECK(used.exit_code == exit_failed);
    CHECK_THAT(used.why, Catch::StartsWith("listening: "));
    CHECK(ending_of(std::system_error(code(std::errc::permission_denied))).exit_code ==
          exit_failed);
    CHECK(ending_of(std::runtime_error("no")).exit_code == exit_failed);
    CHECK(ending_of(std::runtime_error("no")).why == "no");
}
