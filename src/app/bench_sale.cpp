#include "app/commands.hpp"

#include <holdfast/services/plan_import.hpp>

namespace holdfast::app {

int bench_sale(BenchSaleCommand const& command) {
    loadgen::SaleOptions options = command.options;
    options.executable = std::filesystem::read_symlink("/proc/self/exe");
    options.demo_plan = services::demo_plan();
    return loadgen::run_sale(options);
}

}  // namespace holdfast::app
