// HandlerMemory: room for one pending asynchronous operation, so that starting the next one
// allocates nothing.
#pragma once

#include <array>
#include <boost/asio/bind_allocator.hpp>
#include <cstddef>
#include <new>
#include <utility>

namespace holdfast::http {

class HandlerMemory {
public:
    HandlerMemory() = default;
    HandlerMemory(HandlerMemory const&) = delete;
    HandlerMemory& operator=(HandlerMemory const&) = delete;

    [[nodiscard]] void* take(std::size_t bytes) {
        if (used_ || bytes > room_.size()) return ::operator new(bytes);
        used_ = true;
        return room_.data();
    }
    void give(void* memory) noexcept {
        if (memory == room_.data()) {
            used_ = false;
        } else {
            ::operator delete(memory);
        }
    }

private:
    alignas(std::max_align_t) std::array<std::byte, 384> room_;
    bool used_{};
};

template <class T>
class HandlerAllocator {
public:
    using value_type = T;
    explicit HandlerAllocator(HandlerMemory& memory) noexcept : memory_(&memory) {}
    template <class U>
    explicit HandlerAllocator(HandlerAllocator<U> const& other) noexcept
        : memory_(other.memory()) {}

    [[nodiscard]] T* allocate(std::size_t count) {
        return static_cast<T*>(memory_->take(count * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t) noexcept { memory_->give(memory); }
    [[nodiscard]] HandlerMemory* memory() const noexcept { return memory_; }
    friend bool operator==(HandlerAllocator const&, HandlerAllocator const&) = default;

private:
    HandlerMemory* memory_;
};

/// The handler, with its operation kept in `memory`.
template <class Handler>
auto kept_in(HandlerMemory& memory, Handler handler) {
    return boost::asio::bind_allocator(HandlerAllocator<std::byte>{memory}, std::move(handler));
}

}  // namespace holdfast::http
