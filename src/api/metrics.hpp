// Metrics: what /metrics says, in the Prometheus text format 0.0.4.
//
// Purpose: numbers for the operator; admin listener only. Thread safety: worker threads (it reads
// /proc and counts places). Cost: one scan of the places of the events it names; bounded.
#pragma once

#include <holdfast/api/routes.hpp>

#include <string>

namespace holdfast::api {

void append_metrics(std::string& out, Context const& context, TimePoint now);

/// CPU, memory, descriptors and start time of this process, from /proc.
void append_process_metrics(std::string& out);

/// One family's two comment lines.
void append_family(std::string& out, std::string_view name, std::string_view type,
                   std::string_view help);
void append_sample(std::string& out, std::string_view name, std::uint64_t value);

}  // namespace holdfast::api
