#include "engine/orphans.hpp"

#include <algorithm>
#include <bit>

namespace holdfast::engine {
namespace {

/// Alternatives lie within so many seats of what was asked for.
constexpr std::uint32_t reach = 64;

using Seats = std::vector<SeatIndex>;

[[nodiscard]] bool contains(std::span<SeatIndex const> ascending, std::uint32_t seat) {
    return std::ranges::binary_search(ascending, SeatIndex{seat});
}

/// The seat as the claimer finds it.
[[nodiscard]] PlaceState state_for(Sale const& sale, OrphanQuestion const& question,
                                   std::uint32_t seat, TimePoint now) {
    if (!question.given_back.empty() && contains(question.given_back, seat))
        return PlaceState::free;
    return sale.place(SeatIndex{seat}, now);
}

/// What a seat sees on one side of it.
enum class Beside : std::uint8_t { free, taken, row_end, edge };

/// The seats around a claim, as they would be after it.
class Surroundings {
public:
    Surroundings(Sale const& sale, OrphanQuestion const& question, TimePoint now)
        : sale_(sale), geometry_(sale.inventory().geometry), question_(question), now_(now) {}

    [[nodiscard]] PlaceState state(std::uint32_t seat) const {
        return state_for(sale_, question_, seat, now_);
    }
    /// Whether the seat to the right (1) or left (-1) of `seat` is one of its run's, if free.
    [[nodiscard]] Beside joins(std::uint32_t seat, int side) const {
        inventory::RowGeometry const& row = geometry_.rows()[geometry_.row_of(seat)];
        if (seat == (side < 0 ? row.first : row.first + row.count - 1)) return Beside::row_end;
        std::uint32_t const next = seat + static_cast<std::uint32_t>(side);
        bool const aisle = geometry_.aisle_before(side < 0 ? seat : next);
        bool const same = geometry_.category_of(seat) == geometry_.category_of(next);
        return aisle || !same ? Beside::edge : Beside::free;
    }
    [[nodiscard]] Beside beside(std::uint32_t seat, int side) const {
        Beside const link = joins(seat, side);
        if (link != Beside::free) return link;
        std::uint32_t const next = seat + static_cast<std::uint32_t>(side);
        if (contains(question_.places, next)) return Beside::taken;
        switch (state(next)) {
            case PlaceState::free:
                return Beside::free;
            case PlaceState::blocked:
                return Beside::edge;
            default:
                return Beside::taken;
        }
    }
    /// Whether the seat to that side was free before the claim and is one of the same run.
    [[nodiscard]] bool run_goes_on(std::uint32_t seat, int side) const {
        if (joins(seat, side) != Beside::free) return false;
        std::uint32_t const next = seat + static_cast<std::uint32_t>(side);
        // What the other lines choose counts as taken by somebody else.
        if (contains(question_.places, next)) return contains(question_.hand_picked, next);
        return state(next) == PlaceState::free;
    }

private:
    Sale const& sale_;
    inventory::Geometry const& geometry_;
    OrphanQuestion const& question_;
    TimePoint now_;
};

/// A run of seats that were free before the claim, or what of it lies within reach.
struct Run {
    std::uint32_t begin{}, end{};
    bool cut_left{}, cut_right{};  // it goes on beyond
};

class OrphanSearch {
public:
    OrphanSearch(Sale const& sale, OrphanQuestion const& question, TimePoint now)
        : sale_(sale),
          layout_(sale.spec().layout),
          geometry_(sale.inventory().geometry),
          question_(question),
          around_(sale, question, now) {}

    [[nodiscard]] Seats orphans() const {
        Seats found;
        for (SeatIndex const seat : question_.hand_picked) {
            if (seat.value() >= layout_.labelled_count()) break;  // places without neighbours
            if (around_.state(seat.value()) != PlaceState::free) return {};
            for (int const side : {-1, 1}) {
                if (around_.beside(seat.value(), side) != Beside::free) continue;
                std::uint32_t const gap = seat.value() + static_cast<std::uint32_t>(side);
                Beside const far = around_.beside(gap, side);
                bool const single = far == Beside::taken || far == Beside::row_end;
                bool const known = !found.empty() && found.back() == SeatIndex{gap};
                if (single && !known) found.emplace_back(gap);
            }
        }
        EventPolicy const& policy = sale_.spec().policy;
        std::erase_if(found, [&](SeatIndex gap) {
            if (policy.orphan_rule == OrphanRule::lenient && nothing_else_fits(gap.value()))
                return true;
            return in_endgame(layout_.section_of(gap), policy.orphan_endgame_pct);
        });
        return found;
    }

