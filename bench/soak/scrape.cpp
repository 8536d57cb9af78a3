#include "bench/soak/scrape.hpp"

#include <cstdlib>

namespace holdfast::soak {

std::optional<std::int64_t> metric(std::string const& metrics, std::string const& name) {
    auto const at = metrics.find("\n" + name + " ");
    if (at == metrics.npos) return {};
    return std::strtoll(metrics.c_str() + at + name.size() + 2, nullptr, 10);
}

std::optional<Sample> read_sample(std::string const& metrics) {
    auto const resident = metric(metrics, "process_resident_memory_bytes");
    auto const cache = metric(metrics, "holdfast_store_memory_bytes");
    auto const descriptors = metric(metrics, "process_open_fds");
    auto const connections = metric(metrics, "holdfast_http_connections_open");
    auto const streams = metric(metrics, "holdfast_streams_open");
    auto const threads = metric(metrics, "process_threads");
    auto const journal = metric(metrics, "holdfast_journal_bytes");
    if (!resident || !cache || !descriptors || !connections || !streams || !threads || !journal)
        return {};
    Sample sample;
    sample.rss_kib = static_cast<std::uint64_t>(*resident) / 1'024;
    sample.cache_kib = static_cast<std::uint64_t>(*cache) / 1'024;
    sample.descriptors = *descriptors - *connections - *streams;
    sample.threads = *threads;
    sample.journal_bytes = static_cast<std::uint64_t>(*journal);
    return sample;
}

}  // namespace holdfast::soak
