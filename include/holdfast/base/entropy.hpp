// Entropy: random bytes nobody can foresee; injected, so that a simulation can repeat a run.
//
// Thread safety: SystemEntropy: any thread. Cost: a system call.
#pragma once

#include <cstddef>
#include <span>

namespace holdfast {

class Entropy {
public:
    virtual ~Entropy() = default;
    /// Fills all of `bytes`. A system that gives no random bytes is not one to go on with.
    virtual void fill(std::span<std::byte> bytes) noexcept = 0;
};

class SystemEntropy final : public Entropy {
public:
    void fill(std::span<std::byte> bytes) noexcept override;
};

/// For everybody but a simulation.
[[nodiscard]] Entropy& system_entropy() noexcept;

}  // namespace holdfast
