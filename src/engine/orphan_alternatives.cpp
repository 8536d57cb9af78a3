#include "engine/orphan_alternatives.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::engine {
namespace {

/// Alternatives lie within so many seats of what was asked for.
constexpr std::uint32_t reach = 64;

using Seats = std::vector<SeatIndex>;
using Asked = std::span<SeatIndex const>;

/// A run of seats that were free before the claim, or what of it lies within reach.
struct Run {
    std::uint32_t begin{}, end{};
    bool cut_left{}, cut_right{};  // it goes on beyond, with a free seat that nobody asked for
};

/// As many neighbouring seats of a run as were asked for in it.
struct Window {
    std::uint64_t moved{};     // seats that its seats are away from those asked for
    std::uint64_t distance{};  // to the focal point
    std::uint32_t first{};
    auto operator<=>(Window const&) const = default;
};

/// All windows of a run, one after the other, from the one at its begin on.
class SlidingWindow {
public:
    SlidingWindow(inventory::Geometry const& geometry, std::uint32_t begin, Asked asked)
        : geometry_(geometry), asked_(asked) {
        window_.first = begin;
        for (std::uint32_t i = 0; i < size(); ++i) {
            std::uint32_t const wanted = asked[i].value();
            window_.moved += std::max(wanted, begin + i) - std::min(wanted, begin + i);
            window_.distance += geometry.distance(begin + i);
            accessible_ += geometry.accessible(begin + i) ? 1 : 0;
            accessible_asked_ += geometry.accessible(wanted) ? 1 : 0;
        }
        pass();
    }
    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(asked_.size());
    }
    [[nodiscard]] Window const& window() const noexcept { return window_; }
    [[nodiscard]] std::uint32_t end() const noexcept { return window_.first + size(); }
    [[nodiscard]] bool accessible_as_asked() const noexcept {
        return accessible_ == accessible_asked_;
    }
    /// One seat on; there must be one.
    void slide() {
        window_.distance += geometry_.distance(end());
        window_.distance -= geometry_.distance(window_.first);
        accessible_ += geometry_.accessible(end()) ? 1 : 0;
        accessible_ -= geometry_.accessible(window_.first) ? 1 : 0;
        // Away from those asked for up to here, towards the others.
        window_.moved += passed_;
        window_.moved -= size() - passed_;
        ++window_.first;
        pass();
    }

private:
    /// Counts the seats that are asked for at their place in the window, or left of it.
    void pass() {
        while (passed_ < size() && asked_[passed_].value() - passed_ <= window_.first) ++passed_;
    }

    inventory::Geometry const& geometry_;
    Asked asked_;
    Window window_;
    std::uint32_t accessible_{}, accessible_asked_{};
    std::uint32_t passed_{};
};

class Alternatives {
public:
    Alternatives(inventory::Geometry const& geometry, OrphanQuestion const& question,
                 Surroundings const& around)
        : geometry_(geometry), question_(question), around_(around) {}

    [[nodiscard]] std::vector<Seats> instead_of(Asked orphans) {
        std::vector<std::vector<Seats>> choices;  // for each run with orphans
        Seats rest;                               // chosen elsewhere, so they stay
        auto next = question_.hand_picked.begin();
        auto const last = question_.hand_picked.end();
        std::uint32_t done = 0;
        for (SeatIndex const gap : orphans) {
            if (gap.value() < done) continue;  // the same run
            auto const run = run_around(gap.value(), done);
            if (!run) return {};
            done = run->end;
            auto const first = std::lower_bound(next, last, SeatIndex{run->begin});
            auto const beyond = std::lower_bound(first, last, SeatIndex{run->end});
            rest.insert(rest.end(), next, first);
            next = beyond;
            choices.push_back(windows(*run, {first, beyond}));
            if (choices.back().empty()) return {};
        }
        rest.insert(rest.end(), next, last);
        return combine(choices, rest);
    }

private:
    /// Not below `floor`, where the run before it ends. Nothing: too far to walk.
    [[nodiscard]] std::optional<Run> run_around(std::uint32_t gap, std::uint32_t floor) {
        Run run{gap, gap + 1, false, false};
        run.cut_left = widen(run, -1, floor);
        run.cut_right = widen(run, 1, floor);
        if (walked_ > limits::orphan_walk_max) return std::nullopt;
        return run;
    }

