#include "tests/engine/failing_memory.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <sys/prctl.h>

namespace {
thread_local bool allocations_fail = false;
thread_local long until_failure = 0;  // 0: never
thread_local bool failure_lasts = false;
thread_local bool has_failed = false;
thread_local int with_memory = 0;

/// Of threads by their names. Who meets it while it is changed may count for either plan.
struct PlanByName {
    std::atomic<bool> on{false};
    std::array<std::atomic<char const*>, 8> names{};
    std::atomic<long> nth{0};
    std::atomic<bool> lasting{false};
    std::atomic<long> allocations{0};
    std::atomic<bool> met{false};
};
PlanByName by_name;

bool is_named() noexcept {
    std::array<char, 16> name{};
    ::prctl(PR_GET_NAME, name.data(), 0, 0, 0);
    for (auto const& each : by_name.names) {
        char const* const wanted = each.load();
        if (wanted != nullptr && std::strncmp(name.data(), wanted, std::strlen(wanted)) == 0)
            return true;
    }
    return false;
}

bool next_of_named_fails() noexcept {
    if (!by_name.on.load() || !is_named()) return false;
    long const number = by_name.allocations.fetch_add(1) + 1;
    if (number != by_name.nth.load() && !(by_name.lasting.load() && number > by_name.nth.load()))
        return false;
    by_name.met.store(true);
    return true;
}

bool next_fails() noexcept {
    if (with_memory > 0) return false;
    if (next_of_named_fails()) return true;
    if (allocations_fail) return true;
    if (until_failure == 0) return false;
    if (until_failure > 1) {
        --until_failure;
        return false;
    }
    if (!failure_lasts) until_failure = 0;
    has_failed = true;
    return true;
}
}  // namespace

namespace holdfast::engine::test {
void fail_allocations(bool fail) noexcept {
    allocations_fail = fail;
}
void fail_allocation(long nth, bool lasting) noexcept {
    until_failure = nth;
    failure_lasts = lasting;
    has_failed = false;
}
bool allocation_failed() noexcept {
    return has_failed;
}
void fail_allocation_of(std::initializer_list<char const*> names, long nth, bool lasting) noexcept {
    by_name.on.store(false);
    auto name = names.begin();
    for (auto& each : by_name.names) each.store(name != names.end() ? *name++ : nullptr);
    by_name.nth.store(nth);
    by_name.lasting.store(lasting);
    by_name.allocations.store(0);
    by_name.met.store(false);
    by_name.on.store(true);
}
bool end_of_failing() noexcept {
    by_name.on.store(false);
    return by_name.met.load();
}
long allocations_of_named() noexcept {
    return by_name.allocations.load();
}
bool allocation_fails() noexcept {
    return next_fails();
}
WithMemory::WithMemory() noexcept {
    ++with_memory;
}
WithMemory::~WithMemory() {
    --with_memory;
}
}  // namespace holdfast::engine::test

// Not inlined: the compiler would see a free() of what it takes for another allocator's. The calls
// that do not throw are replaced as well: a sanitizer has its own, which our delete would not free.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    void* const memory = next_fails() ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    return next_fails() ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::nothrow_t const&) noexcept {
    std::free(memory);
}

// Pages of the journal, and what Asio keeps of all that is under way.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    using Allocate = void* (*)(std::size_t, std::size_t);
    static auto const real = reinterpret_cast<Allocate>(::dlsym(RTLD_NEXT, "aligned_alloc"));
    return next_fails() ? nullptr : real(alignment, bytes);
}
