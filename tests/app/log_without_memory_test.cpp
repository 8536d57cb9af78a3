// The log's own thread without memory: lines are lost and counted, and the log goes on.
#include "tests/engine/failing_memory.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/base/log.hpp>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace holdfast::app::test {

TEST_CASE("P9: lines that the log has no memory for are counted, and it goes on", "[app][memory]") {
    holdfast::test::TempFolder const folder;
    auto const file = folder.path() / "log";
    log::start({.level = log::Level::info, .file = file.string()});
    std::uint64_t const dropped = log::dropped();
    engine::test::fail_allocation_of({"log"}, 1, true);
    auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    std::string const text(2'000, 'x');  // more than a line has room for without memory
    log::info("before", {{"text", text}});
    while (log::dropped() == dropped && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    CHECK(log::dropped() == dropped + 1);
    CHECK(engine::test::end_of_failing());
    log::info("after", {{"text", text}});
    log::stop();
    std::ifstream stream(file);
    std::string const lines{std::istreambuf_iterator<char>(stream), {}};
    CHECK(lines.find("after") != std::string::npos);
    CHECK(lines.find("before") == std::string::npos);
}

}  // namespace holdfast::app::test