    [[nodiscard]] std::vector<Seats> alternatives(Seats const& orphans) const {
        std::vector<std::vector<Seats>> choices;  // for each run with orphans
        Seats rest(question_.hand_picked.begin(), question_.hand_picked.end());
        Run last;
        for (SeatIndex const gap : orphans) {
            if (gap.value() < last.end) continue;  // the same run
            last = run_around(gap.value(), reach + question_.hand_picked.size());
            Seats const asked = taken_from(last);
            choices.push_back(windows(last, asked));
            if (choices.back().empty()) return {};
            std::erase_if(rest,
                          [&](SeatIndex seat) { return std::ranges::binary_search(asked, seat); });
        }
        return combine(choices, rest);
    }

private:
    [[nodiscard]] Run run_around(std::uint32_t seat, std::size_t most) const {
        Run run{seat, seat + 1, false, false};
        while (seat - run.begin < most && around_.run_goes_on(run.begin, -1)) --run.begin;
        while (run.end - seat <= most && around_.run_goes_on(run.end - 1, 1)) ++run.end;
        run.cut_left = around_.run_goes_on(run.begin, -1);
        run.cut_right = around_.run_goes_on(run.end - 1, 1);
        return run;
    }

    [[nodiscard]] Seats taken_from(Run const& run) const {
        Seats taken;
        for (SeatIndex const seat : question_.hand_picked) {
            if (seat.value() >= run.begin && seat.value() < run.end) taken.push_back(seat);
        }
        return taken;
    }

    /// The run has just one seat more than are taken from it, so every choice leaves one.
    [[nodiscard]] bool nothing_else_fits(std::uint32_t gap) const {
        Run const run = run_around(gap, question_.hand_picked.size() + 1);
        if (run.cut_left || run.cut_right) return false;
        return run.end - run.begin == taken_from(run).size() + 1;
    }

    [[nodiscard]] bool in_endgame(SectionIndex index, std::uint32_t percent) const {
        Section const& section = layout_.sections()[index.value()];
        auto const& places = sale_.inventory().places;
        std::uint32_t const first = section.first.value();
        std::uint32_t const last = first + section.capacity - 1;
        std::uint64_t free = 0;
        for (std::uint32_t word = first / 64; word <= last / 64; ++word) {
            std::uint64_t bits = places.hint_word(word);
            if (word == first / 64) bits &= ~std::uint64_t{0} << (first % 64);
            if (word == last / 64) bits &= ~std::uint64_t{0} >> (63 - last % 64);
            free += static_cast<unsigned>(std::popcount(bits));
        }
        return free * 100 < std::uint64_t{percent} * section.capacity;
    }

    /// Whether `rest` seats of a run, the first of which is `seat`, may be left on that side.
    [[nodiscard]] bool may_stay(std::uint32_t rest, bool cut, std::uint32_t seat, int side) const {
        if (rest != 1 || cut) return true;
        return around_.beside(seat, side) == Beside::edge;
    }

    [[nodiscard]] std::uint32_t accessible_in(std::uint32_t begin, std::uint32_t end) const {
        std::uint32_t count = 0;
        for (std::uint32_t seat = begin; seat < end; ++seat)
            count += geometry_.accessible(seat) ? 1 : 0;
        return count;
    }

