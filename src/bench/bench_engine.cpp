#include "bench/figures.hpp"

#include <holdfast/bench/bench_engine.hpp>

#include <cstdio>

namespace holdfast::bench {

int bench_engine(EngineBenchOptions const& options) {
    Size const size = options.quick ? Size::quick() : Size{};
    Figures figures;
    for (int run = 0; run < size.runs; ++run) {
        measure_engine(size, figures);
        measure_threads(size, figures);
        measure_baselines(size, figures);
        measure_memory(size, figures);
    }
    std::string const text = options.json ? figures.json(size) : figures.table(size);
    bool const told = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    return told ? 0 : 1;
}

}  // namespace holdfast::bench
