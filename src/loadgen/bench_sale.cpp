#include "loadgen/sale.hpp"

#include <holdfast/loadgen/bench_sale.hpp>

#include <cstdio>

namespace holdfast::loadgen {

int run_sale(SaleOptions const& options) {
    // Each client is a socket here and, with an own server, one there.
    if (!allow_open_files(options.clients + 256U)) {
        std::fprintf(stderr, "bench sale: the limit of open files is too low for %u clients\n",
                     options.clients);
        return 1;
    }
    Sale sale(options);
    auto const report = sale.run();
    auto const text = options.json ? json_report(report) : text_report(report);
    std::fputs(text.c_str(), stdout);
    return report.ok() ? 0 : 1;
}

}  // namespace holdfast::loadgen
