#include "app/worker_pool.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <future>
#include <pthread.h>
#include <set>
#include <stdexcept>
#include <string>

using namespace holdfast::app;

TEST_CASE("a full pool refuses, and runs what it took before it stops", "[app][workers]") {
    std::mutex mutex;
    int ran = 0;
    auto const count = [&] {
        std::lock_guard const lock(mutex);
        ++ran;
    };
    std::promise<void> started;
    std::promise<void> go;
    WorkerPool pool(1, 2);
    REQUIRE(pool.submit([&] {
        started.set_value();
        go.get_future().wait();
        count();
    }));
    started.get_future().wait();
    CHECK(pool.submit(count));
    CHECK(pool.submit(count));
    CHECK_FALSE(pool.submit(count));
    go.set_value();
    pool.stop();
    CHECK(ran == 3);
    CHECK_FALSE(pool.submit(count));
    CHECK(ran == 3);
}

TEST_CASE("jobs run on threads of that name, and a failing one ends nothing", "[app][workers]") {
    std::promise<std::string> name;
    WorkerPool pool(1, 8);
    REQUIRE(pool.submit([] { throw std::runtime_error("planted"); }));
    REQUIRE(pool.submit([&] {
        std::array<char, 16> text{};
        pthread_getname_np(pthread_self(), text.data(), text.size());
        name.set_value(text.data());
    }));
    CHECK(name.get_future().get() == "worker-0");
}
