#include "bench/figures.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

namespace holdfast::bench {
namespace {

struct Kind {
    char const* key;
    char const* unit;
    double asked;  // 0: nothing is asked
    bool at_most;  // asked is an upper bound
    bool whole;    // printed without a fraction
    char const* text;
};

constexpr Kind rate(char const* key, double asked, char const* text) {
    return {key, "1/s", asked, false, true, text};
}

constexpr std::array<Kind, static_cast<std::size_t>(Figure::count)> kinds{{
    rate("claims_two_seats", 10e6, "explicit claims of two seats"),
    rate("releases", 15e6, "releases of two seats"),
    rate("best_available_two", 3e6, "best-available claims of two seats, until sold out"),
    rate("sold_out_refusals", 300e6, "cached sold-out refusals"),
    rate("expired_holds", 10e6, "holds of two seats ended by the wheel"),
    rate("hot_section_one_thread", 0, "claim and release in a section of 1,000, one thread"),
    rate("hot_section_two_threads", 0, "the same by two threads together"),
    {"two_threads_to_one", "ratio", 0.9, false, false, "two threads to one, same section"},
    {"bytes_per_seat", "bytes", 96, true, false, "memory a seat, its hold slot included"},
    {"bytes_per_hold_slot", "bytes", 0, true, false, "memory of one more hold slot"},
    {"bytes_per_seat_of_plan", "bytes", 0, true, false, "memory a seat of names and prices"},
    rate("baseline_mutex_map_claims", 0, "baseline: hash map under a mutex"),
    rate("floor_two_cas_claims", 0, "floor: two CAS, one a seat"),
    rate("floor_same_cas_claims", 0, "floor: as many CAS as a claim makes, same memory"),
    {"floor_to_claims", "ratio", 3, true, false, "that floor to the claims"},
}};

constexpr bool release_build =
#ifdef NDEBUG
    true;
#else
    false;
#endif

std::string number(Kind const& kind, double value) {
    return kind.whole ? fmt::format("{:.0f}", value) : fmt::format("{:.3f}", value);
}

std::string compiler() {
#ifdef __clang__
    return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

Figures::Summary Figures::summary(std::size_t figure) const {
    std::vector<double> sorted = values_[figure];
    std::ranges::sort(sorted);
    return {sorted[sorted.size() / 2], sorted.front(), sorted.back()};
}

std::string Figures::json(Size const& size) const {
    std::string out = fmt::format(
        R"({{"bench":"engine","version":"{}","compiler":"{}","release_build":{},"cores":{},)"
        R"("seats":{},"runs":{},"cas_per_claim":{},"figures":{{)",
        HOLDFAST_VERSION, compiler(), release_build, std::thread::hardware_concurrency(),
        size.seats(), size.runs, exchanges_a_claim);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (values_[i].empty()) continue;
        Kind const& kind = kinds[i];
        Summary const all = summary(i);
        out +=
            fmt::format(R"("{}":{{"unit":"{}","median":{},"min":{},"max":{})", kind.key, kind.unit,
                        number(kind, all.median), number(kind, all.min), number(kind, all.max));
        if (kind.asked > 0)
            out +=
                fmt::format(R"(,"{}":{:.10g})", kind.at_most ? "at_most" : "at_least", kind.asked);
        out += "},";
    }
    out.pop_back();
    return out + fmt::format("}},\"checksum\":{}}}\n", checksum);
}

std::string Figures::table(Size const& size) const {
    std::string out = fmt::format(
        "holdfast {} engine, one thread, no disk: {} seats, {} run{}, {}{}, {} cores\n",
        HOLDFAST_VERSION, size.seats(), size.runs, size.runs == 1 ? "" : "s", compiler(),
        size.runs > 1 && release_build ? ""
                                       : " (no release build, or --quick: the figures mean little)",
        std::thread::hardware_concurrency());
    out += fmt::format("{:<54}{:>14}{:>14}{:>14}  asked\n", "", "median", "min", "max");
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (values_[i].empty()) continue;
        Kind const& kind = kinds[i];
        Summary const all = summary(i);
        out += fmt::format("{:<54}{:>14}{:>14}{:>14}", kind.text, number(kind, all.median),
                           number(kind, all.min), number(kind, all.max));
        if (kind.asked > 0)
            out += fmt::format("  {} {:.10g}", kind.at_most ? "<=" : ">=", kind.asked);
        out += '\n';
    }
    return out + fmt::format("a claim makes {} atomic read-modify-writes; checksum {}\n",
                             exchanges_a_claim, checksum);
}

}  // namespace holdfast::bench
