// Failing memory: operator new that fails where a test says so.
//
// Purpose: shows that nothing can fail where nothing may. The whole test program allocates through
//   it; it is malloc unless told otherwise. Thread safety: each thread has its own.
#pragma once

namespace holdfast::engine::test {

/// From now on every operator new of this thread throws std::bad_alloc.
void fail_allocations(bool fail) noexcept;

}  // namespace holdfast::engine::test
