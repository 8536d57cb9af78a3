#!/usr/bin/env python3
"""How long this machine keeps its cores from a program that does nothing but look at the clock.

    bench/stalls.py [SECONDS]

One process a core, all at once, on a machine where nothing else runs. A look that comes more than
1 ms after the one before it was held up: by the kernel, by another program, or by whoever shares
the processor with a virtual machine, which the kernel need not know as steal. One JSON line.
"""
import json
import multiprocessing
import os
import sys
import time

STALL_NS = 1_000_000


def watch(core, seconds):
    os.sched_setaffinity(0, {core})
    stalls = []
    before = time.perf_counter_ns()
    end = before + int(seconds * 1e9)
    while before < end:
        now = time.perf_counter_ns()
        if now - before > STALL_NS:
            stalls.append(now - before)
        before = now
    return stalls


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    cores = sorted(os.sched_getaffinity(0))
    with multiprocessing.Pool(len(cores)) as pool:
        of_cores = pool.starmap(watch, [(core, seconds) for core in cores], chunksize=1)
    stalls = [stall for of_core in of_cores for stall in of_core]
    core_seconds = seconds * len(cores)
    print(json.dumps({
        "stalls_per_core_s": round(len(stalls) / core_seconds, 1),
        "stalled_percent": round(sum(stalls) / core_seconds / 1e7, 2),
        "longest_stall_us": max(stalls, default=0) // 1000,
    }))


if __name__ == "__main__":
    main()
