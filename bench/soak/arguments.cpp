#include "bench/soak/arguments.hpp"

#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace holdfast::soak {

Arguments parse(int count, char** words) {
    Arguments out;
    std::map<std::string, std::function<void(std::string const&)>> const options{
        {"--hours", [&](auto const& v) { out.length = Seconds{3'600 * std::stod(v)}; }},
        {"--orders", [&](auto const& v) { out.orders = std::stod(v); }},
        {"--rate", [&](auto const& v) { out.rate = std::stod(v); }},
        {"--restart-every", [&](auto const& v) { out.restart_every = Seconds{60 * std::stod(v)}; }},
        {"--power-cut-every",
         [&](auto const& v) { out.power_cut_every = Seconds{60 * std::stod(v)}; }},
        {"--warm-up", [&](auto const& v) { out.warm_up = Seconds{60 * std::stod(v)}; }},
        {"--event-every", [&](auto const& v) { out.event_every = Seconds{60 * std::stod(v)}; }},
        {"--sample-every", [&](auto const& v) { out.sample_every = Seconds{std::stod(v)}; }},
        {"--segment-bytes", [&](auto const& v) { out.segment_bytes = std::stoull(v); }},
        {"--disk-gib", [&](auto const& v) { out.disk_gib = std::stoull(v); }},
        {"--data", [&](auto const& v) { out.data = v; }},
        {"--holdfast", [&](auto const& v) { out.holdfast = std::filesystem::absolute(v); }},
        {"--seed", [&](auto const& v) { out.seed = std::stoull(v); }},
    };
    for (int i = 1; i < count; ++i) {
        std::string const word = words[i];
        auto const option = options.find(word);
        if (word == "--smoke") {
            out.be_small();
        } else if (word == "--no-times") {
            out.judges_times = false;
        } else if (option != options.end() && i + 1 < count) {
            option->second(words[++i]);
        } else {
            throw std::runtime_error("unknown or without a value: " + word);
        }
    }
    return out;
}

}  // namespace holdfast::soak
