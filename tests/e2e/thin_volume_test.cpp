// A volume that promised more space than there is behind it (RELIABILITY.md F1, and 4.2, row 17):
// what is written to it is accepted, then cannot be synced, and the kernel calls it clean.
#include "tests/e2e/audited.hpp"
#include "tests/e2e/faulty_server.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/shoppers.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <fcntl.h>
#include <iostream>
#include <linux/falloc.h>
#include <optional>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

/// What a thin volume does with blocks of zeros, as those of a spare segment: it keeps none. Nobody
/// may write to the image meanwhile.
void give_zeros_back(std::filesystem::path const& image) {
    int const fd = ::open(image.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(fd >= 0);
    std::array<char, 4'096> block{};
    off_t const end = ::lseek(fd, 0, SEEK_END);
    for (off_t at = ::lseek(fd, 0, SEEK_DATA); at >= 0 && at < end;
         at = ::lseek(fd, at + std::ssize(block), SEEK_DATA)) {
        ssize_t const got = ::pread(fd, block.data(), block.size(), at);
        if (got != std::ssize(block)) break;
        bool const zeros = std::ranges::all_of(block, [](char byte) { return byte == 0; });
        if (!zeros) continue;
        int const done =
            ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, std::ssize(block));
        if (done != 0) break;
    }
    ::close(fd);
}

void fill(std::filesystem::path const& file) {
    auto const left = std::filesystem::space(file.parent_path()).available;
    int const fd = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    REQUIRE(::posix_fallocate(fd, 0, static_cast<off_t>(left)) == 0);
    ::close(fd);
}

void sync_all(std::filesystem::path const& folder) {
    int const fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(::syncfs(fd) == 0);
    ::close(fd);
}

bool has_failed(ServerProcess& server) {
    return call(server.admin_url(), "GET", "/metrics").body.find("\nholdfast_mode 3") !=
           std::string::npos;
}

bool follows_not(ServerProcess& server) {
    return call(server.admin_url(), "GET", "/metrics").body.find("\nholdfast_store_degraded 1") !=
           std::string::npos;
}

int status_of_new_event(ServerProcess& server, std::string const& name) {
    std::string const body =
        R"({"id":")" + name +
        R"(","name":"E","categories":[{"key":"std","name":"S","price":4500}],)" +
        R"("sections":[{"id":"A","name":"A","category":"std","rows":[{"label":"1","seats":9}]}]})";
    return call(server.url(), "POST", "/v1/events", body, std::string("Bearer ") + admin_token)
        .status;
}

template <class Condition>
bool in_time(Condition const& condition) {
    auto const deadline = std::chrono::steady_clock::now() + 40s;
    while (std::chrono::steady_clock::now() < deadline)
        if (condition()) return true;
    return false;
}

/// While it lives the kernel drops no page of the file, whoever asks for it.
class KeptInMemory {
public:
    explicit KeptInMemory(std::filesystem::path const& file)
        : bytes_(std::filesystem::file_size(file)) {
        int const fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
        at_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
        ::close(fd);
        REQUIRE(at_ != MAP_FAILED);
    }
    ~KeptInMemory() { ::munmap(at_, bytes_); }
    KeptInMemory(KeptInMemory const&) = delete;
    KeptInMemory& operator=(KeptInMemory const&) = delete;

private:
    std::size_t bytes_;
    void* at_;
};

/// A start without another mount, on what the kernel has in memory. It may be refused.
bool starts_again(std::filesystem::path const& data, Ledger& ledger) {
    FaultyServer server(data, "");
    if (!server.started()) {
        INFO(server.why_not());
        CHECK(server.why_not().find("exit 76") != std::string::npos);
        return false;
    }
    ledger.check(server->url(), true);
    server->kill();
    return true;
}

}  // namespace