    /// The best neighbouring seats of the run that leave no orphan, as many as `asked`.
    [[nodiscard]] std::vector<Seats> windows(Run const& run, Seats const& asked) const {
        struct Window {
            std::uint64_t moved, distance;
            std::uint32_t first;
            auto operator<=>(Window const&) const = default;
        };
        std::uint32_t accessible = 0;
        for (SeatIndex const seat : asked) accessible += geometry_.accessible(seat.value()) ? 1 : 0;
        auto const size = static_cast<std::uint32_t>(asked.size());
        std::vector<Window> good;
        for (std::uint32_t first = run.begin; first + size <= run.end; ++first) {
            std::uint32_t const end = first + size;
            bool const fits = may_stay(first - run.begin, run.cut_left, run.begin, -1) &&
                              may_stay(run.end - end, run.cut_right, run.end - 1, 1) &&
                              !geometry_.joined(first) && !geometry_.joined(end) &&
                              accessible_in(first, end) == accessible;
            if (!fits) continue;
            Window window{0, 0, first};
            for (std::uint32_t i = 0; i < size; ++i) {
                std::uint32_t const wanted = asked[i].value();
                window.moved += std::max(wanted, first + i) - std::min(wanted, first + i);
                window.distance += geometry_.distance(first + i);
            }
            good.push_back(window);
        }
        std::ranges::sort(good);
        if (good.size() > limits::orphan_alternatives_max)
            good.resize(limits::orphan_alternatives_max);
        std::vector<Seats> result;
        for (Window const& window : good) {
            Seats& seats = result.emplace_back();
            for (std::uint32_t i = 0; i < size; ++i) seats.emplace_back(window.first + i);
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

    Sale const& sale_;
    Layout const& layout_;
    inventory::Geometry const& geometry_;
    OrphanQuestion const& question_;
    Surroundings around_;
};

}  // namespace

namespace {

/// Whether a free seat beside the end `edge` of a stretch of chosen ones may be left single; its
/// row goes on to that side until `row_end`.
bool may_leave_single(auto free, std::uint32_t edge, std::uint32_t row_end, int side) {
    if (edge == row_end) return false;
    std::uint32_t const step = static_cast<std::uint32_t>(side);
    std::uint32_t const beside = edge + step;
    if (!free(beside)) return false;
    return beside == row_end || !free(beside + step);
}

/// A quick look at the ends of each stretch of chosen seats in rows without aisles: true if none of
/// them can leave a single seat, so that the rule has nothing to say. False: look closely.
bool leave_nothing_single(Sale const& sale, OrphanQuestion const& question, TimePoint now) {
    auto const free = [&](std::uint32_t seat) {
        return state_for(sale, question, seat, now) == PlaceState::free;
    };
    std::span<SeatIndex const> const seats = question.places;
    inventory::Geometry const& geometry = sale.inventory().geometry;
    for (std::size_t i = 0; i < seats.size();) {
        std::uint32_t const first = seats[i].value();
        if (first >= geometry.labelled_count()) return true;  // ascending: no seat follows
        inventory::RowGeometry const& row = geometry.rows()[geometry.row_of(first)];
        if (!row.plain) return false;
        std::uint32_t const row_last = row.first + row.count - 1;
        std::uint32_t last = first;
        for (++i; i < seats.size() && seats[i].value() == last + 1 && last < row_last; ++i) ++last;
        if (may_leave_single(free, first, row.first, -1)) return false;
        if (may_leave_single(free, last, row_last, 1)) return false;
        // A stretch that ends one seat before the next one encloses it.
        if (i < seats.size() && seats[i].value() == last + 2) return false;
    }
    return true;
}

}  // namespace

std::optional<Refusal> find_orphans(Sale const& sale, OrphanQuestion const& question, TimePoint now,
                                    OrphanReport* report) {
    if (question.hand_picked.size() == question.places.size() &&
        leave_nothing_single(sale, question, now))
        return std::nullopt;
    OrphanSearch const search(sale, question, now);
    Seats orphans = search.orphans();
    if (orphans.empty()) return std::nullopt;
    Refusal refusal;
    refusal.code = RefusalCode::orphan_seat;
    refusal.seat = orphans.front();
    if (report != nullptr) {
        report->alternatives = search.alternatives(orphans);
        report->orphans = std::move(orphans);
    }
    return refusal;
}

}  // namespace holdfast::engine
