// AlignedBytes: zeroed memory on a page boundary, as direct reads and group writes want it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace holdfast::journal {

class AlignedBytes {
public:
    static constexpr std::size_t alignment = 4'096;
    /// `count` is rounded up to whole pages.
    explicit AlignedBytes(std::size_t count)
        : count_((count + alignment - 1) / alignment * alignment),
          bytes_(static_cast<std::byte*>(std::aligned_alloc(alignment, count_))) {
        if (!bytes_) throw std::bad_alloc();
        std::memset(bytes_.get(), 0, count_);
    }
    [[nodiscard]] std::span<std::byte> span() const noexcept { return {bytes_.get(), count_}; }

private:
    struct Free {
        void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
    };
    std::size_t count_;
    std::unique_ptr<std::byte, Free> bytes_;
};

}  // namespace holdfast::journal
