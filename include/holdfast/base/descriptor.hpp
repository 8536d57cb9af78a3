// Descriptor: an open file descriptor, closed with the object.
//
// Thread safety: one thread at a time. Invariants: it owns what it was given; -1 is none, and who
// is moved from has none. What close() says is not asked: who must know that bytes are on disk
// syncs before.
#pragma once

#include <unistd.h>
#include <utility>

namespace holdfast {

class Descriptor {
public:
    explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        Descriptor taken(std::move(other));
        std::swap(fd_, taken.fd_);
        return *this;
    }
    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }

private:
    int fd_;
};

}  // namespace holdfast