    /// Takes the seats on one side into the run; whether it goes on beyond them.
    [[nodiscard]] bool widen(Run& run, int side, std::uint32_t floor) {
        std::uint32_t unasked = 0;
        for (;;) {
            std::uint32_t const edge = side < 0 ? run.begin : run.end - 1;
            if (!around_.run_goes_on(edge, side)) return false;
            if (side < 0 && edge == floor) return true;
            bool const picked = around_.is_picked(edge + static_cast<std::uint32_t>(side));
            if (!picked && unasked == reach) return true;
            if (++walked_ > limits::orphan_walk_max) return true;
            unasked = picked ? 0 : unasked + 1;
            if (side < 0)
                --run.begin;
            else
                ++run.end;
        }
    }

    /// Whether `rest` seats of a run, the outermost of which is `seat`, may be left on that side.
    /// Beyond a cut there is a free seat that must not be left single either.
    [[nodiscard]] bool may_stay(std::uint32_t rest, bool cut, std::uint32_t seat, int side) const {
        if (cut) return rest > 0;
        return rest != 1 || around_.beside(seat, side) == Beside::edge;
    }

    /// The best neighbouring seats of the run that leave no orphan, as many as `asked`.
    [[nodiscard]] std::vector<Seats> windows(Run const& run, Asked asked) const {
        std::vector<Window> good;
        SlidingWindow sliding(geometry_, run.begin, asked);
        for (;; sliding.slide()) {
            std::uint32_t const first = sliding.window().first;
            std::uint32_t const end = sliding.end();
            bool const fits = sliding.accessible_as_asked() && !geometry_.joined(first) &&
                              !geometry_.joined(end) &&
                              may_stay(first - run.begin, run.cut_left, run.begin, -1) &&
                              may_stay(run.end - end, run.cut_right, run.end - 1, 1);
            if (fits) good.push_back(sliding.window());
            if (end == run.end) break;
        }
        auto const kept = std::min(good.size(), limits::orphan_alternatives_max);
        std::ranges::partial_sort(good, good.begin() + static_cast<std::ptrdiff_t>(kept));
        std::vector<Seats> result;
        for (std::size_t k = 0; k < kept; ++k) {
            Seats& seats = result.emplace_back();
            for (std::uint32_t i = 0; i < sliding.size(); ++i)
                seats.emplace_back(good[k].first + i);
        }
        return result;
    }

    /// The k-th alternative takes the k-th choice of every run, or its last one.
    [[nodiscard]] static std::vector<Seats> combine(std::vector<std::vector<Seats>> const& choices,
                                                    Seats const& rest) {
        std::size_t most = 0;
        for (auto const& of_run : choices) most = std::max(most, of_run.size());
        std::vector<Seats> result;
        for (std::size_t k = 0; k < most; ++k) {
            Seats seats = rest;
            for (auto const& of_run : choices) {
                Seats const& chosen = of_run[std::min(k, of_run.size() - 1)];
                seats.insert(seats.end(), chosen.begin(), chosen.end());
            }
            std::ranges::sort(seats);
            result.push_back(std::move(seats));
        }
        return result;
    }

    inventory::Geometry const& geometry_;
    OrphanQuestion const& question_;
    Surroundings const& around_;
    std::size_t walked_{};  // seats, over all runs
};

}  // namespace

std::vector<Seats> orphan_alternatives(inventory::Geometry const& geometry,
                                       OrphanQuestion const& question, Surroundings const& around,
                                       std::span<SeatIndex const> orphans) {
    return Alternatives(geometry, question, around).instead_of(orphans);
}

}  // namespace holdfast::engine
