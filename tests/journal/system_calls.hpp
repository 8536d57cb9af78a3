// System calls that end as a test says: what a sound machine does once in years.
//
// Purpose: signals in the middle of a read, short writes, file systems without direct reads. The
//   whole test program makes these calls through here; they are the kernel's unless told otherwise.
// Thread safety: a Scripted is its thread's own; the sleeps that end early are anybody's.
#pragma once

#include <cstdint>
#include <vector>

namespace holdfast::journal::test {

enum class Call : std::uint8_t {
    open,
    pread,
    pwrite,
    fdatasync,
    fsync,
    fstat,
    fcntl,
    readdir,
    aligned_alloc
};

/// While it lives this thread's next calls end so, one after the other; those of another kind than
/// the next one on the list are the kernel's.
class Scripted {
public:
    struct End {
        Call call{};
        int error{};    // 0: none
        long result{};  // without an error: 0, or a read or write of so much at most
    };
    explicit Scripted(std::vector<End> ends);
    ~Scripted();
    Scripted(Scripted const&) = delete;
    Scripted& operator=(Scripted const&) = delete;
    [[nodiscard]] bool all_came() const noexcept { return next_ == ends_.size(); }

    /// The end of this thread's next call; nullptr: the kernel's.
    [[nodiscard]] static End const* next(Call call) noexcept;

private:
    std::vector<End> ends_;
    std::size_t next_{};
};

/// The next `count` sleeps of any thread that waits by a futex end at once, for no reason.
void end_sleeps_early(int count) noexcept;
[[nodiscard]] int sleeps_to_end_early() noexcept;

}  // namespace holdfast::journal::test
