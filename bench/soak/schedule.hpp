// Schedule: what of a soak is due when, and how its server can end.
//
// Thread safety: values.
#pragma once

#include "bench/soak/arguments.hpp"
#include "loadgen/client.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace holdfast::soak {

/// When something is due, again and again.
class Every {
public:
    explicit Every(Seconds period) : period_(period) {}
    void begin(loadgen::Moment now) { next_ = now + length(); }
    [[nodiscard]] bool is_due(loadgen::Moment now) {
        if (period_.count() <= 0 || now < next_) return false;
        while (next_ <= now) next_ += length();
        return true;
    }
    [[nodiscard]] loadgen::Moment next(loadgen::Moment otherwise) const {
        return period_.count() <= 0 ? otherwise : std::min(next_, otherwise);
    }

private:
    [[nodiscard]] std::chrono::steady_clock::duration length() const {
        return std::chrono::duration_cast<std::chrono::steady_clock::duration>(period_);
    }
    Seconds period_;
    loadgen::Moment next_{};
};

enum class End : std::uint8_t { stop, kill, power_cut };
constexpr char const* name_of(End end) {
    return end == End::stop ? "stop" : end == End::kill ? "kill -9" : "power cut";
}

}  // namespace holdfast::soak
