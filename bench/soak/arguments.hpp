// Arguments: what a soak is asked to do; bench/soak.cpp says what each means.
//
// Thread safety: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace holdfast::soak {

using Seconds = std::chrono::duration<double>;

struct Arguments {
    Seconds length{72 * 3'600.0};
    double rate{};
    double orders{10};  // a second; the store keeps each of them
    Seconds restart_every{3'600};
    Seconds power_cut_every{86'400};
    std::optional<Seconds> warm_up;
    Seconds event_every{900};
    Seconds sample_every{60};
    std::uint64_t segment_bytes{64U << 20U};
    std::uint64_t disk_gib{16};
    std::uint64_t seed{1};
    std::filesystem::path data{std::filesystem::temp_directory_path()};
    std::filesystem::path holdfast{HOLDFAST_EXECUTABLE};
    bool judges_times{true};
    bool smoke{};

    /// Ends when all has happened, or with its length.
    void be_small() {
        smoke = true;
        judges_times = false;
        length = Seconds{200};
        rate = 300;
        restart_every = Seconds{1};
        power_cut_every = Seconds{1};
        event_every = Seconds{0.5};
        sample_every = Seconds{0.25};
        segment_bytes = 131'072;
        disk_gib = 1;
    }
};

/// The exit code, if the soak is to end now: 0 after --help, 2 after what is no argument of it.
[[nodiscard]] std::optional<int> parse(Arguments& out, int count, char** words);

}  // namespace holdfast::soak
