// Lease: what a request has taken for as long as it is in flight.
//
// Purpose: whoever counts requests in flight gives a lease with the reply; the session gives it
//   back when the answer may leave, or when the connection ends before.
// Thread safety: a lease belongs to one thread at a time; a lessor is called from any.
// Invariants: given back exactly once. Cost: no allocation.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace holdfast::http {

class Lessor {
public:
    virtual void give_back(std::uint64_t key) noexcept = 0;

protected:
    ~Lessor() = default;
};

class [[nodiscard]] Lease {
public:
    using Keys = std::array<std::uint64_t, 2>;  // 0: none

    Lease() = default;
    Lease(Lessor& lessor, Keys const& keys) noexcept : lessor_(&lessor), keys_(keys) {}
    Lease(Lease&& other) noexcept
        : lessor_(std::exchange(other.lessor_, nullptr)), keys_(other.keys_) {}
    Lease& operator=(Lease&& other) noexcept {
        if (this == &other) return *this;
        end();
        lessor_ = std::exchange(other.lessor_, nullptr);
        keys_ = other.keys_;
        return *this;
    }
    ~Lease() { end(); }

    /// One more key of the same lessor, if there was one only.
    void add(std::uint64_t key) noexcept { keys_[1] = key; }
    [[nodiscard]] bool holds() const noexcept { return lessor_ != nullptr; }
    void end() noexcept {
        Lessor* const lessor = std::exchange(lessor_, nullptr);
        if (lessor == nullptr) return;
        for (std::uint64_t const key : keys_)
            if (key != 0) lessor->give_back(key);
    }

private:
    Lessor* lessor_{};
    Keys keys_{};
};

}  // namespace holdfast::http
