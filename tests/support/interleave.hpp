// Interleave: runs small actors through their interleavings, one atomic access a step.
//
// Purpose: the product's lock-free source, instantiated on SteppedAtomics, runs as fibers of one
// thread; before every access the explorer may switch to another actor. All schedules with at most
// a given number of preemptions are tried, depth first, each from a fresh state.
// What it shows: sequentially consistent interleavings; not weaker memory orders.
// Thread safety: one explorer at a time, on one thread. Not under ASan or TSan, which know no
// fibers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <ucontext.h>
#include <vector>

namespace holdfast::test {

class Explorer {
public:
    explicit Explorer(int preemptions) : preemptions_(preemptions) {}

    /// Runs `actors` (made anew by `prepare`) under every schedule, `check` after each.
    /// `prepare` answers the actors of one run; `check` answers whether the run was right.
    /// False as soon as one was not. `schedules` counts them.
    bool explore(std::function<std::vector<std::function<void()>>()> const& prepare,
                 std::function<bool()> const& check) {
        do {
            run_once(prepare());
            ++schedules;
            if (!check()) return false;
        } while (next_schedule());
        return true;
    }

    /// Called before each access of an actor.
    static void step() {
        if (active_ != nullptr && active_->running_ >= 0) active_->yield();
    }

    std::uint64_t schedules{0};

private:
    struct Fiber {
        ucontext_t context{};
        std::unique_ptr<std::byte[]> stack;
        std::function<void()> body;
        bool done{false};
    };
    struct Decision {
        std::size_t chosen{0};
        std::size_t options{0};
    };
    static constexpr std::size_t stack_bytes = 64 * 1024;
    static constexpr std::size_t steps_max = 100'000;

    void run_once(std::vector<std::function<void()>> actors) {
        fibers_.clear();
        for (auto& actor : actors) {
            auto fiber = std::make_unique<Fiber>();
            fiber->stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
            fiber->body = std::move(actor);
            getcontext(&fiber->context);
            fiber->context.uc_stack.ss_sp = fiber->stack.get();
            fiber->context.uc_stack.ss_size = stack_bytes;
            fiber->context.uc_link = &home_;
            makecontext(&fiber->context, &Explorer::enter, 0);
            fibers_.push_back(std::move(fiber));
        }
        active_ = this;
        depth_ = 0;
        used_ = 0;
        last_ = -1;
        for (int next = choose(); next >= 0; next = choose()) {
            running_ = last_ = next;
            swapcontext(&home_, &fibers_[static_cast<std::size_t>(next)]->context);
            running_ = -1;
            if (depth_ > steps_max) throw std::runtime_error("an actor never ends");
        }
        active_ = nullptr;
    }

    static void enter() {
        Fiber& fiber = *active_->fibers_[static_cast<std::size_t>(active_->running_)];
        fiber.body();
        fiber.done = true;
    }
    void yield() { swapcontext(&fibers_[static_cast<std::size_t>(running_)]->context, &home_); }

    /// The actor of the next step: the one that ran, or another if the bound allows.
    int choose() {
        std::vector<int> options;
        bool const may_go_on = last_ >= 0 && !fibers_[static_cast<std::size_t>(last_)]->done;
        if (may_go_on) options.push_back(last_);
        for (int i = 0; i < static_cast<int>(fibers_.size()); ++i)
            if (i != last_ && !fibers_[static_cast<std::size_t>(i)]->done) options.push_back(i);
        if (options.empty()) return -1;
        if (may_go_on && used_ == preemptions_) options.resize(1);
        if (depth_ == decisions_.size()) decisions_.push_back({0, options.size()});
        std::size_t const chosen = decisions_[depth_++].chosen;
        if (may_go_on && chosen != 0) ++used_;
        return options[chosen];
    }

    bool next_schedule() {
        decisions_.resize(depth_);
        while (!decisions_.empty()) {
            if (++decisions_.back().chosen < decisions_.back().options) return true;
            decisions_.pop_back();
        }
        return false;
    }

    inline static Explorer* active_ = nullptr;
    int preemptions_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Decision> decisions_;
    std::size_t depth_{0};
    int used_{0};
    int last_{-1};
    int running_{-1};
    ucontext_t home_{};
};

/// The atomics policy whose every access is a step of the explorer.
struct SteppedAtomics {
    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr auto acquire = std::memory_order_acquire;
    static constexpr auto release = std::memory_order_release;
    static constexpr auto acq_rel = std::memory_order_acq_rel;

    template <class T>
    class Atomic {
    public:
        constexpr Atomic() = default;
        constexpr Atomic(T value) : value_(value) {}
        T load(std::memory_order) const { return Explorer::step(), value_; }
        void store(T value, std::memory_order) { Explorer::step(), value_ = value; }
        T exchange(T value, std::memory_order) {
            return change([value](T) { return value; });
        }
        T fetch_add(T by, std::memory_order) {
            return change([by](T old) { return static_cast<T>(old + by); });
        }
        T fetch_or(T bits, std::memory_order) {
            return change([bits](T old) { return static_cast<T>(old | bits); });
        }
        T fetch_and(T bits, std::memory_order) {
            return change([bits](T old) { return static_cast<T>(old & bits); });
        }
        bool compare_exchange_strong(T& expected, T wanted, std::memory_order, std::memory_order) {
            Explorer::step();
            if (value_ != expected) {
                expected = value_;
                return false;
            }
            value_ = wanted;
            return true;
        }
        bool compare_exchange_weak(T& expected, T wanted, std::memory_order a,
                                   std::memory_order b) {
            return compare_exchange_strong(expected, wanted, a, b);
        }

    private:
        template <class Change>
        T change(Change what) {
            Explorer::step();
            T const old = value_;
            value_ = what(old);
            return old;
        }
        T value_{};
    };
};

}  // namespace holdfast::test
