// A memory cgroup of a test's own: a child process whose kernel runs out of memory for it.
//
// Purpose: the end that the kernel's OOM killer makes, without a machine that runs out of memory.
//   The group lies within that of the test, so what holds for the test holds for it.
// Thread safety: one thread. Needs root and a memory controller (cgroup v1, or v2 where the test's
//   own group may have groups with limits in it).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/types.h>

namespace holdfast::test {

class MemoryGroup {
public:
    MemoryGroup();
    ~MemoryGroup();  // all that were taken in must be gone
    MemoryGroup(MemoryGroup const&) = delete;
    MemoryGroup& operator=(MemoryGroup const&) = delete;

    /// Why there can be none here; empty: there is one.
    [[nodiscard]] std::string const& why_not() const noexcept { return why_not_; }
    /// What it allocates from now on counts.
    void take_in(pid_t process) const;
    /// From now on so much more than it has.
    void allow_only(std::uint64_t more) const;
    /// Processes that were killed for want of memory.
    [[nodiscard]] long kills() const;

private:
    [[nodiscard]] bool make(std::filesystem::path const& parent);
    void write(char const* file, std::string const& text) const;
    [[nodiscard]] std::string read(char const* file) const;

    std::filesystem::path folder_;
    bool unified_{};  // cgroup v2
    std::string why_not_;
};

}  // namespace holdfast::test
