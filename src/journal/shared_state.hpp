// SharedState: what the journal thread, the upkeep thread and the producers tell each other.
//
// Thread safety: any thread. Invariant: failed is final; no mode follows it.
#pragma once

#include <holdfast/journal/journal.hpp>

#include <atomic>
#include <cstdint>

namespace holdfast::journal {

struct SharedState {
    // seq_cst throughout: written once per group at most, and wait_durable() needs the total order.
    std::atomic<std::uint64_t> durable{0};
    std::atomic<Mode> mode{Mode::running};
    std::atomic<std::uint64_t> live_bytes_left{0};  // in the live segment
    std::atomic<std::uint64_t> live_segment{0};     // its number
    std::atomic<std::uint64_t> bytes{0};            // of segments and spares
    std::atomic<std::int64_t> sync_since{0};        // or change of segments; ms of the clock + 1
    std::atomic<std::uint64_t> slow_syncs{0};
    std::atomic<std::uint64_t> groups{0};
    std::atomic<bool> space_is_short{false};

    void fail() noexcept { mode.store(Mode::failed); }
    [[nodiscard]] bool failed() const noexcept { return mode.load() == Mode::failed; }
    void set_read_only(bool read_only) noexcept {
        Mode expected = read_only ? Mode::running : Mode::read_only;
        // Fails if the mode is right already, or failed: both must stay.
        mode.compare_exchange_strong(expected, read_only ? Mode::read_only : Mode::running);
    }
};

}  // namespace holdfast::journal
