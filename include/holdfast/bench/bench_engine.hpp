// Bench engine: measures the engine in this process, without a network and without a disk.
//
// Purpose: the driver behind `holdfast bench engine`. The journal it gives the engine only counts,
//   so the figures are the cost of the inventory and the verbs, not of durability.
// Thread safety: blocks its caller; two of its figures use two threads of their own.
// Invariants: in one run every figure and every baseline is measured; a wrong answer of the engine
//   ends the process, so that no figure is of work that was not done.
// Cost: about a minute; well under a second for `quick`, whose figures mean little.
#pragma once

namespace holdfast::bench {

struct EngineBenchOptions {
    bool json{};   // one object on one line; else a table
    bool quick{};  // a small event and one run: whether it works, not how fast
};

/// Prints the figures on standard output; the exit code.
[[nodiscard]] int bench_engine(EngineBenchOptions const& options);

}  // namespace holdfast::bench
