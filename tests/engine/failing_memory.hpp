// Failing memory: operator new and aligned_alloc that fail where a test says so.
//
// Purpose: shows that nothing can fail where nothing may. The whole test program allocates through
//   them; they are malloc unless told otherwise.
// Thread safety: each thread has its own; the plan for threads by name is one, made by one thread.
#pragma once

#include <initializer_list>

namespace holdfast::engine::test {

/// From now on every operator new of this thread throws std::bad_alloc.
void fail_allocations(bool fail) noexcept;

/// The n-th operator new of this thread from now on throws (1 is the next one), and if `lasting`
/// all after it; 0: none.
void fail_allocation(long nth, bool lasting) noexcept;
/// One has failed since that was said.
[[nodiscard]] bool allocation_failed() noexcept;

/// The same of all threads together whose name begins with one of these (literals, eight at most).
/// With libraries of their own (failing_libraries.cpp) their allocations count as well.
void fail_allocation_of(std::initializer_list<char const*> names, long nth, bool lasting) noexcept;
/// None of theirs fails any more; whether one has.
bool end_of_failing() noexcept;
/// How many they have made since the plan.
[[nodiscard]] long allocations_of_named() noexcept;
/// Whether the next allocation fails, which counts as one. For allocators of libraries.
[[nodiscard]] bool allocation_fails() noexcept;

/// In failing_libraries.cpp: SQLite and OpenSSL ask allocation_fails().
[[nodiscard]] bool libraries_may_fail() noexcept;

/// While it lives this thread has memory again: for what stands in for the world in a test.
class WithMemory {
public:
    WithMemory() noexcept;
    ~WithMemory();
    WithMemory(WithMemory const&) = delete;
    WithMemory& operator=(WithMemory const&) = delete;
};

}  // namespace holdfast::engine::test
