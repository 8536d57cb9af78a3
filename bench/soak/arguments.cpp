#include "bench/soak/arguments.hpp"

#include "bench/command_line.hpp"

namespace holdfast::soak {

std::optional<int> parse(Arguments& out, int count, char** words) {
    CLI::App app("The server under steady load for as long as you like.", "bench_soak");
    auto const option = [&app](char const* name, auto& value, char const* help) {
        app.add_option(name, value, help)->capture_default_str();
    };
    auto const span = [&app](char const* name, auto& value, double unit, char const* help) {
        app.add_option_function<double>(
            name, [&value, unit](double given) { value = Seconds{unit * given}; }, help);
    };
    app.add_flag_callback(
        "--smoke", [&out] { out.be_small(); },
        "Until there were a stop, a kill -9, a power cut and a deletion; no word on slopes and "
        "times");
    app.add_flag_callback(
        "--no-times", [&out] { out.judges_times = false; },
        "Times are told and not judged, on a machine that does other things as well");
    span("--hours", out.length, 3'600, "How long: 72 by default");
    option("--rate", out.rate, "Claims a second; 0: half of the peak that is measured first");
    option("--orders", out.orders, "A second");
    span("--restart-every", out.restart_every, 60, "Minutes: 60; a stop and a kill -9 in turn");
    span("--power-cut-every", out.power_cut_every, 60, "Minutes: 1440; 0: none");
    span("--warm-up", out.warm_up, 60, "Minutes: 240, or a quarter of a shorter soak");
    span("--event-every", out.event_every, 60, "Minutes: 15");
    span("--sample-every", out.sample_every, 1, "Seconds: 60");
    option("--segment-bytes", out.segment_bytes, "Of the journal");
    option("--disk-gib", out.disk_gib, "Of the image that power is cut from");
    app.add_option("--data", out.data, "Where the scratch folder is made")
        ->check(CLI::ExistingDirectory);
    app.add_option("--holdfast", out.holdfast, "The program")->check(CLI::ExistingFile);
    option("--seed", out.seed, "Of the load");
    auto const code = bench::ending_of_parse(app, count, words);
    if (!code) out.holdfast = std::filesystem::absolute(out.holdfast);
    return code;
}

}  // namespace holdfast::soak