TEST_CASE("P3 P9: a thin volume that is full loses nothing that was acknowledged", "[e2e][disk]") {
    if (auto const why = why_no_own_mounts(); !why.empty()) {
        std::cout << "thin volume test: skipped, " << why << "\n";
        return;
    }
    std::mt19937_64 random(seed_of_run("thin volume"));
    TempFolder const folder;
    auto const backing = folder.path() / "backing";
    Tmpfs const memory(backing, 96U << 20);
    auto const image = backing / "image";
    Ext4 const disk(image, folder.path() / "disk", std::uint64_t{1} << 30);
    auto const data = folder.path() / "disk" / "data";
    int again = 0;
    long const cycles = cycles_of_run("HOLDFAST_THIN_VOLUMES", 2, 5);
    Ledger ledger;
    for (long cycle = 0; cycle < cycles; ++cycle) {
        CAPTURE(cycle);
        {
            ServerProcess server({.data = data, .flags = {}, .variables = small_variables()});
            if (cycle == 0) make_show(server.url());
            Buyer before(server.url(), random(), Habits::all);
            for (int visit = 0; visit < 10 && before.visit(); ++visit) continue;
            CHECK_FALSE(before.was_refused());
            ledger.add(before);
            server.pause();
            sync_all(folder.path() / "disk");
            give_zeros_back(image);
            fill(backing / "filler");
            server.child().signal(SIGCONT);
            Buyer after(server.url(), random(), Habits::all);
            for (int visit = 0; visit < 2'000 && after.visit(); ++visit) continue;
            CHECK(after.was_refused());
            CHECK(has_failed(server));
            ledger.add(after);
            CHECK(call(server.url(), "GET", "/v1/events/show").status == 200);
            server.kill();
        }
        std::filesystem::remove(backing / "filler");
        again += starts_again(data, ledger) ? 1 : 0;
        disk.mount_again();
        ServerProcess server({.data = data, .flags = {}, .variables = small_variables()});
        ledger.check(server.url(), true);
        CHECK(server.stop() == 0);
    }
    check_audit(data);
    std::cout << "thin volume test: " << cycles << " full volumes, " << again
              << " starts without another mount, " << ledger.size()
              << " acknowledged holds, nothing lost\n";
    CHECK(ledger.size() > 0);
}

TEST_CASE("P3 P9: an event made after a sync of store.db failed is as durable as any",
          "[e2e][disk]") {
    if (auto const why = why_no_own_mounts(); !why.empty()) {
        std::cout << "thin volume test: skipped, " << why << "\n";
        return;
    }
    // Of what could not be written the kernel drops what it likes.
    bool const keeps_it = GENERATE(false, true);
    CAPTURE(keeps_it);
    TempFolder const folder;
    auto const backing = folder.path() / "backing";
    Tmpfs const memory(backing, 96U << 20);
    Ext4 const disk(backing / "image", folder.path() / "disk", std::uint64_t{1} << 30);
    auto const data = folder.path() / "disk" / "data";
    {
        ServerProcess server({.data = data, .flags = {}, .variables = small_variables()});
        make_show(server.url());
        CHECK(server.stop() == 0);
    }
    {
        // The journal has its blocks already, the WAL of store.db needs new ones.
        ServerProcess server({.data = data, .flags = {}, .variables = small_variables()});
        Buyer buyer(server.url(), seed_of_run("thin volume of a store"));
        CHECK(buyer.visit());
        server.pause();
        sync_all(folder.path() / "disk");
        fill(backing / "filler");
        server.child().signal(SIGCONT);
        CHECK(status_of_new_event(server, "refused") == 503);
        CHECK(follows_not(server));
        std::optional<KeptInMemory> kept_wal;
        std::optional<KeptInMemory> kept_file;
        if (keeps_it) kept_wal.emplace(data / "store.db-wal");
        if (keeps_it) kept_file.emplace(data / "store.db");
        // Something that SQLite has yet to follow.
        CHECK(buyer.visit());
        std::filesystem::remove(backing / "filler");
        CHECK(in_time([&] { return !follows_not(server); }));
        CHECK(in_time([&] { return status_of_new_event(server, "kept") == 202; }));
        server.kill();
    }
    disk.mount_again();
    ServerProcess server({.data = data, .flags = {}, .variables = small_variables()});
    CHECK(call(server.url(), "GET", "/v1/events/kept").status == 200);
    CHECK(server.stop() == 0);
    check_audit(data);
}
