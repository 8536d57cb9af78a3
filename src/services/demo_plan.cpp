#include <holdfast/services/plan_import.hpp>

namespace holdfast::services {

namespace embedded {
extern std::string_view const demo_plan_json;  // from demo_plan.json, at build time
}  // namespace embedded

std::string_view demo_plan() noexcept {
    return embedded::demo_plan_json;
}

std::map<std::string, std::int64_t> demo_prices() {
    return {{"vip", 12'000}, {"std", 4'500}, {"floor", 3'000}};
}

}  // namespace holdfast::services
