#include "tests/engine/failing_memory.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local bool allocations_fail = false;
thread_local long until_failure = 0;  // 0: never
thread_local bool failure_lasts = false;
thread_local bool has_failed = false;
thread_local int with_memory = 0;

bool next_fails() noexcept {
    if (with_memory > 0) return false;
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
