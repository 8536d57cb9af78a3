// MeasuredSale: an event on sale whose journal only counts.
//
// Purpose: what the cases of the benchmark claim from. Thread safety: that of the engine.
// Invariants: `require` ends the process: an answer that the case did not expect makes its figure
//   worthless.
#pragma once

#include <holdfast/engine/engine.hpp>
#include <holdfast/inventory/atomics.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::bench {

/// How large the event is and how often each figure is taken.
struct Size {
    std::uint32_t rows{500};
    std::uint32_t seats_a_row{100};
    int runs{7};
    int rounds{20};  // whole houses sold and freed for one value of a figure
    std::uint64_t refusals{20'000'000};
    std::uint32_t hot_claims{500'000};  // of each thread in the hot section

    [[nodiscard]] std::uint32_t seats() const noexcept { return rows * seats_a_row; }
    [[nodiscard]] static Size quick() noexcept { return {10, 100, 1, 1, 1'000, 1'000}; }
};

/// A journal that has room for everything and keeps nothing.
class CountingJournal final : public journal::Journal {
public:
    bool reserve(std::size_t) noexcept override { return true; }
    void give_back(std::size_t) noexcept override {}
    Lsn append(journal::RecordType, std::uint8_t, std::span<std::byte const>) noexcept override {
        return Lsn{lsn_.fetch_add(1, inventory::StdAtomics::relaxed) + 1};  // relaxed: a count
    }
    Lsn durable_lsn() const noexcept override { return appended_lsn(); }
    Lsn appended_lsn() const noexcept override {
        return Lsn{lsn_.load(inventory::StdAtomics::relaxed)};
    }
    journal::Mode mode() const noexcept override { return journal::Mode::running; }
    bool wait_durable(Lsn) noexcept override { return true; }
    bool keep_from(std::uint64_t) override { return true; }
    void close() noexcept override {}

private:
    alignas(64) inventory::StdAtomics::Atomic<std::uint64_t> lsn_{0};
};

void require(bool expected, char const* what);

/// One section of rows, no limits, the default rules. `max_per_order` decides on spare slots.
[[nodiscard]] std::shared_ptr<EventSpec const> make_venue(Size const& size,
                                                          std::uint32_t max_per_order);

class MeasuredSale {
public:
    explicit MeasuredSale(std::shared_ptr<EventSpec const> const& spec);

    engine::Engine& engine() noexcept { return engine_; }
    engine::LiveEvent* event() noexcept { return event_; }
    /// Nothing is held: every slot leaves the wheel, so that the next claims arm theirs again.
    void empty_wheel();

    static constexpr TimePoint now{Milliseconds{1'000'000}};

private:
    CountingJournal journal_;
    engine::Engine engine_{journal_, {}};
    engine::LiveEvent* event_;
};

/// A claim of two seats by name, to be used again and again by one thread.
class PairClaim {
public:
    explicit PairClaim(MeasuredSale& sale, std::optional<Milliseconds> ttl = {});
    /// The hold on seats `first` and the next one.
    [[nodiscard]] Result<engine::HoldView> claim(std::uint32_t first,
                                                 TimePoint now = MeasuredSale::now);

private:
    MeasuredSale& sale_;
    std::vector<engine::ClaimLine> lines_;
    engine::ClaimCommand command_;
    std::vector<SeatIndex> places_;
};

/// Adds up the time and the number of what is done in several pieces.
class Rate {
public:
    /// `work` answers how many it did.
    void measure(std::function<std::uint64_t()> const& work);
    [[nodiscard]] double per_second() const noexcept;

private:
    std::uint64_t done_{0};
    std::chrono::duration<double> spent_{};
};

}  // namespace holdfast::bench
