// Interleave: runs small actors through their interleavings, one atomic access a step.
//
// Purpose: the product's lock-free source, instantiated on SteppedAtomics, runs as fibers of one
// thread; before every access the explorer may switch to another actor. All schedules with at most
// a given number of preemptions are tried, depth first, each from a fresh state. A watcher looks at
// the state between any two accesses.
// What it shows: sequentially consistent interleavings; not weaker memory orders (see relacy).
// Thread safety: one explorer at a time, on one thread. Not under ASan or TSan, which know no
// fibers.
// Cost: a fiber is switched only where a schedule switches, so a step is a few nanoseconds.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <ucontext.h>
#include <utility>
#include <vector>

namespace holdfast::test {

/// False under a sanitizer that knows no fibers.
[[nodiscard]] constexpr bool has_fibers() noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
}

/// HOLDFAST_MODEL_DEPTH=n allows n preemptions more in every exploration.
inline int deepened(int preemptions) {
    char const* const more = std::getenv("HOLDFAST_MODEL_DEPTH");
    return preemptions + (more != nullptr ? std::atoi(more) : 0);
}

class Explorer {
public:
    using Actors = std::vector<std::function<void()>>;

    explicit Explorer(int preemptions) : preemptions_(preemptions) {}

    /// Runs the actors that `prepare` makes anew under every schedule, `check` after each.
    /// True if nothing was found wrong: `check` answered true and nobody called fail().
    bool explore(std::function<Actors()> const& prepare, std::function<bool()> const& check,
                 std::function<void()> watch = {}) {
        watch_ = std::move(watch);
        do {
            run_once(prepare());
            ++schedules;
            if (failure.empty() && !check() && failure.empty()) failure = "the outcome is wrong";
            if (!failure.empty()) return false;
        } while (next_schedule());
        return true;
    }

    /// Called before each access of an actor.
    static void step() {
        if (active_ != nullptr) active_->before_access();
    }
    /// For a call that blocks: its actor goes on once `ready`, which reads without stepping, says
    /// so. If nobody can go on a wake-up was lost, which ends the exploration.
    static void wait_until(std::function<bool()> ready) {
        if (active_ != nullptr) active_->block(std::move(ready));
    }
    /// Anybody's finding, at any time: ends the exploration.
    void fail(std::string const& why) {
        if (failure.empty()) failure = why;
    }

    std::uint64_t schedules{0};
    std::string failure;

private:
    static constexpr std::size_t stack_bytes = 64 * 1024;
    static constexpr std::size_t actors_max = 4;
    /// A lock-free call ends alone in far fewer steps; more means that it waits for somebody.
    static constexpr std::size_t steps_alone_max = 4'000;
    static constexpr int home = -1;

    struct Fiber {
        ucontext_t context{};
        std::unique_ptr<std::byte[]> stack{
            std::make_unique_for_overwrite<std::byte[]>(stack_bytes)};
        std::function<void()> body;
        std::function<bool()> ready;  // of a call that blocks
        bool done{false};
    };
    struct Decision {
        int chosen;
        int options;
    };

    void run_once(Actors actors) {
        count_ = static_cast<int>(actors.size());
        for (std::size_t i = 0; i < actors.size(); ++i) {
            Fiber& fiber = fibers_.at(i);
            fiber.body = std::move(actors[i]);
            fiber.ready = {};
            fiber.done = false;
            getcontext(&fiber.context);
            fiber.context.uc_stack.ss_sp = fiber.stack.get();
            fiber.context.uc_stack.ss_size = stack_bytes;
            fiber.context.uc_link = &home_;
            makecontext(&fiber.context, &Explorer::enter, 0);
        }
        depth_ = 0;
        used_ = 0;
        running_ = home;
        int const first = choose();
        active_ = this;
        running_ = first;
        steps_alone_ = 0;
        swapcontext(&home_, &context_of(first));
        active_ = nullptr;
        running_ = home;
    }

    void before_access() {
        look();
        if (++steps_alone_ > steps_alone_max) fail("a call does not end although it runs alone");
        int const next = failure.empty() ? choose() : home;
        if (next == running_) return;
        ucontext_t& from = context_of(running_);
        running_ = next;
        steps_alone_ = 0;
        // After a failure the other actors are left where they are; the process is about to end.
        swapcontext(&from, next == home ? &home_ : &context_of(next));
    }

    void block(std::function<bool()> ready) {
        Fiber& fiber = fibers_[static_cast<std::size_t>(running_)];
        fiber.ready = std::move(ready);
        before_access();
        fiber.ready = {};
    }

    static void enter() {
        Explorer& explorer = *active_;
        Fiber& fiber = explorer.fibers_[static_cast<std::size_t>(explorer.running_)];
        fiber.body();
        fiber.done = true;
        explorer.look();
        int const next = explorer.failure.empty() ? explorer.choose() : home;
        if (next == home) return;  // to uc_link
        explorer.running_ = next;
        explorer.steps_alone_ = 0;
        setcontext(&explorer.context_of(next));
    }

    /// The watcher reads without stepping.
    void look() {
        if (!watch_) return;
        active_ = nullptr;
        watch_();
        active_ = this;
    }

    [[nodiscard]] ucontext_t& context_of(int fiber) {
        return fibers_[static_cast<std::size_t>(fiber)].context;
    }
    [[nodiscard]] bool can_go_on(int fiber) const {
        Fiber const& asked = fibers_[static_cast<std::size_t>(fiber)];
        return !asked.done && (!asked.ready || asked.ready());
    }
    [[nodiscard]] bool all_done() const {
        for (int i = 0; i < count_; ++i)
            if (!fibers_[static_cast<std::size_t>(i)].done) return false;
        return true;
    }

    /// The actor of the next step: the one that runs, or another if the bound allows.
    int choose() {
        std::array<int, actors_max> options{};
        int count = 0;
        bool const may_go_on = running_ != home && can_go_on(running_);
        if (may_go_on) options[static_cast<std::size_t>(count++)] = running_;
        if (!may_go_on || used_ < preemptions_) {
            for (int i = 0; i < count_; ++i)
                if (i != running_ && can_go_on(i)) options[static_cast<std::size_t>(count++)] = i;
        }
        if (count == 0 && !all_done()) fail("nobody can go on: a wake-up was lost");
        if (count == 0) return home;
        if (count == 1) return options[0];
        if (depth_ == decisions_.size()) decisions_.push_back({0, count});
        int const chosen = decisions_[depth_++].chosen;
        if (may_go_on && chosen != 0) ++used_;
        return options[static_cast<std::size_t>(chosen)];
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
    std::function<void()> watch_;
    std::array<Fiber, actors_max> fibers_;
    int count_{0};
    std::vector<Decision> decisions_;
    std::size_t depth_{0};
    std::size_t steps_alone_{0};
    int used_{0};
    int running_{home};
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
        T fetch_sub(T by, std::memory_order) {
            return change([by](T old) { return static_cast<T>(old - by); });
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
        /// For watchers: no step.
        T peek() const { return value_; }

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
