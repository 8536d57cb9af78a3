// LintLog: collects what is odd about a plan while it is read.
//
// Purpose: one place that keeps the lists bounded and the counts exact.
// Thread safety: one thread. Cost: one short string an item, at most 1,000 items a list.
#pragma once

#include <holdfast/services/plan_import.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace holdfast::services {

class LintLog {
public:
    void error(std::string_view code, std::string_view where, std::string_view detail);
    void warning(std::string_view code, std::string_view where, std::string_view detail);
    /// A key that the format does not know: one warning for each kind of object and key, at the
    /// first place it was met.
    void unknown_key(std::string_view kind, std::string_view key, std::string const& pointer);
    [[nodiscard]] bool knows_unknown(std::string_view kind, std::string_view key) const;

    [[nodiscard]] bool clean() const noexcept { return report_.error_count == 0; }
    [[nodiscard]] LintReport& report() noexcept { return report_; }

private:
    LintReport report_;
    std::set<std::string> unknown_;  // kind/key
};

}  // namespace holdfast::services
