#include "tests/engine/failing_memory.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local bool allocations_fail = false;
}

namespace holdfast::engine::test {
void fail_allocations(bool fail) noexcept {
    allocations_fail = fail;
}
}  // namespace holdfast::engine::test

// Not inlined: the compiler would see a free() of what it takes for another allocator's. The calls
// that do not throw are replaced as well: a sanitizer has its own, which our delete would not free.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    void* const memory = allocations_fail ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    return allocations_fail ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
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
